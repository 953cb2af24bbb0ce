/**
 * What a person's act and an agent's new work mean for a space (GUARD-1, SPEND-1): every verb that is one
 * calls here, so that no path forgets the guard, the job or what was held.
 */
import type { LogRow } from "../types.ts";
import type { Writer } from "../write.ts";

/** A person acted in a space: posting, deciding an ask, answering, raising the ceiling, agents.resume. */
export function personActed(_w: Writer, _spaceId: string, _row: LogRow): void {}

/** An agent made something new: a file new to the space, a question to a person, an approval request. */
export function madeWork(
  _w: Writer,
  _spaceId: string,
  _row: LogRow,
  _made: { made: "file" | "question" | "approval"; file?: string },
): void {}
