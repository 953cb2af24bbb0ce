/**
 * Text from elsewhere, made safe for a terminal, and the little layout that there is. Names, titles and
 * messages are other people's: left as they are they could move the cursor, rewrite what stands above, set
 * the window's title or pass for a line of ours.
 */
import { stripVTControlCharacters, styleText } from "node:util";
import { withoutUnseen } from "../shared/rules/text.ts";

/** Everything that ends a line somewhere. */
const BREAKS = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/g;
/** Text of several lines without anything that a terminal obeys. */
export function safeText(text: string): string {
  return withoutUnseen(stripVTControlCharacters(text).replace(BREAKS, "\n")).toWellFormed();
}

/** The same on one line: for names, titles and whatever stands within a line of ours. */
export function safeLine(text: string): string {
  return safeText(text)
    .replace(/[\n\t ]+/g, " ")
    .trim();
}

/** JSON for a pipe or a terminal: still the same value, with nothing in it that a terminal obeys. */
export function safeJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(
    /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Columns side by side; the last one runs free. Cells are made safe here. */
export function table(rows: readonly (readonly string[])[]): string {
  const safe = rows.map((row) => row.map(safeLine));
  const widths: number[] = [];
  for (const row of safe)
    for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, width(cell));
  return safe
    .map((row) => row.map((cell, i) => (i === row.length - 1 ? cell : pad(cell, widths[i] ?? 0))).join("  "))
    .map((line) => line.trimEnd())
    .join("\n");
}

function pad(text: string, to: number): string {
  return text + " ".repeat(Math.max(0, to - width(text)));
}

const segmenter = new Intl.Segmenter();
const WIDE = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{Extended_Pictographic}\uff01-\uff60]/u;

/** How many columns a text takes; near enough for a table. */
function width(text: string): number {
  let columns = 0;
  for (const { segment } of segmenter.segment(text)) columns += WIDE.test(segment) ? 2 : 1;
  return columns;
}

/** Styles are for terminals that want them: `NO_COLOR` and pipes get plain text. */
export function dim(text: string): string {
  return styleText("dim", text, { stream: process.stdout });
}

export function bold(text: string): string {
  return styleText("bold", text, { stream: process.stdout });
}

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** A word beside the answer: to stderr, so that a pipe gets the answer alone. */
export function note(text: string): void {
  process.stderr.write(`${text}\n`);
}

export function printJson(value: unknown): void {
  print(safeJson(value, 2));
}
