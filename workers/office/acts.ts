/**
 * Changes that the pipeline decided for this person's agent to make as itself (ACT-1): one act at a time, in order,
 * again until its result came.
 */
import { fullResults, givenWay } from "../../src/shared/rules/acts.ts";
import { resendAfter } from "../../src/shared/rules/reports.ts";
import { byteLength, firstCodePoints } from "../../src/shared/rules/text.ts";
import type { AgentPayload, Op } from "../../src/shared/wire/agent/index.ts";
import type { Db } from "../kit/db.ts";
import type { Desk } from "./desk.ts";
import type { OfficeLetters } from "./letters.ts";
import type { Part } from "./turns.ts";

interface ActRow {
  n: number;
  id: string;
  event: string;
  /** JSON: the ops as they were decided. */
  ops: string;
  /** JSON: the keys of those that gave way before they were sent. */
  gone: string;
  state: "open" | "done";
  sent: number;
  due_at: number | null;
  /** The frame that it was last sent in. */
  frame: string | null;
  /** The hash of its result. */
  outcome: string | null;
}

const ALARM = "acts";
const MOST_LINES = 1000;
const LONGEST_LINE = 500;
const LONGEST_ERROR = 4096;
const AROUND = 100;

/** An act for this person (letter `act`); the same id again is the same act. */
export function takeAct(desk: Desk, { id, eventId, ops }: OfficeLetters["act"]): void {
  const { db } = desk;
  if (db.one("SELECT 1 FROM acts WHERE id = ?", id)) return;
  for (const row of db.all<ActRow>("SELECT * FROM acts WHERE state = 'open' AND sent = 0 ORDER BY n")) {
    const decided = opsOf(row);
    const gone = [...new Set([...goneOf(row), ...givenWay(decided, ops)])];
    db.run("UPDATE acts SET gone = ? WHERE n = ?", JSON.stringify(gone), row.n);
    if (gone.length >= decided.length)
      settle(desk, { ...row, gone: JSON.stringify(gone) }, { ok: true, results: [] }, "");
  }
  db.run(
    "INSERT INTO acts (id, event, ops, state, due_at) VALUES (?, ?, ?, 'open', ?)",
    id,
    eventId,
    JSON.stringify(ops),
    desk.now,
  );
}

function opsOf(row: ActRow): Op[] {
  return JSON.parse(row.ops) as Op[];
}
function goneOf(row: ActRow): string[] {
  return JSON.parse(row.gone) as string[];
}
function toMake(row: ActRow): Op[] {
  const gone = goneOf(row);
  return opsOf(row).filter(({ key }) => !gone.includes(key));
}

type Outcome = Pick<AgentPayload<"act_result">, "ok" | "results" | "error">;

function settle(desk: Desk, row: ActRow, outcome: Outcome, hash: string): void {
  desk.db.run(
    "UPDATE acts SET state = 'done', outcome = ?, due_at = NULL, ops = '[]', gone = '[]' WHERE n = ?",
    hash,
    row.n,
  );
  const results = outcome.results.slice(0, MOST_LINES).map((line) => firstCodePoints(line, LONGEST_LINE));
  desk.toBoard("act_result", {
    handle: desk.handle,
    id: row.id,
    ok: outcome.ok,
    results: fullResults(opsOf(row), goneOf(row), results),
    ...(outcome.error === undefined ? {} : { error: firstCodePoints(outcome.error, LONGEST_ERROR) }),
  });
}

/**
 * What an agent's changes did (ACT-2). `unknown`: no such act was ever sent; `other`: it has another result.
 */
export function actResult(
  desk: Desk,
  result: AgentPayload<"act_result">,
  hash: string,
): "taken" | "repeated" | "unknown" | "other" {
  const row = desk.db.one<ActRow>("SELECT * FROM acts WHERE id = ?", result.id);
  if (!row || (row.state === "open" && row.sent === 0)) return "unknown";
  if (row.state === "done") return row.outcome === hash ? "repeated" : "other";
  settle(desk, row, result, hash);
  return "taken";
}

function open(db: Db, limit: number): ActRow[] {
  return db.all<ActRow>("SELECT * FROM acts WHERE state = 'open' ORDER BY n LIMIT ?", limit);
}

function sent(desk: Desk, row: ActRow, times: number, frame: string | null): void {
  const due = desk.now + resendAfter(times);
  desk.db.run("UPDATE acts SET sent = ?, due_at = ?, frame = ? WHERE n = ?", times, due, frame, row.n);
  desk.alarm(ALARM, due);
}

/** ACT-1, at the turns of a connection. */
export const ACTS: Part = {
  welcomed(desk, room) {
    const acts: { id: string; ops: Op[] }[] = [];
    let left = room - AROUND;
    for (const row of open(desk.db, 1000)) {
      const act = { id: row.id, ops: toMake(row) };
      left -= byteLength(JSON.stringify(act)) + 1;
      if (left < 0) break;
      acts.push(act);
      sent(desk, row, 1, null);
    }
    return acts.length === 0 ? {} : { acts };
  },
  /** An agent that answers an act with an error did not make it (OFF-4). */
  erred(desk, replyTo, { message }) {
    const row = desk.db.one<ActRow>("SELECT * FROM acts WHERE state = 'open' AND frame = ?", replyTo);
    if (!row) return false;
    settle(desk, row, { ok: false, results: [], error: message }, "");
    return true;
  },
  after(desk) {
    const [row] = desk.connection ? open(desk.db, 1) : [];
    if (!row || (row.sent > 0 && (row.due_at ?? 0) > desk.now)) return;
    sent(desk, row, row.sent + 1, desk.tell("act", { id: row.id, ops: toMake(row) }));
  },
};
