/**
 * Quoting of what people and agents wrote, so that it cannot pass for anything else. Every line of it
 * begins with a mark that is put there after every way to begin a line has been made one; names stand in
 * double quotes in which a double quote is escaped.
 */

import { withoutUnseen } from "../shared/rules/text.ts";

/** Begins every line that quotes the room. */
export const QUOTE = "> ";
/** Begins every line of somebody's own words within it. */
export const WORDS = "> | ";

/** Whatever some reader takes for the end of a line; a pair counts once. */
// oxlint-disable-next-line eslint/no-control-regex -- they are the point
const LINE_BREAK = /\r\n|[\n\r\v\f\u001C-\u001E\u0085\u2028\u2029]/gu;
/** Text whose only line break is `\n`, without what is unseen and without half characters. */
export function plain(text: string): string {
  return withoutUnseen(text.replace(LINE_BREAK, "\n")).toWellFormed();
}

/** Somebody's words, each line marked. Every text has at least one line. */
export function words(text: string): string[] {
  return plain(text)
    .split("\n")
    .map((line) => `${WORDS}${line}`.trimEnd());
}

/** A name on one line and in quotes that it cannot end. */
export function named(name: string): string {
  const oneLine = plain(name).replace(/\s+/gu, " ").trim();
  return JSON.stringify(/[\p{L}\p{N}\p{P}\p{S}]/u.test(oneLine) ? oneLine : "(no name)");
}

/** An identifier as it is, or nothing: what has another form is no identifier of ours. */
export function identifier(id: string): string {
  return /^[a-z]{2,3}_[0-9A-Z]{26}$/.test(id) ? id : "";
}

/** A media type as it is, or the one that says nothing. */
export function mediaType(type: string): string {
  return /^[\w.+-]{1,100}\/[\w.+-]{1,100}$/.test(type) ? type : "application/octet-stream";
}

/** An instant to the minute, in UTC. */
export function moment(at: string): string {
  const time = Date.parse(at);
  if (!Number.isFinite(time)) return "at an unknown time";
  return `${new Date(time).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
