/** Which ticket a pull request is for: its branch, then its title, then a closing keyword in its body (WORK-6, ITEM-4). */

/** Longest text that is looked through, in characters: a link stands near the beginning. */
const LONGEST = 65_536;
/** Keys that one place can name; more is a list, not a link. */
const MOST = 20;

/** A key at a word's edge, in any case. Whether there is such a ticket is asked of the board. */
const KEY = /(?<![\p{L}\p{N}])([A-Za-z][A-Za-z0-9]{1,9}-[1-9]\d{0,8})(?![\p{L}\p{N}])/gu;

/** GitHub's nine closing keywords, each with what it closes. */
const CLOSES =
  /(?<![\p{L}\p{N}])(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)(?::\s*|\s+)(?:https?:\/\/\S{0,200}\/)?([A-Za-z][A-Za-z0-9]{1,9}-[1-9]\d{0,8}|(?:[\w.-]+\/[\w.-]+)?#[1-9]\d{0,8})(?![\p{L}\p{N}])/giu;

/** A key in its one spelling: `bp-12` is `BP-12`; what is no such key is as its tracker writes it. */
export function ticketKey(key: string): string {
  return /^[A-Za-z][A-Za-z0-9]{1,9}-\d+$/.test(key) ? key.toUpperCase() : key;
}

/** Every key that a text names, in capitals, each once, in order. */
export function keysIn(text: string): string[] {
  const keys = new Set<string>();
  for (const match of text.slice(0, LONGEST).matchAll(KEY)) {
    keys.add((match[1] ?? "").toUpperCase());
    if (keys.size === MOST) break;
  }
  return [...keys];
}

/** What a body's closing keywords name. An issue's number is one of the same repository. */
export function closedBy(body: string, repo?: string): string[] {
  const keys = new Set<string>();
  for (const match of body.slice(0, LONGEST).matchAll(CLOSES)) {
    const named = match[1] ?? "";
    if (named.startsWith("#")) {
      if (repo) keys.add(`${repo}${named}`);
    } else keys.add(named.includes("#") ? named : named.toUpperCase());
    if (keys.size === MOST) break;
  }
  return [...keys];
}

/**
 * What a pull request may be for, the strongest first: the first that there is a ticket of is its ticket, so that
 * a word like UTF-8 links nothing. A bare mention in the body is no link.
 */
export function ticketCandidates(pr: {
  head?: string | undefined;
  title?: string | undefined;
  body?: string | undefined;
  repo?: string | undefined;
}): string[] {
  return [
    ...new Set([...keysIn(pr.head ?? ""), ...keysIn(pr.title ?? ""), ...closedBy(pr.body ?? "", pr.repo)]),
  ];
}

/** The candidate that is a ticket: the first match of the strongest kind (ITEM-4). */
export function linkedTicket(
  candidates: readonly string[],
  exists: (key: string) => boolean,
): string | undefined {
  return candidates.find((key) => exists(key));
}
