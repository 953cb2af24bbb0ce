/** Byte ranges and conditions of a download, as RFC 9110 has them (ATT-6). */

/** Which bytes are asked for: all, a stretch, or none that are there (416). */
export type Wanted = { all: true } | { offset: number; length: number } | { none: true };

const ONE_RANGE = /^bytes\s*=\s*(?:(\d+)\s*-\s*(\d*)|-\s*(\d+))\s*$/i;

/**
 * Reads a `Range` header against a size. What is no range of bytes, and several at once, is passed over: the
 * whole is a right answer to both.
 */
export function wantedOf(header: string | undefined, size: number): Wanted {
  const match = header === undefined ? null : ONE_RANGE.exec(header);
  if (!match) return { all: true };
  const [, from, to, suffix] = match;
  if (suffix !== undefined) {
    const length = Math.min(Number(suffix), size);
    return length === 0 ? { none: true } : { offset: size - length, length };
  }
  const first = Number(from);
  const last = to ? Math.min(Number(to), size - 1) : size - 1;
  // Backwards is no range at all; beyond the end is one that cannot be had.
  if (to && Number(to) < first) return { all: true };
  return first >= size ? { none: true } : { offset: first, length: last - first + 1 };
}

/** Whether a `Range` still holds: `If-Range` names this very file, byte for byte. */
export function rangeHolds(ifRange: string | undefined, etag: string): boolean {
  return ifRange === undefined || ifRange.trim() === etag;
}

/** Whether the caller has these bytes already, by `If-None-Match`. */
export function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch.split(",").some((tag) => {
    const known = tag.trim().replace(/^W\//, "");
    return known === "*" || known === etag;
  });
}
