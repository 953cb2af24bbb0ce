import type { ItemFile } from "../../../wire/context/item.ts";
import type { Said } from "./lanes.ts";

/** What a provider takes of files (RENDER-3). */
export const FILE_LIMITS = { bytes: 5 * 1024 * 1024, allBytes: 20 * 1024 * 1024, files: 50 } as const;

/** A file's bytes by its path in the bucket, in base64. */
export type FileBytes = ReadonlyMap<string, string>;

/** A file on its way to a provider. Its type is what its bytes say, not what whoever sent it said. */
export interface SentFile {
  type: "image/png" | "image/jpeg" | "image/gif" | "image/webp" | "application/pdf";
  filename: string;
  base64: string;
}

const TYPES: readonly [RegExp, SentFile["type"]][] = [
  [/^iVBORw0KGgo/, "image/png"],
  [/^\/9j\//, "image/jpeg"],
  [/^R0lGOD/, "image/gif"],
  // "RIFF", four bytes of length, "WEBP"
  [/^UklGR.{6}XRUJQ/, "image/webp"],
  [/^JVBERi0/, "application/pdf"],
];
const UNFIT = /[\p{Cc}\u2028\u2029"'`*?:<>|｜[\]/\\]/gu;
const MAY_BE_SENT = /^\s*(?:image\/(?:png|jpe?g|gif|webp)|application\/pdf)\s*(?:;|$)/i;

/**
 * The files of a history whose bytes are sent, by what is known of them (RENDER-3): images and PDF documents of
 * users' and developers' items, 5 MiB each. Of more than 20 MiB or 50 the newest are sent; the rest is only named.
 */
export function filesToSend(history: readonly Said[]): Set<ItemFile> {
  const sent = new Set<ItemFile>();
  let left: number = FILE_LIMITS.allBytes;
  for (const { lane, files } of history.toReversed()) {
    if (lane !== "user" && lane !== "developer") continue;
    for (const file of files) {
      if (!MAY_BE_SENT.test(file.contentType) || file.size === 0 || file.size > FILE_LIMITS.bytes) continue;
      if (file.size > left || sent.size === FILE_LIMITS.files) return sent;
      left -= file.size;
      sent.add(file);
    }
  }
  return sent;
}

/**
 * A file as it is sent, or undefined when it is only named (RENDER-3): its bytes are not there, are not as many as
 * were said, or are no image and no PDF document. One that a provider refuses would end every later request.
 */
export function sentFile({ path, size, filename }: ItemFile, bytes: FileBytes): SentFile | undefined {
  const base64 = bytes.get(path);
  if (base64 === undefined || byteLengthOf(base64) !== size) return undefined;
  const type = TYPES.find(([begins]) => begins.test(base64))?.[1];
  return type && { type, filename: safeName(filename, type), base64 };
}

function byteLengthOf(base64: string): number {
  const padding = base64.endsWith("==") ? 2 : Number(base64.endsWith("="));
  return (base64.length / 4) * 3 - padding;
}

/** The name as a provider is told it: bounded, in one line, and with an ending that fits. */
function safeName(filename: string, type: SentFile["type"]): string {
  const name = filename.replace(UNFIT, "_").slice(0, 100).toWellFormed();
  return type === "application/pdf" && !/\.pdf$/i.test(name) ? `${name}.pdf` : name;
}
