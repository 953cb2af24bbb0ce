/** Telling who asked how an item ended (REPORT-1, REPORT-2). */
import { decideReport, endingOf as endingKind, hasPlace } from "../../../src/shared/rules/reports.ts";
import type { AgentPayload } from "../../../src/shared/wire/agent/index.ts";
import type { Desk } from "../desk.ts";
import { AgentRefused, type FrameOf } from "../handler.ts";
import { endingOf, grantEnding, placeOf, reportPosted as posted, whereTo } from "../reports.ts";
import { ownItem } from "./own.ts";

export function chatReport(
  desk: Desk,
  { workItemId, kind }: AgentPayload<"chat_report">,
  frame: FrameOf,
): AgentPayload<"chat_report_result"> {
  const row = ownItem(desk, workItemId);
  const place = placeOf(desk.db, row.id) ?? { links: [], threads: [] };
  const isPosted = kind === "ack" ? ackOnce(desk, row.id, frame.id) : granted(desk, row.id, kind, frame.id);
  if (!isPosted || !hasPlace(kind, { threads: place.threads.length, human: place.human ?? false }))
    return { post: false, links: place.links };
  return { post: true, ...whereTo(place, kind === "ack" ? "ack" : endingKind(kind)) };
}

/** That the agent is on it is said once an item. */
function ackOnce(desk: Desk, item: string, frame: string): boolean {
  const before = desk.db.one<{ frame: string }>("SELECT frame FROM acks WHERE item = ?", item);
  if (!before) desk.db.run("INSERT INTO acks (item, frame) VALUES (?, ?)", item, frame);
  return before === undefined || before.frame === frame;
}

function granted(
  desk: Desk,
  item: string,
  kind: Exclude<AgentPayload<"chat_report">["kind"], "ack">,
  frame: string,
): boolean {
  const ending = endingOf(desk.db, item);
  if (!ending) {
    const ended = desk.db.one(
      "SELECT 1 FROM rounds WHERE item = ? AND ended IS NOT NULL AND ended <> 'interrupted'",
      item,
    );
    if (!ended)
      throw new AgentRefused(
        "invalid",
        "The item has not ended. Hand it back first, then ask to report how it ended.",
      );
    return false;
  }
  // Once the office queued it, a frame that was granted before is granted no more.
  const decision = decideReport(
    { ...ending, frame: ending.report === null ? ending.frame : null },
    kind,
    frame,
  );
  if (decision === "grant") grantEnding(desk, ending.n, frame);
  return decision !== "no";
}

export function reportPosted(
  desk: Desk,
  { workItemId, id }: AgentPayload<"report_posted">,
): Record<string, never> {
  if (posted(desk, workItemId, id)) return {};
  ownItem(desk, workItemId);
  throw new AgentRefused(
    "not_found",
    "The item has no report of this id. Confirm the id that the report came with.",
  );
}
