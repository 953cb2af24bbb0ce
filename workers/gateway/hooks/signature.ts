/** The signature of a webhook's delivery, over its bytes as they came (WORK-2). */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";

/** What is compared against where there is no secret: its time is like any other's, and the answer is no. */
const NOBODYS = "nobody's";

/**
 * Whether a `sha256=…` header is the bytes' signature by one of the secrets, in constant time. Without a secret
 * as much is computed, and the answer is no.
 */
export function isSigned(bytes: Uint8Array, header: string | undefined, secrets: readonly string[]): boolean {
  const given = Buffer.alloc(32);
  const hex = /^sha256=([0-9a-f]{64})$/i.exec(header ?? "")?.[1];
  if (hex !== undefined) given.write(hex, "hex");
  let signed = false;
  for (const secret of secrets.length === 0 ? [NOBODYS] : secrets) {
    const fits = timingSafeEqual(createHmac("sha256", secret).update(bytes).digest(), given);
    signed ||= fits;
  }
  return signed && hex !== undefined && secrets.length > 0;
}

/** What a delivery is known by, whatever its id: the event's name and the body (WORK-2). */
export function hashOf(event: string, bytes: Uint8Array): string {
  return createHash("sha256").update(`${event}\n`).update(bytes).digest("hex");
}
