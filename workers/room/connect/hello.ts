/** hello and welcome: who connects, from where it resumes, what it is told first (CONN-2 to CONN-4). */
import { type Hello, hello as helloSchema, type Welcome } from "../../../src/shared/wire/index.ts";
import type { Db } from "../../kit/db.ts";
import { refuse } from "../../kit/result.ts";
import { MAX_BUDGET, viewerOf } from "../deliver/viewer.ts";
import { harnessCame } from "../judge/watch.ts";
import { checked, FRAME_BYTES, isRecord } from "../parse.ts";
import { headSeq } from "../store/log.ts";
import { agentsOf, participant, workspaceOf } from "../store/participants.ts";
import { spacesOf } from "../store/spaces.ts";
import type { Caller, ParticipantRow } from "../types.ts";
import { declareAgents } from "../verbs/participants.ts";
import { writeAside } from "../write.ts";
import type { Ledger, Written } from "../writer.ts";

/** More than this behind, a client starts from the reads (CONN-4). */
const MAX_REPLAY = 10_000;
/** How often a client should ping, in seconds. */
const PING_S = 30;

export function parseHello(frame: unknown): Hello {
  if (!isRecord(frame) || frame.type !== "hello")
    refuse("malformed", "The first frame of a connection is hello. Send it before anything else.");
  return checked(helloSchema, { v: 1, ...frame });
}

export interface Greeting {
  welcome: Welcome;
  /** Where sending starts: after this seq. */
  cursor: number;
  written: Written;
  batch: boolean;
}

/** Takes a hello, over the socket or HTTP alike: stores what it says and works out where to resume. */
export function greet(ledger: Ledger, caller: Caller, hello: Hello): Greeting {
  const { db } = ledger;
  const { id, kind } = caller.participant;
  const head = headSeq(db);
  const stored = caller.participant.cursor;
  const written = writeAside(ledger, caller, (w) => {
    if (hello.agents) {
      declareAgents(w, hello.agents, false);
      // What a hello writes counts as any write does; one that says nothing new is free (LIMIT-2).
      const made = headSeq(db) - head;
      if (made > 0) ledger.limits.take(id, made, w.workspace.settings.limits, w.now);
    }
    if (kind !== "harness") return;
    harnessCame(w, id);
    if (hello.context)
      db.run(
        "UPDATE participants SET context_lines = ?, context_chars = ? WHERE id = ?",
        hello.context.lines,
        hello.context.chars,
        id,
      );
    if (hello.can) db.run("UPDATE participants SET can = ? WHERE id = ?", JSON.stringify(hello.can), id);
  });
  const wanted = hello.after_seq ?? stored;
  const reset = wanted > head || head - wanted > MAX_REPLAY;
  const now = headSeq(db);
  return {
    welcome: welcomeOf(db, caller, hello.id, reset ? "reset" : "replay"),
    cursor: reset ? now : wanted,
    written,
    batch: (hello.can ?? storedCan(caller.participant)).includes("batch"),
  };
}

function storedCan(who: ParticipantRow): string[] {
  return who.can === null ? [] : (JSON.parse(who.can) as string[]);
}

function welcomeOf(db: Db, caller: Caller, of: string, resume: "replay" | "reset"): Welcome {
  const who = participant(db, caller.participant.id) ?? caller.participant;
  const viewer = viewerOf(db, who, caller.tokenId, caller.origin);
  return {
    v: 1,
    type: "welcome",
    of,
    workspace_id: workspaceOf(db).id,
    participant: selfOf(who),
    ...(who.kind === "harness" && viewer.declared ? { agents: ownAgents(db, who.id) } : {}),
    spaces: spacesOf(db, who.id).map((s) => ({
      space_id: s.id,
      title: s.title,
      visibility: s.visibility,
      archived: s.archived !== 0,
      ...(s.direct === null ? {} : { direct: s.direct.split(" ") }),
    })),
    head_seq: headSeq(db),
    resume,
    limits: {
      frame_bytes: FRAME_BYTES,
      context_lines: Math.min(viewer.budget.lines, MAX_BUDGET.lines),
      context_chars: Math.min(viewer.budget.chars, MAX_BUDGET.chars),
    },
    ping_s: PING_S,
  };
}

export function selfOf(who: ParticipantRow) {
  return {
    participant_id: who.id,
    kind: who.kind,
    name: who.name,
    ...(who.role === null ? {} : { role: who.role }),
    ...(who.time_zone === null ? {} : { time_zone: who.time_zone }),
  };
}

export function ownAgents(db: Db, harnessId: string): { agent_id: string; name: string }[] {
  return agentsOf(db, harnessId)
    .filter((a) => !a.withdrawn && a.removed_at === null)
    .map((a) => ({ agent_id: a.id, name: a.name }));
}
