import type { ContextItem, ItemActor, ItemFile, ItemRole } from "../../../wire/context/item.ts";
import { isCompaction } from "../state.ts";
import { headerLine } from "./header.ts";
import { plainText } from "./plain.ts";

/** An item of a history, under the offset of its latest update (STREAM-2). */
export interface HistoryItem {
  offset: number;
  item: ContextItem;
}

/** An item as it is told, before it takes a provider's form: its lane, its text, and the files it came with. */
export interface Said {
  offset: number;
  lane: ItemRole;
  text: string;
  files: readonly ItemFile[];
  /** Of the model's own answer: the request that it answers. */
  answers?: number | undefined;
}

/** Whose instructions are instructions: the office itself has no actor. */
const TRUSTED: Record<ItemActor["type"], boolean> = {
  agent: true,
  script: true,
  user: false,
  integration: false,
  slack: false,
  telegram: false,
  email: false,
  github: false,
};

/**
 * The lane in which an item is told (RENDER-1). A developer's item stays one only from the office itself, an agent
 * or a script; a summary is a user's, since it quotes third parties; and nothing that a third party wrote is ever
 * above a user's, whatever role it claims (CTX-7).
 */
export function laneOf(item: ContextItem): ItemRole {
  const { role, actor } = item;
  const trusted = actor === undefined || TRUSTED[actor.type];
  if (role === "developer") return trusted && !isCompaction(item) ? "developer" : "user";
  return trusted || actor.type === "user" ? role : "user";
}

/** What stands for a content of which nothing can be seen: providers refuse a message without words. */
export const NO_WORDS = "(empty)";

/** One item as it is told (RENDER-1, RENDER-2). */
export function said({ offset, item }: HistoryItem): Said {
  const lane = laneOf(item);
  const words = plainText(item.content);
  const files = item.files ?? [];
  if (lane !== "assistant") return { offset, lane, text: `${headerLine(offset, item)}\n${words}`, files };
  const text = words.trim() === "" ? NO_WORDS : words;
  return { offset, lane, text, files, answers: item.llmRequestOffset };
}

/** The header line of a text that has one. */
export function headerOf({ text }: Said): string {
  return text.slice(0, text.indexOf("\n"));
}
