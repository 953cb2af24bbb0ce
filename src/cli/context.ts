/** Streams, histories and prompts as lines of a terminal. What others wrote is made safe and marked on the way. */
import type * as z from "zod";
import type { HistoryAnswer, streamRead } from "../shared/wire/context/http.ts";
import type { ContextItem } from "../shared/wire/context/item.ts";
import { usage } from "./failures.ts";
import { quoted, when } from "./office.ts";
import { bold, dim, safeLine, table } from "./terminal.ts";

type Events = z.infer<typeof streamRead>["events"];

/** The items that a model sees, the newest last, and how its requests stand (STREAM-2). */
export function historyText(handle: string, history: HistoryAnswer, now: number, last: number): string {
  const { items, covered } = history;
  const shown = items.slice(Math.max(0, items.length - last));
  const hidden = items.length - shown.length;
  const lines = [`${bold(safeLine(handle))}: ${stateOf(history, now)}`];
  if (items.length === 0) lines.push(dim("The model sees nothing yet."));
  if (hidden > 0) lines.push(dim(`${hidden} earlier items: --last ${items.length} shows them.`));
  for (const { offset, item } of shown) {
    const seen = offset > covered ? " (not sent yet)" : "";
    lines.push(`${bold(`#${offset} ${safeLine(item.role)}`)}${dim(`${detailsOf(item)}${seen}`)}`);
    lines.push(...quoted(item.content));
  }
  return lines.join("\n");
}

function stateOf({ items, covered, pending, open, paused, reason }: HistoryAnswer, now: number): string {
  const count = `${items.length} ${items.length === 1 ? "item" : "items"}`;
  const facts = [count, covered === 0 ? "never asked" : `last asked at #${covered}`];
  if (open) facts.push(`request #${open.offset} is open until ${when(open.deadline, now)}`);
  if (pending) facts.push(`#${pending.offset} waits for ${pending.external ? "an answer" : "its turn"}`);
  if (paused) facts.push(`paused${reason === undefined ? "" : ` (${safeLine(reason)})`}`);
  return facts.join(", ");
}

/** Who an item is from, its name, what it does to the model's turn, and what came with it. */
function detailsOf({ actor, key, files = [], compaction, llmRequestPolicy, llmRequestOffset }: ContextItem) {
  const details: string[] = [];
  if (actor) {
    const { type, ...more } = actor;
    const who = Object.values(more).filter((value) => value !== undefined && value !== "");
    details.push(`from ${type}${who.length === 0 ? "" : ` ${who.join(" ")}`}`);
  }
  if (key !== undefined) details.push(`key ${key}`);
  if (llmRequestOffset !== undefined) details.push(`answers #${llmRequestOffset}`);
  if (compaction) details.push(`sums up what stood up to #${compaction.replacesHistoryThrough}`);
  if (llmRequestPolicy && llmRequestPolicy.behaviour !== "after-current-request")
    details.push(llmRequestPolicy.behaviour);
  for (const { filename, size } of files) details.push(`file ${filename} (${size} bytes)`);
  return details.map((detail) => `, ${safeLine(detail)}`).join("");
}

/** Events as a list, an item by its first words. */
export function eventsText(events: Events, now: number): string {
  const rows = events.map((event) => [
    `#${event.offset}`,
    when(event.at, now),
    event.type,
    event.type === "context-item" ? itemLine(event.payload) : payloadLine(event.payload),
  ]);
  return table([["OFFSET", "WHEN", "EVENT", ""], ...rows]);
}

const MOST_IN_LINE = 100;

function itemLine(item: ContextItem): string {
  const words = safeLine(item.content.slice(0, MOST_IN_LINE * 2));
  const more = words.length > MOST_IN_LINE || item.content.length > MOST_IN_LINE * 2;
  return `${item.role}${detailsOf(item)}: ${words.slice(0, MOST_IN_LINE)}${more ? "…" : ""}`;
}

function payloadLine(payload: object): string {
  return Object.entries(payload)
    .map(([name, value]) => `${name} ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(", ");
}

/** What a request says, message by message, whatever its form; the body itself is there with --json. */
export function promptText(request: object): string {
  const lines: string[] = [];
  const { tools } = request as { tools?: unknown };
  if (Array.isArray(tools)) lines.push(dim(`${tools.length} tools`));
  for (const { role, texts } of messagesIn(request)) {
    lines.push(bold(safeLine(role)));
    for (const text of texts) lines.push(...quoted(text, Number.POSITIVE_INFINITY));
  }
  return lines.join("\n");
}

interface Message {
  role: string;
  texts: string[];
}

/** The messages of any form, loosely: a newer server may say more. */
function messagesIn(request: object): Message[] {
  const { preamble, system, input, messages, items, ts } = request as Record<string, unknown>;
  const said: Message[] = [];
  if (preamble !== undefined) said.push({ role: "system", texts: textsIn(preamble) });
  if (system !== undefined) said.push({ role: "system", texts: textsIn(system) });
  for (const list of [input, messages, items])
    for (const one of Array.isArray(list) ? (list as Record<string, unknown>[]) : [])
      said.push({ role: String(one["role"]), texts: textsIn(one["content"] ?? one["text"]) });
  if (ts !== undefined) said.push({ role: "user", texts: textsIn(ts) });
  return said;
}

function textsIn(content: unknown): string[] {
  if (typeof content === "string") return [content];
  if (!Array.isArray(content)) return [];
  return (content as { type?: unknown; text?: unknown }[]).map(({ type, text }) =>
    typeof text === "string" ? text : `(${String(type)})`,
  );
}

/** Events from a file: a JSON list, an object with `events` as the route takes it, or one JSON a line. */
export function batchOf(text: string): object[] {
  const whole = parsed(text);
  const events = Array.isArray(whole)
    ? whole
    : isRecord(whole) && Array.isArray(whole["events"])
      ? whole["events"]
      : whole === undefined
        ? text.split("\n").flatMap((line, i) => (line.trim() === "" ? [] : [lineOf(line, i + 1)]))
        : [whole];
  if (events.length === 0) throw usage("There is no event in it.");
  return events.map((event: unknown, i) => {
    if (isRecord(event)) return event;
    throw usage(
      `Event ${i + 1} is no JSON object.`,
      'It looks like {"type": "context-item", "payload": {"role": "user", "content": "…"}}.',
    );
  });
}

function lineOf(line: string, number: number): unknown {
  const value = parsed(line);
  if (value === undefined) throw usage(`Line ${number} is not JSON.`);
  return value;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
