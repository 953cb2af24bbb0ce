import type { ItemFile } from "../../../wire/context/item.ts";
import { filesToSend } from "./files.ts";
import type { Said } from "./lanes.ts";
import { PREAMBLE } from "./preamble.ts";
import type { Prompt, ToolDefinition } from "./prompt.ts";

/** A prompt in no provider's form, for who makes another one of it. */
export interface ItemsRequest {
  tools?: ToolDefinition[];
  preamble: string;
  /** In order: the lane, the text with its header, and the files whose bytes belong to it (RENDER-3). */
  items: { offset: number; role: Said["lane"]; text: string; files?: Omit<ItemFile, "url">[] }[];
  /** Stands last, as user. */
  ts?: string;
}

/** The items in their lanes and with their headers, as every form has them (RENDER-1, RENDER-2). */
export function itemsRequest({ history, tools, time }: Prompt): ItemsRequest {
  const sent = filesToSend(history);
  return {
    ...(tools.length > 0 && { tools: [...tools] }),
    preamble: PREAMBLE,
    items: history.map(({ offset, lane, text, files }) => {
      const own = files.filter((file) => sent.has(file));
      return {
        offset,
        role: lane,
        text,
        ...(own.length > 0 && {
          files: own.map(({ contentType, filename, path, size }) => ({ contentType, filename, path, size })),
        }),
      };
    }),
    ...(time !== undefined && { ts: time }),
  };
}
