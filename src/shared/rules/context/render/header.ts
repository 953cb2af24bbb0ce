import type { ContextItem } from "../../../wire/context/item.ts";
import { canonicalJson } from "../../canonical.ts";
import { plainJson } from "./plain.ts";

/**
 * The line of metadata above an item's content (RENDER-2): `[#<offset> <key> <actor> <refs>]`, each canonical JSON
 * or `-`. Where files came with the item they stand as a fifth, with type, name, size and path (RENDER-3).
 */
export function headerLine(offset: number, { key, actor, refs, files }: ContextItem): string {
  const fields = [
    key === undefined ? "-" : JSON.stringify(key),
    actor === undefined ? "-" : canonicalJson(actor),
    refs === undefined || refs.length === 0 ? "-" : canonicalJson(refs),
  ];
  if (files !== undefined && files.length > 0)
    fields.push(
      // Never the URL: whoever has it can read the file.
      canonicalJson(
        files.map(({ contentType, filename, path, size }) => ({ contentType, filename, path, size })),
      ),
    );
  return `[#${offset} ${plainJson(fields.join(" "))}]`;
}
