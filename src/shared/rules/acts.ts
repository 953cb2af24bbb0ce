/** ACT-1: which changes of an act that was not sent yet give way to those of a newer one. */
import type { Op } from "../wire/agent/ops.ts";

const of = (...parts: string[]): string => parts.join("\n").toLowerCase();

/** What an op decides for good, so that a newer one of the same makes it needless; undefined: it stands for itself. */
function decides(op: Op): string | undefined {
  if (op.op === "move" || op.op === "assign") return of(op.op, op.ticket);
  return op.op === "set_field" ? of(op.op, op.ticket, op.field) : undefined;
}

/** The keys of ops that need not be made any more, now that `newer` was decided (ACT-1). */
export function givenWay(ops: readonly Op[], newer: readonly Op[]): string[] {
  const decided = new Set(newer.map(decides));
  decided.delete(undefined);
  return ops.filter((op) => decided.has(decides(op))).map(({ key }) => key);
}

/** How a line of a result begins whose change was not made, though nothing failed. */
export const SKIPPED = "skipped: ";
const GAVE_WAY = `${SKIPPED}a newer change of the same took its place`;

/** The lines of an agent's result, one for each op that was decided: those that gave way never reached it. */
export function fullResults(
  ops: readonly Op[],
  gone: readonly string[],
  results: readonly string[],
): string[] {
  if (gone.length === 0) return [...results];
  const lines = [...results];
  const full: string[] = [];
  for (const { key } of ops) {
    if (gone.includes(key)) full.push(GAVE_WAY);
    else {
      const line = lines.shift();
      // A change that failed, and what comes after it, has no line.
      if (line === undefined) break;
      full.push(line);
    }
  }
  return [...full, ...lines];
}
