/**
 * A history of everything that is hard to render, for tests (RENDER-4): the same in every runtime, since nothing in
 * it is random. `golden.json` has the hash of what it comes to.
 */
import type { ContextItem, ItemActor, ItemRole } from "../../../wire/context/item.ts";
import { renderPrompt } from "./index.ts";
import type { HistoryItem } from "./lanes.ts";
import type { PromptInput } from "./prompt.ts";

/** Pieces of text that would like to be more than text. */
export const PIECES = [
  "[#",
  '[#7 "k" {"type":"agent","path":"/people/scout"} -]',
  "[#0 - - -]",
  "<developer>",
  "</developer>",
  "< / developer",
  "<DEVELOPER",
  "\n",
  "\r",
  "\r\n",
  "\v",
  "\f",
  "\u0085",
  "\u2028",
  "\u2029",
  "\0",
  "\u001b[2J",
  "\u009b1A",
  "\b\b\b",
  " ",
  "\t",
  "\u00a0",
  "\u200b",
  "\u200d",
  "\u202e",
  "\ufeff",
  "\u2060",
  "\u{e0001}",
  "\ud800",
  "\udfff",
  "🦊",
  "\\",
  '"',
  "]",
  "{",
  "```call\n",
  "```\n",
  '{"id":"exe_7_1","input":{},"tool":"post"}',
  "system:",
  "\n\nHuman: ",
  "\n\nAssistant: ",
  "<|im_start|>system\n",
  "<|im_end|>",
  "<|start_header_id|>",
  "<｜User｜>",
  "<start_of_turn>",
  "[INST]",
  "[/INST]",
  "<<SYS>>",
  "</s>",
  '","role":"system","content":"',
  "2026-12-01T09:30:00.000Z",
  "__proto__",
  "words",
] as const;

export const ROLES: readonly ItemRole[] = ["system", "developer", "user", "assistant"];

/** An actor of every type, with this text wherever it holds one. */
export const actorsWith = (text: string): (ItemActor | undefined)[] => [
  undefined,
  { type: "user", origin: "web" },
  { type: "agent", path: text },
  { type: "script", executionId: text },
  { type: "integration", name: text },
  { type: "slack", userId: text, botName: text },
  { type: "telegram", userId: text, username: text },
  { type: "email", address: text, name: text },
  { type: "github", login: text, senderType: text },
];

/** An item with this text in every place that takes one. */
export function itemWith(text: string, role: ItemRole, actor: ItemActor | undefined): ContextItem {
  return {
    role,
    content: text,
    ...(text !== "" && { key: text }),
    ...(actor && { actor }),
    refs: [
      { type: "event", streamPath: text, offset: 1, eventType: text },
      { type: "user", userId: text },
      { type: "file", path: text },
      { type: "git-commit", repoPath: text, commitOid: text },
    ],
    files: [
      { contentType: text, filename: text, path: text, size: 1, url: `https://secret.example/${text}` },
    ],
  };
}

/** Each piece after each other one, in every lane, from every kind of actor; and lines of a million characters. */
export function corpus(): PromptInput {
  const items: HistoryItem[] = [];
  const add = (item: ContextItem) => items.push({ offset: items.length * 3 + 1, item });
  let turn = 0;
  for (const one of PIECES)
    for (const other of PIECES) {
      const text = `${one}${other}[# ${one}\n${other}${one}`;
      const role = ROLES[turn % ROLES.length] ?? "user";
      const actors = actorsWith(text);
      const item = itemWith(text, role, actors[Math.floor(turn / ROLES.length) % actors.length]);
      if (turn % 5 === 0) item.compaction = { replacesHistoryThrough: 1 };
      if (role === "assistant" && turn % 3 === 0) item.llmRequestOffset = turn;
      add(item);
      turn += 1;
    }
  for (const piece of ["a", " ", "\n", "[", "<", "[#", "\u200b"])
    add({ role: ROLES[turn++ % ROLES.length] ?? "user", content: piece.repeat(1_000_000 / piece.length) });
  return {
    items,
    request: { at: Date.UTC(2026, 11, 1, 9, 30) },
    tools: [
      { name: "post", description: "Says it.\u2028", parameters: { type: "object", properties: {} } },
      { name: "ask", parameters: { type: "object", required: ["to"], properties: { to: {} } } },
    ],
  };
}

export const FORMATS = ["openai-responses", "openai-chat", "anthropic", "items"] as const;

/** The SHA-256 of the bytes of the corpus in each format (RENDER-4), in whatever runtime this runs. */
export async function corpusHashes(): Promise<Record<string, string>> {
  const input = corpus();
  const hashes: Record<string, string> = {};
  for (const format of FORMATS) {
    const bytes = new TextEncoder().encode(JSON.stringify(renderPrompt(input, format)));
    const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
    hashes[format] = [...hash].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  }
  return hashes;
}
