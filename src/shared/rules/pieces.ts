/** Lines as pieces that fit a row and a letter, and back (OFFER-7). */

/** Cuts lines, each ended by a newline, into pieces of at most `size` characters. No character is torn: a lone half of
 * one would be lost in a row. */
export function* pieces(lines: Iterable<string>, size: number): Generator<string> {
  let rest = "";
  for (const line of lines) {
    rest += `${line}\n`;
    while (rest.length > size) {
      const at = isFirstHalf(rest.charCodeAt(size - 1)) ? size - 1 : size;
      yield rest.slice(0, at);
      rest = rest.slice(at);
    }
  }
  if (rest !== "") yield rest;
}

/** The lines again, each as soon as it is whole. */
export function* linesOf(cut: Iterable<string>): Generator<string> {
  let rest = "";
  for (const piece of cut) {
    const lines = (rest + piece).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  if (rest !== "") throw new Error("the last line is not whole");
}

function isFirstHalf(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
