/** Tool calls in an answer and their results (CTX-9). */
import type { ContextItem } from "../../wire/context/item.ts";
import { canonicalJson } from "../canonical.ts";
import { byteLength, firstBytes } from "../text.ts";

/** The content of a result, in bytes (CTX-9). */
export const MAX_RESULT_BYTES = 16_384;
const FENCE = "```";

export interface ToolCall {
  id: string;
  tool: string;
  input: unknown;
}

/** The id of the n-th call, from 1, in the answer to a request (CTX-9). */
export function callId(request: number, n: number): string {
  return `exe_${request}_${n}`;
}

/** Whether a key is one of those that results have; nobody else may use it (CTX-9, STREAM-4). */
export function isCallKey(key: string): boolean {
  return /^exe_\d+_\d+$/.test(key);
}

/** An answer as it is stored: the model's words, then a block for each of its calls, numbered (CTX-9). */
export function answerWith(
  words: string,
  request: number,
  calls: readonly Omit<ToolCall, "id">[],
): { content: string; calls: ToolCall[] } {
  const numbered = calls.map(({ tool, input }, i) => ({ id: callId(request, i + 1), tool, input }));
  const blocks = numbered.map((call) => `${FENCE}call\n${canonicalJson(call)}\n${FENCE}`);
  return { content: [...(words === "" ? [] : [words]), ...blocks].join("\n\n"), calls: numbered };
}

/**
 * The calls of an answer that its settlement names, in that order; undefined where one has no block. Blocks that it
 * does not name are quotes. Of two blocks with one id the last is the call, since the calls stand after the words.
 */
export function callsIn(content: string, ids: readonly string[]): ToolCall[] | undefined {
  if (ids.length === 0) return [];
  const blocks = new Map<string, ToolCall>();
  const lines = content.split("\n");
  for (let i = 0; i + 2 < lines.length; i++) {
    if (lines[i] !== `${FENCE}call` || lines[i + 2] !== FENCE) continue;
    const call = callOf(lines[i + 1] as string);
    if (call) blocks.set(call.id, call);
  }
  const found = ids.flatMap((id) => blocks.get(id) ?? []);
  return found.length === ids.length ? found : undefined;
}

function callOf(line: string): ToolCall | undefined {
  const { id, tool, input } = parsed(line);
  if (typeof id !== "string" || typeof tool !== "string" || tool === "" || input === undefined)
    return undefined;
  return { id, tool, input };
}

function parsed(text: string): Record<string, unknown> {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/**
 * A result's content: one line of canonical JSON. What is longer than it may be becomes a text that is cut, and
 * `left_out` says how many bytes; the whole belongs into the item's files then (CTX-9).
 */
export function resultContent(ok: boolean, output: unknown): { content: string; whole?: string } {
  const said = typeof output === "string" ? output.toWellFormed() : (output ?? null);
  const content = canonicalJson({ ok, output: said });
  if (byteLength(content) <= MAX_RESULT_BYTES) return { content };
  const whole = typeof said === "string" ? said : canonicalJson(said);
  const size = byteLength(whole);
  const cut = (bytes: number) => {
    const part = firstBytes(whole, bytes);
    return canonicalJson({ left_out: size - byteLength(part), ok, output: part });
  };
  // The most that fits: in JSON a character may take six times its bytes.
  let fits = 0;
  let over = MAX_RESULT_BYTES;
  while (over - fits > 1) {
    const middle = (fits + over) >> 1;
    if (byteLength(cut(middle)) <= MAX_RESULT_BYTES) fits = middle;
    else over = middle;
  }
  return { content: cut(fits), whole };
}

/** The item of a call's result (CTX-9). Only the last one of an answer asks for the next request. */
export function resultItem(
  call: { id: string; answer: number; streamPath: string },
  content: string,
  after: { last: boolean; files?: NonNullable<ContextItem["files"]> },
): ContextItem {
  const { id, answer, streamPath } = call;
  const behaviour = after.last ? "after-current-request" : "dont-trigger-request";
  return {
    role: "developer",
    content,
    key: id,
    ...(after.files === undefined ? {} : { files: after.files }),
    refs: [{ type: "event", streamPath, offset: answer, eventType: "context-item" }],
    actor: { type: "script", executionId: id },
    llmRequestPolicy: { behaviour },
  };
}

/** The idempotency key of a call's result: it is written once, however often it ran (CTX-9). */
export function resultKey(id: string): string {
  return `result:${id}`;
}

/** What is wrong with a result's content; undefined: nothing (CTX-9). */
export function resultFault(content: string): string | undefined {
  if (byteLength(content) > MAX_RESULT_BYTES)
    return `A result is at most ${MAX_RESULT_BYTES} bytes: cut the output, say in left_out how much, and put the whole into files.`;
  const { ok, output } = parsed(content);
  if (content.includes("\n") || typeof ok !== "boolean" || output === undefined)
    return 'A result is one line of JSON: {"ok": true or false, "output": …}.';
  return undefined;
}
