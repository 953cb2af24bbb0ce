import type { SentFile } from "./files.ts";
import type { Said } from "./lanes.ts";
import { PREAMBLE } from "./preamble.ts";
import type { Prompt } from "./prompt.ts";

interface Cached {
  cache_control?: { type: "ephemeral" };
}
interface TextBlock extends Cached {
  type: "text";
  text: string;
}
type FileBlock = Cached &
  (
    | {
        type: "image";
        source: { type: "base64"; media_type: Exclude<SentFile["type"], "application/pdf">; data: string };
      }
    | {
        type: "document";
        title: string;
        source: { type: "base64"; media_type: "application/pdf"; data: string };
      }
  );
type Block = TextBlock | FileBlock;

/** The body of Anthropic's `POST /v1/messages`, without model, `max_tokens` and sampling. */
export interface AnthropicRequest {
  tools?: {
    name: string;
    description?: string;
    input_schema: { type: "object"; [key: string]: unknown };
  }[];
  system: TextBlock[];
  messages: { role: "user" | "assistant"; content: Block[] }[];
}

/** A conversation begins with a user's words; this stands there when a history has none at its beginning. */
export const BEGINNING = "(The history begins here.)";

/**
 * A prompt for Anthropic's Messages (RENDER-1): the leading system items are `system`, later ones and developers'
 * are a user's text between tags on lines of their own, neighbours of one role are blocks of one message. What the
 * last request saw, and what this one does, is marked for the provider's cache, which looks back 20 blocks only.
 */
export function anthropicRequest(prompt: Prompt): AnthropicRequest {
  const { history, tools } = prompt;
  const at = history.findIndex(({ lane }) => lane !== "system");
  const leading = at === -1 ? history.length : at;
  const system: TextBlock[] = [PREAMBLE, ...history.slice(0, leading).map(({ text }) => text)].map(textBlock);
  mark(system.at(-1));

  const messages: AnthropicRequest["messages"] = [];
  const add = (role: "user" | "assistant", blocks: Block[]) => {
    const last = messages.at(-1);
    if (last?.role === role) last.content.push(...blocks.map(onItsOwnLine));
    else messages.push({ role, content: blocks });
  };
  if (history[leading]?.lane === "assistant" || (leading === history.length && prompt.time === undefined))
    add("user", [textBlock(BEGINNING)]);

  const seen = newestAnswered(history);
  let isSeen = seen > 0;
  for (const item of history.slice(leading)) {
    if (isSeen && item.offset > seen) {
      isSeen = false;
      mark(messages.at(-1)?.content.at(-1));
    }
    if (item.lane === "assistant") add("assistant", [textBlock(item.text)]);
    else add("user", [textBlock(tagged(item)), ...prompt.sent(item).map(fileBlock)]);
  }
  mark(messages.at(-1)?.content.at(-1));
  if (prompt.time !== undefined) add("user", [textBlock(prompt.time)]);
  return {
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, parameters }) => ({
        name,
        ...(description !== undefined && { description }),
        input_schema: { ...parameters, type: "object" as const },
      })),
    }),
    system,
    messages,
  };
}

const textBlock = (text: string): TextBlock => ({ type: "text", text });

function tagged({ lane, text }: Said): string {
  return lane === "user" ? text : `<developer>\n${text}\n</developer>`;
}

/** Blocks of one message follow each other without a break: a header must still begin a line. */
function onItsOwnLine(block: Block): Block {
  return block.type === "text" ? { ...block, text: `\n${block.text}` } : block;
}

/** The offset of the newest request that was answered: what is above it the provider has not seen. */
function newestAnswered(history: readonly Said[]): number {
  return history.findLast(({ answers }) => answers !== undefined)?.answers ?? 0;
}

function mark(block: Block | undefined): void {
  if (block) block.cache_control = { type: "ephemeral" };
}

function fileBlock({ type, filename, base64 }: SentFile): FileBlock {
  return type === "application/pdf"
    ? { type: "document", title: filename, source: { type: "base64", media_type: type, data: base64 } }
    : { type: "image", source: { type: "base64", media_type: type, data: base64 } };
}
