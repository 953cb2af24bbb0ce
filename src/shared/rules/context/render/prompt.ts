import { type FileBytes, filesToSend, type SentFile, sentFile } from "./files.ts";
import { type HistoryItem, type Said, said } from "./lanes.ts";

/** A tool as a model is told of it. */
export interface ToolDefinition {
  /** Letters, digits, `_` and `-`. */
  name: string;
  description?: string | undefined;
  /** The JSON Schema of its input, an object. */
  parameters: Record<string, unknown>;
}

/** What a prompt is made of. */
export interface PromptInput {
  /** The history as of the request (REQ-2). */
  items: readonly HistoryItem[];
  /** The request's own event, whose time (ms) stands last (RENDER-4). */
  request?: { at: number } | undefined;
  tools?: readonly ToolDefinition[] | undefined;
  /** Bytes of files that are sent, read by who runs the request; others are only named (RENDER-3). */
  files?: FileBytes | undefined;
  /** The developer's role at endpoints of the Chat Completions form: most know none (RENDER-1). */
  developer?: "system" | "developer" | undefined;
}

/** The same, made ready for any form: this is where the forms begin. */
export interface Prompt {
  history: Said[];
  /** The bytes that go with an item. */
  sent(item: Said): SentFile[];
  tools: readonly ToolDefinition[];
  time?: string | undefined;
}

const NONE: SentFile[] = [];

export function promptOf({ items, request, tools = [], files }: PromptInput): Prompt {
  const history = items.map(said);
  const chosen = files && files.size > 0 ? filesToSend(history) : undefined;
  return {
    history,
    sent: (item) =>
      chosen && files && item.files.length > 0
        ? item.files.flatMap((file) => (chosen.has(file) ? (sentFile(file, files) ?? []) : []))
        : NONE,
    // One order, whoever lists them: tools stand first in what a provider caches.
    tools: tools.toSorted((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name))),
    time: request && new Date(request.at).toISOString(),
  };
}

export const dataUrl = ({ type, base64 }: SentFile): string => `data:${type};base64,${base64}`;

/** The paths of the files whose bytes a request sends, for who reads them from the bucket (RENDER-3). */
export function pathsToSend(items: readonly HistoryItem[]): string[] {
  return [...new Set([...filesToSend(items.map(said))].map(({ path }) => path))];
}
