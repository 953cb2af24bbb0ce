/** The body that a model is sent: the history as of its request, the tools, and the bytes of files (RENDER-3). */
import {
  type FileBytes,
  type HistoryItem,
  pathsToSend,
  renderPrompt,
  type ToolDefinition,
} from "../shared/rules/context/render/index.ts";
import type { ModelForm } from "./model.ts";

export interface PromptOptions {
  items: readonly HistoryItem[];
  /** When the request was opened, ms: stands last (RENDER-4). */
  at: number;
  form: ModelForm;
  tools: readonly ToolDefinition[];
  /** A file's bytes; undefined where it cannot be had: then it is only named. */
  read?: ((path: string) => Promise<Uint8Array | undefined>) | undefined;
}

/** The same history, tools and files give the same bytes (REQ-2). */
export async function promptBody({ items, at, form, tools, read }: PromptOptions): Promise<object> {
  const files: FileBytes = read ? await bytesOf(pathsToSend(items), read) : new Map();
  return renderPrompt({ items, request: { at }, tools, files }, form);
}

async function bytesOf(
  paths: readonly string[],
  read: NonNullable<PromptOptions["read"]>,
): Promise<FileBytes> {
  const found = new Map<string, string>();
  // One after the other: all of them may be 20 MiB.
  for (const path of paths) {
    const bytes = await read(path);
    if (bytes) found.set(path, base64(bytes));
  }
  return found;
}

/** A multiple of three, so that the pieces can be joined. */
const PIECE_BYTES = 24_576;

function base64(bytes: Uint8Array): string {
  const pieces: string[] = [];
  for (let at = 0; at < bytes.byteLength; at += PIECE_BYTES)
    pieces.push(btoa(String.fromCharCode(...bytes.subarray(at, at + PIECE_BYTES))));
  return pieces.join("");
}
