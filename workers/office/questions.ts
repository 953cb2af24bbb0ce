/** Questions that this person asked (ITEM-2): a row each, by an id that the same question always has. */
import { createHash } from "node:crypto";
import { foldQuestion } from "../../src/shared/rules/questions.ts";
import type { Db } from "../kit/db.ts";
import type { Desk } from "./desk.ts";

export interface AskRow {
  id: string;
  item: string | null;
  /** Whom the board put it to: a handle, or a human's name. */
  to_whom: string;
  to_kind: "person" | "human";
  text: string;
  state: "pending" | "answered" | "canceled";
  answer: string | null;
  by: string | null;
  asked_at: number;
  answered_at: number | null;
  /** Whether the agent was given the answer, or a later round's journal has it. */
  seen: number;
}

const CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/**
 * The question as it stands: the same asker, item, addressee and folded text have the same id (ITEM-2). So asking
 * again after anything was lost on the way changes nothing, here, at the board, or with whom it is put to. One that
 * was canceled is asked anew.
 */
export function questionOf(
  db: Db,
  handle: string,
  item: string | undefined,
  to: string,
  text: string,
): { id: string; row: AskRow | undefined } {
  for (let canceled = 0; ; canceled++) {
    const key = [handle, item ?? "", foldQuestion(to), foldQuestion(text), canceled].join("\n");
    const bytes = createHash("sha256").update(key).digest();
    const letters = Array.from(bytes.subarray(0, 25), (byte) => CROCKFORD[byte & 31]);
    const id = `qst_0${letters.join("")}`;
    const row = ask(db, id);
    if (row?.state !== "canceled") return { id, row };
  }
}

export function ask(db: Db, id: string): AskRow | undefined {
  return db.one<AskRow>("SELECT * FROM asks WHERE id = ?", id);
}

/** Whether an answer came that the agent of this item has not seen: a round that waits for it need not wait. */
export function hasUnseenAnswer(db: Db, item: string): boolean {
  return db.one("SELECT 1 FROM asks WHERE item = ? AND state = 'answered' AND seen = 0", item) !== undefined;
}

/** A round of the item was offered: its journal has every answer. */
export function answersSeen(db: Db, item: string): void {
  db.run("UPDATE asks SET seen = 1 WHERE item = ? AND state = 'answered' AND seen = 0", item);
}

/** The asker's item ended: what nobody has answered yet is asked no more (ITEM-2). */
export function cancelQuestions(desk: Desk, item: string): void {
  for (const { id, to_whom } of desk.db.all<AskRow>(
    "SELECT * FROM asks WHERE item = ? AND state = 'pending'",
    item,
  )) {
    desk.db.run("UPDATE asks SET state = 'canceled' WHERE id = ?", id);
    desk.toBoard("question_canceled", { ask: id, to: to_whom });
  }
}

/** Keeps what an own question item was answered with, so that a repeat is told from another answer (OFF-8). */
export function keepAnswer(desk: Desk, item: string, answer: string): void {
  desk.db.run("INSERT OR REPLACE INTO answered (item, answer) VALUES (?, ?)", item, answer);
}

/** What an own question item was answered with. */
export function answerTo(db: Db, item: string): string | undefined {
  return db.one<{ answer: string }>("SELECT answer FROM answered WHERE item = ?", item)?.answer;
}
