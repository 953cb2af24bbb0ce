/**
 * What a wrapped program printed, as words for the room. It may be anything: colours, a progress bar, bytes of
 * an image, a key in an error message. What it answers is cleaned; what is shown in passing, steps and reasons
 * of a failure, is short and without what looks like a secret or somebody's folders.
 */
import { stripVTControlCharacters } from "node:util";
import { plain } from "../../sdk/quote.ts";

/** The most that a message's text may have (LIMIT-1), with room for a line of ours. */
const ANSWER_BYTES = 63 * 1024;
const STEP_CHARS = 200;

/** An answer as the room is to read it. */
export function answerWords(text: string): string {
  return plain(stripVTControlCharacters(text)).trim();
}

/** Whether output is text at all: a program that prints an image by mistake has no answer. */
export function isText(text: string): boolean {
  if (text.includes("\u0000")) return false;
  const broken = text.split("\uFFFD").length - 1;
  return broken * 10 <= text.length;
}

/** An answer that fits a message; what is too long is cut, and the whole of it goes along as a file. */
export function fitted(answer: string): { text: string; whole?: string } {
  const bytes = new TextEncoder().encode(answer);
  if (bytes.byteLength <= ANSWER_BYTES) return { text: answer };
  // A character cut in two at the end is left out.
  const text = new TextDecoder().decode(bytes.subarray(0, ANSWER_BYTES), { stream: true });
  return { text: `${text.trimEnd()}\n\n(cut: the whole answer is in answer.md)`, whole: answer };
}

/** One short line for a step or a reason: no control characters, secrets, or paths of this machine. */
export function shortLine(text: string, most: number = STEP_CHARS): string {
  // Work in proportion to what is shown, not to what was printed.
  const clean = plain(stripVTControlCharacters(text.slice(0, most * 20)));
  const line = withoutSecrets(clean).replace(/\s+/gu, " ").trim();
  return line.length <= most ? line : `${line.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/u, "")}…`;
}

/** Named secrets, keys by their usual beginnings, and any long run of letters and digits that is no word. */
const SECRETS: readonly [RegExp, string][] = [
  [/\b(authorization["']?\s*[:=]\s*["']?)\S+(?:\s+[^\s"']+)?/giu, "$1…"],
  [/\b((?:bearer|basic)\s+)\S{8,}/giu, "$1…"],
  [/((?:token|password|passwd|secret|api[-_]?key)["']?\s*[:=]\s*["']?)[^\s"']+/giu, "$1…"],
  [/(--?(?:token|password|passwd|secret|api[-_]?key)\s+)\S+/giu, "$1…"],
  [
    /\b(?:(?:sk|pk|rk|bp|gh[opsur]|github_pat|xox[abeprs]|glpat)[-_]|AKIA|AIza|eyJ)[-_A-Za-z0-9]{8,}\S*/gu,
    "…",
  ],
  [/(?<![\w/.-])(?=[\w+=-]*\d)(?=[\w+=-]*[A-Za-z])[\w+=-]{32,}/gu, "…"],
];

function withoutSecrets(text: string): string {
  const hidden = SECRETS.reduce((rest, [pattern, instead]) => rest.replace(pattern, instead), text);
  // Whose machine it is, and where on it, is nobody's business: the last part says what it is about.
  return hidden.replace(
    /(?<![\w:/.~])(?:~|\/(?:Users|home|root|private|tmp|var|mnt|opt))\/[^\s"'`]*/gu,
    (path) => lastPart(path),
  );
}

/** The last part of a path, of either kind. */
export function lastPart(path: string): string {
  return (
    path
      .replace(/[/\\]+$/u, "")
      .split(/[/\\]/u)
      .at(-1) || path
  );
}
