/** Identifiers that a client mints (ID-1, ID-2). */
import type { IdPrefix } from "../shared/wire/ids.ts";

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** A fresh identifier: the prefix, an underscore and a ULID of this moment. */
export function newId<P extends IdPrefix>(prefix: P, now: number = Date.now()): `${P}_${string}` {
  return `${prefix}_${ulid(now)}`;
}

function ulid(now: number): string {
  let time = "";
  for (let rest = Math.floor(now), digit = 0; digit < 10; digit++) {
    time = ALPHABET.charAt(rest % 32) + time;
    rest = Math.floor(rest / 32);
  }
  // A byte's lowest five bits are as random as the byte: no character is likelier than another.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return time + Array.from(bytes, (byte) => ALPHABET.charAt(byte & 31)).join("");
}
