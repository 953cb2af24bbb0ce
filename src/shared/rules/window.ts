import { codePoints, firstCodePoints } from "./text.ts";

export { codePoints };

/** A line of a context as far as its budget goes: what was said, and what a voice note said. */
export interface Weighed {
  text?: string | undefined;
  transcript?: string | undefined;
}

/**
 * The lines of a context window (WIN-1, WIN-3, WIN-4): the newest that fit the budget, oldest first. Characters
 * are code points of `text` plus `transcript`; a line without words, such as a joining, costs only a line. The
 * first line that does not fit ends the window, also when an older one would; but the newest, when it alone is
 * longer than the whole budget, is cut to it with `…`. `truncated` says whether a further line was there. With no
 * lines or no characters allowed the window is empty. At most one line more than is given back is read.
 */
export function fitWindow<L extends Weighed>(
  newestFirst: Iterable<L>,
  budget: { lines: number; chars: number },
): { lines: L[]; truncated: boolean } {
  const lines: L[] = [];
  let left = budget.chars;
  for (const line of newestFirst) {
    if (budget.chars <= 0 || lines.length >= budget.lines)
      return { lines: lines.toReversed(), truncated: true };
    const fitting = lines.length === 0 ? cutLine(line, budget.chars) : line;
    left -= weight(fitting);
    if (left < 0) return { lines: lines.toReversed(), truncated: true };
    lines.push(fitting);
  }
  return { lines: lines.toReversed(), truncated: false };
}

/**
 * A line as it is, or cut to `chars` code points when it is longer, the `…` that stands at the cut counted (WIN-3).
 * The text goes before the transcript, which is left out when the cut is in the text.
 */
export function cutLine<L extends Weighed>(line: L, chars: number): L {
  if (weight(line) <= chars) return line;
  const text = line.text ?? "";
  const kept = Math.max(0, chars - 1);
  const inText = codePoints(text);
  if (inText > kept) return { ...line, text: `${firstCodePoints(text, kept)}…`, transcript: undefined };
  return { ...line, transcript: `${firstCodePoints(line.transcript ?? "", kept - inText)}…` };
}

function weight(line: Weighed): number {
  return codePoints(line.text ?? "") + codePoints(line.transcript ?? "");
}
