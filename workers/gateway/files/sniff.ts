/** What a file is, by its bytes alone (ATT-2): never by its name or by what the client says of it. */
import { fileTypeFromBuffer } from "file-type";

/**
 * Types that are written as text. Of any other a file that is UTF-8 from end to end is none: the signatures of
 * many binary types are a few letters, and "BMW", "MAC address" or "%!TEX" begin notes more often than files.
 */
const WRITTEN_AS_TEXT =
  /^text\/|^application\/(?:xml|rtf|pdf|postscript|eps|pgp-encrypted|x-ms-regedit)$|^model\/stl$/;

/** What the beginning of a file says of its type; undefined when it says nothing. */
export async function sniff(head: Uint8Array): Promise<string | undefined> {
  try {
    const found = await fileTypeFromBuffer(head);
    // Parameters, such as the codec of an Ogg stream, are left to who plays it.
    return found?.mime.split(";")[0]?.trim().toLowerCase();
  } catch {
    // The library gives up on what only pretends to be of a type.
    return undefined;
  }
}

/** The type of a file, of which the whole is known to be text or not. */
export function typeOf(found: string | undefined, isText: boolean): string {
  if (found !== undefined && (!isText || WRITTEN_AS_TEXT.test(found))) return found;
  return isText ? "text/plain" : "application/octet-stream";
}

export interface TextCheck {
  push(chunk: Uint8Array): void;
  /** After the last chunk: whether all of it was UTF-8 without NUL. */
  end(): boolean;
}

/** Looks for what is no text, chunk by chunk, and stops looking once it is found. */
export function openTextCheck(): TextCheck {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let isText = true;
  const decode = (chunk?: Uint8Array) => {
    try {
      decoder.decode(chunk, { stream: chunk !== undefined });
      return true;
    } catch {
      return false;
    }
  };
  return {
    push(chunk) {
      if (isText) isText = !chunk.includes(0) && decode(chunk);
    },
    end: () => isText && decode(),
  };
}
