/**
 * Reads a YAML or JSON document of a stranger into plain values, with the line of each (TEAM-1). Everything is
 * counted before it is built: nesting and size first of all, since a parser can be felled by either.
 */
import {
  CST,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  parseDocument,
  type YAMLError,
} from "yaml";

/** What is wrong, and where: `people.0.handle`; an empty path means the whole document. */
export interface DocumentFault {
  path: string;
  line?: number;
  message: string;
}
export type DocumentFormat = "yaml" | "json";
export type DocumentPath = readonly (string | number)[];

export interface ReadDocument {
  value: unknown;
  /** The line that a path stands on, or the nearest that its parents do. */
  lineOf(path: DocumentPath): number | undefined;
}

/** Why a document cannot stand; what can be read of it all the same is there, so that it is looked at too. */
export interface FaultyDocument {
  faults: DocumentFault[];
  rest?: ReadDocument;
}

const MAX_BYTES = 256 * 1024;
const MAX_DEPTH = 32;
/** Signs of the document: no team needs more, and no parser is slow with as many. */
const MAX_TOKENS = 60_000;
/** Values once aliases are followed, and the characters in them. */
const MAX_VALUES = 50_000;
const MAX_CHARACTERS = 1024 * 1024;
const MAX_FAULTS = 200;

const DEEPER: ReadonlySet<string | null> = new Set(["seq-item-ind", "explicit-key-ind", "map-value-ind"]);

/** A fault at a path, with its line where one is known. */
export function faultAt(path: DocumentPath, message: string, line?: number): DocumentFault {
  return { path: path.join("."), ...(line === undefined ? {} : { line }), message };
}

/** At most so many faults; a last one says how many more there are. */
export function fewFaults(faults: DocumentFault[]): DocumentFault[] {
  if (faults.length <= MAX_FAULTS) return faults;
  const more = faults.length - MAX_FAULTS;
  return [...faults.slice(0, MAX_FAULTS), faultAt([], `has ${more} more faults: mend these first`)];
}

/** Why a document is not even parsed: its size, its nesting, or how much stands in it. */
function tooMuch(text: string): string | undefined {
  if (new TextEncoder().encode(text).byteLength > MAX_BYTES)
    return "is larger than 256 KiB: leave out what the team does not need";
  let tokens = 0;
  let flow = 0;
  let inLine = 0;
  let fresh = true;
  const indents: number[] = [];
  for (const token of new Lexer().lex(text)) {
    tokens += 1;
    if (tokens > MAX_TOKENS) return "has more entries than any team needs: leave some out";
    const type = CST.tokenType(token);
    if (type === "newline") {
      fresh = true;
      inLine = 0;
      continue;
    }
    if (fresh && flow === 0) {
      const indent = type === "space" ? token.length : 0;
      while (indents.length > 0 && indents.at(-1)! >= indent) indents.pop();
      indents.push(indent);
    }
    fresh = false;
    if (type === "flow-map-start" || type === "flow-seq-start") flow += 1;
    else if (type === "flow-map-end" || type === "flow-seq-end") flow = Math.max(0, flow - 1);
    else if (flow === 0 && DEEPER.has(type)) inLine += 1;
    if (flow + indents.length + inLine > MAX_DEPTH) return `is nested deeper than ${MAX_DEPTH} levels`;
  }
  return undefined;
}

/** What JSON itself says of a text that is none. */
function jsonFault(text: string): DocumentFault | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    const line = /\(line (\d+) column/.exec(said)?.[1];
    return faultAt([], `is not JSON: ${said}`, line === undefined ? undefined : Number(line));
  }
}

/** Reads a document; every fault of its form in one answer (TEAM-1). */
export function readDocument(text: string, format: DocumentFormat): ReadDocument | FaultyDocument {
  const refused = tooMuch(text);
  if (refused !== undefined) return { faults: [faultAt([], refused)] };
  const noJson = format === "json" ? jsonFault(text) : undefined;
  if (noJson) return { faults: [noJson] };

  const counter = new LineCounter();
  // Its own look for keys that come twice takes the square of their number; the walk below looks itself.
  const document = parseDocument(text, {
    lineCounter: counter,
    prettyErrors: false,
    uniqueKeys: false,
    logLevel: "error",
  });
  const faults = [...document.errors, ...document.warnings].map((error) =>
    faultAt([], `cannot be read: ${saidOf(error)}`, counter.linePos(error.pos[0]).line),
  );
  if (faults.length > 0) return { faults };
  return walk(document.contents, counter);
}

/** What the reader says of a fault, but for what it would have a program do. */
const saidOf = ({ code, message }: YAMLError): string =>
  code === "MULTIPLE_DOCS" ? "a second document begins here: send one" : message;

/** A key as a word: numbers and truths too, but no list, object or nothing. */
function nameOf(key: unknown): string | undefined {
  const value: unknown = isScalar(key) ? key.value : null;
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
}

function walk(contents: unknown, counter: LineCounter): ReadDocument | FaultyDocument {
  const faults: DocumentFault[] = [];
  const lines = new Map<string, number>();
  const anchors = new Map<string, unknown>();
  const open = new Set<unknown>();
  let values = 0;
  let characters = 0;
  let full = false;
  /** Whether every value is what the document says: then only keys are at fault. */
  let whole = true;

  const lineAt = (node: unknown): number | undefined => {
    const range = (node as { range?: [number, number, number] | null } | null)?.range;
    return range ? counter.linePos(range[0]).line : undefined;
  };
  const tell = (path: DocumentPath, message: string, line?: number) => {
    faults.push(faultAt(path, message, line));
  };

  const read = (node: unknown, path: DocumentPath, line: number | undefined): unknown => {
    if (full) return null;
    values += 1;
    if (isScalar(node) && typeof node.value === "string") characters += node.value.length;
    if (values > MAX_VALUES || characters > MAX_CHARACTERS || path.length > MAX_DEPTH) {
      full = true;
      whole = false;
      tell([], "grows too large with its aliases: write out less", line);
      return null;
    }
    if (line !== undefined) lines.set(path.join("\n"), line);
    if (isAlias(node)) {
      const target = anchors.get(node.source);
      if (target === undefined || open.has(target)) whole = false;
      if (target === undefined) tell(path, `there is no anchor &${node.source} before it`, line);
      else if (open.has(target)) tell(path, `*${node.source} stands inside itself`, line);
      else return read(target, path, line);
      return null;
    }
    const anchor = (node as { anchor?: string } | null)?.anchor;
    if (anchor !== undefined) anchors.set(anchor, node);
    if (isScalar(node)) return node.value;
    open.add(node);
    const value = isSeq(node)
      ? node.items.map((item, i) => read(item, [...path, i], lineAt(item) ?? line))
      : isMap(node)
        ? readMap(node.items, path, line)
        : null;
    open.delete(node);
    return value;
  };

  const readMap = (
    pairs: readonly { key: unknown; value: unknown }[],
    path: DocumentPath,
    line: number | undefined,
  ): Record<string, unknown> => {
    const map: Record<string, unknown> = {};
    for (const { key, value } of pairs) {
      const at = lineAt(key) ?? line;
      const name = nameOf(key);
      if (name === undefined) tell(path, "has a key that is no plain word", at);
      else if (name in Object.prototype) tell([...path, name], "is a word that no key may be", at);
      else if (Object.hasOwn(map, name)) tell([...path, name], "stands there twice", at);
      else {
        characters += name.length;
        map[name] = read(value, [...path, name], at);
      }
      if (full) break;
    }
    return map;
  };

  const value = read(contents, [], lineAt(contents) ?? 1);
  const document: ReadDocument = {
    value,
    lineOf(path) {
      for (let n = path.length; n >= 0; n -= 1) {
        const line = lines.get(path.slice(0, n).join("\n"));
        if (line !== undefined) return line;
      }
      return undefined;
    },
  };
  if (faults.length === 0) return document;
  return { faults, ...(whole && { rest: document }) };
}
