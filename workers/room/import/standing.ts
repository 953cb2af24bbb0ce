/** How the rooms stand after an import's log, worked out by the rules as a replay of it (LOG-6, GUARD, SPEND). */
import type { ExchangeState } from "../../../src/shared/rules/guard.ts";
import type { ReplayState } from "../../../src/shared/rules/replay-state.ts";
import { jobAt } from "../../../src/shared/rules/spend.ts";
import type { Db } from "../../kit/db.ts";
import { factAt, headSeq } from "../store/log.ts";
import { wordsOf } from "../store/messages.ts";
import type { FileRef, PostedBody } from "../types.ts";

/** Turns and asks that were going have so long before the room looks whether they are over. */
const RESPITE_MS = 60_000;

export function keepStanding(db: Db, { spaces, days }: ReplayState, told: ReadonlySet<string>): void {
  const upto = headSeq(db);
  for (const [id, space] of spaces) {
    const state = JSON.stringify({ state: withFiles(db, id, space.exchange), upto });
    db.run("INSERT INTO exchanges (space_id, state) VALUES (?, ?)", id, state);
    const { since_seq, spent_micros, uncounted } = jobAt(space.job, space.act);
    db.run(
      "INSERT INTO jobs (space_id, since_seq, spent_micros, uncounted, upto) VALUES (?, ?, ?, ?, ?)",
      id,
      since_seq,
      spent_micros,
      uncounted,
      upto,
    );
    if (space.pause)
      db.run(
        "INSERT INTO pauses (space_id, cause, lasting, told) VALUES (?, ?, ?, ?)",
        id,
        space.pause.cause,
        space.pause.lasting ? 1 : 0,
        told.has(id) ? 1 : 0,
      );
    for (const [agentId, messageId] of space.held)
      db.run("INSERT INTO held (space_id, agent_id, message_id) VALUES (?, ?, ?)", id, agentId, messageId);
  }
  for (const [day, micros] of days) db.run("INSERT INTO days (day, spent_micros) VALUES (?, ?)", day, micros);
}

/** Harnesses come back with new tokens: until then they are gone, as after any lost connection (TURN-5). */
export function leaveGoing(db: Db, wall: number): { name: string; at: number }[] {
  // Whatever the log holds was before they went: its answers they have (ENV-1).
  const last = db.one<{ at: number | null }>("SELECT max(at) AS at FROM log")?.at ?? 0;
  const now = Math.max(wall, last + 1);
  db.run(
    "UPDATE participants SET gone_at = ? WHERE id IN (SELECT harness_id FROM runs WHERE ended_seq IS NULL)",
    now,
  );
  return ["runs", "approvals"].map((name) => ({ name, at: now + RESPITE_MS }));
}

/** The files that the guard counted as new or as told again, which the log does not name (LOG-4). */
function withFiles(db: Db, spaceId: string, state: ExchangeState): ExchangeState {
  const { since, repeats } = state;
  const posted = since.made === "file" ? factAt(db, since.seq) : undefined;
  const made =
    posted && fileIn(db, spaceId, (JSON.parse(posted.body) as PostedBody).message_id, posted.seq, false);
  return {
    ...state,
    since: made === undefined ? since : { ...since, file: made },
    repeats: repeats.map((repeat) => {
      const words = repeat.kind === "file" ? wordsOf(db, repeat.message_id) : undefined;
      const file = words && fileIn(db, spaceId, words.id, words.seq, true);
      return file === undefined ? repeat : { ...repeat, file };
    }),
  };
}

/** A message's first file whose bytes the space had before, or had not. */
function fileIn(db: Db, spaceId: string, messageId: string, seq: number, had: boolean): string | undefined {
  const files = JSON.parse(wordsOf(db, messageId)?.files ?? "[]") as FileRef[];
  return files.find(({ attachment_id }) => {
    const earlier = db.one(
      `SELECT 1 FROM attachments own JOIN attachments a ON a.sha256 = own.sha256
       JOIN attachment_uses u ON u.attachment_id = a.id AND u.space_id = ?2
       JOIN messages m ON m.id = u.message_id AND m.edition = 1
       WHERE own.id = ?1 AND m.seq < ?3 LIMIT 1`,
      attachment_id,
      spaceId,
      seq,
    );
    return (earlier !== undefined) === had;
  })?.attachment_id;
}
