/** The names of uploaded files (ATT-1): what a client calls its file, made safe to store, show and send back. */
import { byteLength } from "./text.ts";

/** What file systems take, and a header holds with room to spare. */
export const FILENAME_BYTES = 255;

// Controls, line separators, and what turns or hides the text around it: a name must look like what it is.
// The joiners stay, because emoji and several scripts are written with them.
const REFUSED = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Noncharacter_Code_Point}]|(?![\u200c\u200d])\p{Cf}/u;
const NAMELESS = /^[.\s]*$/u;

/**
 * A file's name as it is stored: without the folders before it, ends trimmed, NFC. `undefined` if nothing is left
 * but dots, it is longer than 255 bytes of UTF-8, or it holds control or formatting characters. Idempotent.
 */
export function cleanFilename(given: string): string | undefined {
  const last = given.slice(Math.max(given.lastIndexOf("/"), given.lastIndexOf("\\")) + 1);
  if (REFUSED.test(last)) return undefined;
  const name = last.trim().normalize("NFC");
  return NAMELESS.test(name) || byteLength(name) > FILENAME_BYTES ? undefined : name;
}
