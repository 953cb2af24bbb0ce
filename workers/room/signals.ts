/** ack, read, typing: what a client says and nothing keeps as an event (LOG-2, CONN-11). */
import type * as z from "zod";
import type { ack, read, typing } from "../../src/shared/wire/index.ts";
import type { Db } from "../kit/db.ts";
import { notFound } from "../kit/result.ts";
import { headSeq } from "./store/log.ts";
import { isIn } from "./store/spaces.ts";
import type { Caller } from "./types.ts";

/** Moves the cursor of the caller forward, never back and never beyond the head (CONN-4). */
export function takeAck(db: Db, caller: Caller, frame: z.infer<typeof ack>): void {
  const { id, cursor } = caller.participant;
  if (frame.seq <= cursor || frame.seq > headSeq(db)) return;
  db.run("UPDATE participants SET cursor = max(cursor, ?) WHERE id = ?", frame.seq, id);
}

/** Moves a read mark forward; answers the mark when it moved (SPACE-8). */
export function takeRead(db: Db, caller: Caller, frame: z.infer<typeof read>): number | undefined {
  const { id } = caller.participant;
  if (!isIn(db, frame.space_id, id)) notFound("space");
  const seq = Math.min(frame.seq, headSeq(db));
  const mark = readSeq(db, frame.space_id, id);
  if (mark !== undefined && seq <= mark) return undefined;
  db.run(
    "INSERT OR REPLACE INTO marks (space_id, participant_id, read_seq) VALUES (?, ?, ?)",
    frame.space_id,
    id,
    seq,
  );
  return seq;
}

export function readSeq(db: Db, spaceId: string, participantId: string): number | undefined {
  return db.one<{ read_seq: number }>(
    "SELECT read_seq FROM marks WHERE space_id = ? AND participant_id = ?",
    spaceId,
    participantId,
  )?.read_seq;
}

/** How often one participant's typing in a space is passed on (SPACE-8). */
export const TYPING_EVERY_MS = 3000;

/** Passes typing on at most once in three seconds; memory is enough for what nobody misses (CONN-11). */
export function openTyping() {
  const last = new Map<string, number>();
  /** When somebody last typed in a space, as far as memory goes (LEAD-2). */
  const lastIn = new Map<string, number>();
  return {
    at: (spaceId: string) => lastIn.get(spaceId),
    passes(db: Db, caller: Caller, frame: z.infer<typeof typing>, now: number): boolean {
      if (!isIn(db, frame.space_id, caller.participant.id)) notFound("space");
      const key = `${frame.space_id} ${caller.participant.id}`;
      if (now - (last.get(key) ?? 0) < TYPING_EVERY_MS) return false;
      if (last.size > 1000) {
        last.clear();
        lastIn.clear();
      }
      lastIn.set(frame.space_id, now);
      last.set(key, now);
      return true;
    },
  };
}
