const CONTAINERS = /^(?:[ \t]*(?:>|(?:[-+*]|\d{1,9}[.)])(?=[ \t])))*[ \t]*/;
const FENCE = /^(?:(`{3,})[^`]*|(~{3,}).*)$/;
const CLOSING = /^(`+|~+)[ \t]*$/;
const HEADING = /^#{1,6}(?:[ \t]|$)/;
const DEFINITION =
  /^\[(?!\^)[^[\]]{1,999}\]:[ \t]*(?:<[^<>]*>|[^\s<()][^\s()]*)(?:[ \t]+(?:"[^"]*"|'[^']*'|\([^()]*\)))?[ \t]*$/;

/** An open fence: the run that opened it, and the containers a line must stand in to be within it. */
interface Fence {
  mark: string;
  quotes: number;
  indent: number;
}

/**
 * The words of a Markdown text that are said to people (ADDR-2): the text with its fenced code, code spans, link
 * targets and bare addresses each left out and a space or line break in their place. Link texts stay, so do
 * indented lines. A fence that is never closed reaches to the end of what it stands in, as on the page. Linear in
 * the text.
 */
export function proseOf(text: string): string {
  const out: string[] = [];
  let block: string[] = [];
  let fence: Fence | undefined;
  let blockQuotes = 0;
  const endBlock = () => {
    if (block.length > 0) out.push(inlineProse(block.join("\n")), "\n");
    block = [];
  };
  for (const line of text.split(/\r\n|\r|\n/)) {
    const inside = fence && within(fence, line);
    if (fence && inside !== undefined) {
      const closing = CLOSING.exec(inside)?.[1];
      if (closing?.startsWith(fence.mark)) fence = undefined;
      continue;
    }
    const prefix = CONTAINERS.exec(line)?.[0] ?? "";
    const content = line.slice(prefix.length);
    const quotes = prefix.split(">").length - 1;
    const startsItem = /[^\s>]/.test(prefix);
    // Code spans and links do not reach over the edge of a block. A line that is quoted less goes on with it.
    if (content === "" || startsItem || quotes > blockQuotes || HEADING.test(content)) endBlock();
    if (block.length === 0) blockQuotes = quotes;
    fence = fenceAt(content, quotes, startsItem ? prefix.length - (prefix.lastIndexOf(">") + 1) : 0);
    if (fence) endBlock();
    else if (content !== "" && (block.length > 0 || !DEFINITION.test(content))) block.push(content);
    if (HEADING.test(content)) endBlock();
  }
  endBlock();
  return out.join("");
}

function fenceAt(content: string, quotes: number, indent: number): Fence | undefined {
  const opening = FENCE.exec(content);
  const mark = opening?.[1] ?? opening?.[2];
  return mark ? { mark, quotes, indent } : undefined;
}

/** What a line holds within an open fence; `undefined` when the quote or list item around the fence has ended. */
function within(fence: Fence, line: string): string | undefined {
  let at = 0;
  for (let n = 0; n < fence.quotes; n++) {
    at = skipSpace(line, at);
    if (line[at] !== ">") return undefined;
    at += 1;
  }
  const start = skipSpace(line, at);
  if (start < line.length && start - at < fence.indent && !line.slice(at, start).includes("\t"))
    return undefined;
  return line.slice(start);
}

const NEXT = /[\\`[\]]|(?<![a-z0-9])(?:[a-z][a-z0-9+.-]{1,31}:\/\/|www\.)/gi;

// A bare address ends where white space, a bracket of an autolink, code or the punctuation of Han text begins.
const ADDRESS_END = "\\s<>`\\u3000-\\u303f\\uff01-\\uff0f\\uff1a-\\uff20\\uff3b-\\uff40\\uff5b-\\uff65";
const ADDRESS = new RegExp(`[^${ADDRESS_END}]*`, "y");
const ADDRESS_IN_LINK_TEXT = new RegExp(`[^${ADDRESS_END}\\]]*`, "y");

/** One block's words without code spans, link targets and bare addresses. */
function inlineProse(block: string): string {
  const closingOf = codeSpans(block);
  let out = "";
  let kept = 0;
  let open = 0;
  let at = 0;
  for (;;) {
    NEXT.lastIndex = at;
    const next = NEXT.exec(block);
    if (!next) return out + block.slice(kept);
    const from = next.index;
    at = NEXT.lastIndex;
    let leftOut: { from: number; to: number } | undefined;
    if (next[0] === "\\") at += 1;
    else if (next[0] === "[") open += 1;
    else if (next[0] === "`") {
      at = runEnd(block, from);
      const to = closingOf(from, at - from);
      if (to !== undefined) leftOut = { from, to };
    } else if (next[0] === "]") {
      const to = open > 0 && block[at] === "(" ? targetEnd(block, at + 1) : undefined;
      if (to !== undefined) leftOut = { from: at, to };
      open = Math.max(0, open - 1);
    } else {
      const rest = open > 0 ? ADDRESS_IN_LINK_TEXT : ADDRESS;
      rest.lastIndex = at;
      rest.test(block);
      leftOut = { from, to: rest.lastIndex };
    }
    if (!leftOut) continue;
    out += `${block.slice(kept, leftOut.from)} `;
    kept = leftOut.to;
    at = leftOut.to;
  }
}

/**
 * Finds where the code span that a run of backticks opens ends: after the next run of the same length. Asked from
 * left to right: the runs passed are dropped, so all the questions together walk each list once.
 */
function codeSpans(block: string): (from: number, length: number) => number | undefined {
  const runs = new Map<number, number[]>();
  for (const run of [...block.matchAll(/`+/g)].toReversed()) {
    const places = runs.get(run[0].length) ?? [];
    places.push(run.index);
    runs.set(run[0].length, places);
  }
  return (from, length) => {
    const places = runs.get(length) ?? [];
    let place = places.at(-1);
    while (place !== undefined && place < from + length) {
      places.pop();
      place = places.at(-1);
    }
    return place === undefined ? undefined : place + length;
  };
}

function runEnd(text: string, at: number): number {
  let end = at;
  while (text[end] === text[at]) end += 1;
  return end;
}

const MAX_PARENTHESES = 32;
const TITLE_ENDS: Readonly<Record<string, string>> = { '"': '"', "'": "'", "(": ")" };

/**
 * The place after the `)` of a link's target that begins at a place; `undefined` where no target stands. The
 * parentheses in it nest 32 deep at most, as in CommonMark: without a bound each of `](](](…` would be read to
 * the end of the text.
 */
function targetEnd(text: string, at: number): number | undefined {
  const start = skipSpace(text, at);
  const end = text[start] === "<" ? bracketedEnd(text, start) : plainEnd(text, start);
  if (end === undefined) return undefined;
  let close = skipSpace(text, end);
  const titleEnd = TITLE_ENDS[text[close] ?? ""];
  if (close > end && titleEnd !== undefined) {
    const after = titledEnd(text, close, titleEnd);
    if (after === undefined) return undefined;
    close = skipSpace(text, after);
  }
  return text[close] === ")" ? close + 1 : undefined;
}

/** The place after `<…>`. */
function bracketedEnd(text: string, at: number): number | undefined {
  for (let i = at + 1; i < text.length; i++) {
    if (text[i] === ">") return i + 1;
    if (text[i] === "<" || text[i] === "\n") return undefined;
    if (text[i] === "\\") i += 1;
  }
  return undefined;
}

/** The place of the white space or closing parenthesis after a target without brackets. */
function plainEnd(text: string, at: number): number | undefined {
  let depth = 0;
  let i = at;
  for (; i < text.length && !/\s/.test(text[i] ?? ""); i++) {
    if (text[i] === "\\") i += 1;
    else if (text[i] === "(") depth += 1;
    else if (text[i] === ")") depth -= 1;
    if (depth < 0) return i;
    if (depth > MAX_PARENTHESES) return undefined;
  }
  return depth > 0 ? undefined : i;
}

/** The place after a title that begins at a place; another opening mark in it makes it none. */
function titledEnd(text: string, at: number, closer: string): number | undefined {
  for (let i = at + 1; i < text.length; i++) {
    if (text[i] === closer) return i + 1;
    if (text[i] === text[at]) return undefined;
    if (text[i] === "\\") i += 1;
  }
  return undefined;
}

function skipSpace(text: string, at: number): number {
  let i = at;
  while (/\s/.test(text[i] ?? "")) i += 1;
  return i;
}
