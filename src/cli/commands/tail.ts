/** `tail`: what is said, as it is said. */
import type { Command } from "commander";
import type * as z from "zod";
import type { BullpenHttp } from "../../sdk/http.ts";
import type { me, memberItem } from "../../shared/wire/http.ts";
import type { Context, ServerFrame } from "../../shared/wire/index.ts";
import { followPolling, followSocket } from "../follow.ts";
import { examples, wholeNumber } from "../help.ts";
import { Directory, Printer } from "../render.ts";
import { all, findSpace, type SpaceItem } from "../resolve.ts";
import { commandLine, globalsOf, sessionOf } from "../session.ts";
import { note, print, safeJson } from "../terminal.ts";

interface TailOptions {
  after?: number;
  last: number;
  follow: boolean;
}

/** Frames that say nothing of what happened in a room. */
const NOT_SHOWN = new Set(["receipt", "sync", "presence", "typing", "read", "office.changed"]);
/** Further back than this the server does not replay (CONN-4). */
const REPLAYED = 9_000;

export function addTail(program: Command): void {
  const tail = program
    .command("tail")
    .description("show what is said as it is said, until Ctrl-C; it reconnects and misses nothing")
    .argument("[space]", "its title or id (default: all of yours)")
    .option("--after <seq>", "begin after this seq, as the seq of an event in --json shows it", wholeNumber)
    .option("--last <n>", "without --after: how many earlier lines to begin with", wholeNumber, 10)
    .option("--no-follow", "end when everything up to now is shown")
    .addHelpText(
      "after",
      `
With --json each line is one frame of the wire: welcome, events, and caught_up once everything missed has
arrived. To go on later, give the last event's seq to --after.`,
    )
    .action(async (text: string | undefined, options: TailOptions, command: Command) => {
      const { json = false, ...globals } = globalsOf(command);
      const session = sessionOf(globals);
      const { http } = session;
      const { participant } = await http.get<z.infer<typeof me>>("/v1/me");
      const space = text === undefined ? undefined : await findSpace(http, text);
      const after = options.after ?? (await startOf(http, space, options.last));
      const onFrame = json ? printFrame : await printerFor(http, space, commandLine(globals));
      const stop = new AbortController();
      // For the rest of the process: npm and a terminal both pass Ctrl-C on, so that it may come twice.
      for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => stop.abort());
      const follow = participant.kind === "harness" ? followPolling : followSocket;
      await follow(session, {
        after,
        once: !options.follow,
        signal: stop.signal,
        onFrame(frame) {
          if (frame.type === "welcome" && frame.resume === "reset")
            note(`Not everything after ${after} can be replayed: see bullpen context. Going on from now.`);
          if (isShown(frame, space?.space_id)) onFrame(frame);
        },
        onState: (state) =>
          note(state === "lost" ? "Connection lost; trying again." : "Connected again; nothing was missed."),
      });
    });
  examples(tail, [
    "bullpen tail Lobby",
    "bullpen tail --json --after 120",
    "bullpen tail Lobby --no-follow --last 50",
    "bullpen tail Lobby --json | jq -r 'select(.type == \"message.posted\") | .text'",
  ]);
}

/** Of one space: its own events, and the frames of the connection. */
function isShown(frame: ServerFrame, spaceId: string | undefined): boolean {
  if (NOT_SHOWN.has(frame.type)) return false;
  return spaceId === undefined || !("ts" in frame) || frame.space_id === spaceId;
}

function printFrame(frame: ServerFrame): void {
  print(safeJson(frame));
}

/** The seq after which the last lines stand. */
async function startOf(http: BullpenHttp, space: SpaceItem | undefined, last: number): Promise<number> {
  const { head_seq } = await http.get<{ head_seq: number }>("/v1/events", { after: 0, limit: 1 });
  if (last === 0) return head_seq;
  if (!space) return Math.max(0, head_seq - last);
  const { context } = await http.get<{ context: Context }>(`/v1/spaces/${space.space_id}/context`, {
    lines: last,
  });
  const oldest = context.lines[0]?.seq ?? head_seq + 1;
  return Math.max(oldest - 1, head_seq - REPLAYED, 0);
}

async function printerFor(
  http: BullpenHttp,
  space: SpaceItem | undefined,
  command: (rest: string) => string,
): Promise<(frame: ServerFrame) => void> {
  const names = new Directory();
  const spaces = space ? [space] : await all<SpaceItem>(http, "/v1/spaces");
  for (const { space_id, title } of spaces) names.addSpace(space_id, title);
  names.addMembers(await all<{ participant_id: string; name: string }>(http, "/v1/participants"));
  // Handles belong to spaces: beside the words of several they could be another's.
  if (space)
    names.addMembers(await all<z.infer<typeof memberItem>>(http, `/v1/spaces/${space.space_id}/members`));
  const printer = new Printer(names, { withSpace: !space, print, command });
  return (frame) => printer.event(frame);
}
