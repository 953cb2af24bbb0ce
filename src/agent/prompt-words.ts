/** The small parts of an item's prompt: identifiers, links and lists that cannot begin a line of their own. */
import { named } from "../sdk/quote.ts";

/** A word of ours or of a machine as it is; what has another form stands in quotes, on one line. */
export function token(text: string): string {
  return /^[\p{L}\p{N}][\p{L}\p{N}._:/#@+-]{0,199}$/u.test(text) ? text : named(text);
}

/** A link, with its title in front. */
export function link({ url, title }: { url: string; title?: string | undefined }): string {
  return title === undefined ? address(url) : `${named(title)} ${address(url)}`;
}

/** An address behind a comma, if there is one. */
export function more(url: string | undefined): string {
  return url === undefined ? "" : `, ${address(url)}`;
}

/** An http address with nothing in it that ends a line or is not seen; anything else is quoted. */
function address(url: string): string {
  return /^https?:\/\/[\x21-\x7e]{1,2000}$/u.test(url) ? url : named(url);
}

export function list(facts: readonly (string | undefined | false)[]): string {
  return facts.filter((fact) => fact !== undefined && fact !== false && fact !== "").join(", ");
}

/** A heading of ours with what stands below it; nothing where there is nothing. */
export function section(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? "" : [title, ...lines].join("\n");
}
