/** Items that are a teammate's question: their end is the asker's answer, or that there is none (ITEM-2). */
import type { Desk } from "../desk.ts";
import { type ItemRow, questionOf } from "../store/items.ts";

/** The own item that a question is. */
export function questionItem(desk: Pick<Desk, "db">, question: string): ItemRow | undefined {
  return desk.db.one<ItemRow>(
    "SELECT * FROM items WHERE question IS NOT NULL AND json_extract(question, '$.id') = ?",
    question,
  );
}

/** A question's item ended with these words as its answer; without any nobody answers it. */
export function questionEnded(desk: Desk, row: ItemRow, answer: string | undefined, why: string): void {
  const question = questionOf(row);
  if (!question) return;
  // The board takes the first end of a question and no other.
  if (answer !== undefined && answer.trim() !== "")
    desk.toBoard("answered", { ask: question.id, from: question.from, answer, by: desk.handle });
  else desk.toBoard("question_canceled", { ask: question.id, to: desk.handle, why });
}
