/** Answers to what this person asked, as they come back (ITEM-2). */
import { firstBytes, firstCodePoints } from "../../src/shared/rules/text.ts";
import type { Desk } from "./desk.ts";
import type { OfficeLetters } from "./letters.ts";
import { noteOwn } from "./moments.ts";
import { ask } from "./questions.ts";
import { moveTo } from "./queue/states.ts";
import { change, item as itemRow } from "./store/items.ts";
import { addJournal } from "./store/parts.ts";

const LONGEST_LINE = 16_384;

/** The letter `answer`: a question was answered, or nobody will. */
export function takeAnswer(desk: Desk, { ask: id, answer, by }: OfficeLetters["answer"]): void {
  const row = ask(desk.db, id);
  if (!row) {
    // It came before the board's answer to the asking, which finds it here.
    desk.db.run(
      `INSERT INTO asks (id, item, to_whom, to_kind, text, state, answer, by, asked_at, answered_at)
       VALUES (?, NULL, ?, 'person', '', 'answered', ?, ?, ?, ?)`,
      id,
      by,
      answer,
      by,
      desk.now,
      desk.now,
    );
    return;
  }
  if (row.state !== "pending") return;
  desk.db.run(
    "UPDATE asks SET state = 'answered', answer = ?, by = ?, answered_at = ? WHERE id = ?",
    answer,
    by,
    desk.now,
    id,
  );
  const of = row.item === null ? undefined : itemRow(desk.db, row.item);
  const asked = firstCodePoints(row.text.replace(/\s+/gu, " "), 200);
  const text = firstBytes(`Answer to "${asked}": ${answer}`, LONGEST_LINE);
  if (!of || of.state === "done" || of.state === "canceled") return;
  const n = addJournal(desk.db, { item: of.id, round: of.round, at: desk.now, author: by, text });
  noteOwn(desk, of, "journal", `${of.id}/${n}`, text, by);
  if (of.state !== "waiting") return change(desk.db, of.id, {});
  moveTo(desk, of.id, "queued", {
    by,
    mover: "office",
    why: `${by} answered the question that it waited for`,
  });
}
