import * as z from "zod";

/** The prefix of every identifier on the wire (ID-1). What follows the underscore is a ULID. */
export const ID_PREFIXES = [
  "ws",
  "spc",
  "usr",
  "hrn",
  "agt",
  "msg",
  "run",
  "evt",
  "att",
  "apr",
  "qst",
  "tok",
  "inv",
  "grt",
  "itm",
  "act",
  "rpt",
] as const;
export type IdPrefix = (typeof ID_PREFIXES)[number];

/** Crockford base 32, 26 characters; the first is at most 7, or the time would not fit 48 bits. */
export const ULID_PATTERN = "[0-7][0-9A-HJKMNP-TV-Z]{25}";

/** A schema for one kind of identifier: `id("msg")` takes `msg_` and a ULID (ID-1, ID-2). */
export function id(...prefixes: [IdPrefix, ...IdPrefix[]]) {
  const prefix = prefixes.length === 1 ? prefixes[0] : `(?:${prefixes.join("|")})`;
  return z.string().regex(new RegExp(`^${prefix}_${ULID_PATTERN}$`), {
    error: `must be ${prefixes.map((p) => `${p}_`).join(" or ")} followed by a ULID`,
  });
}

/** A person, a harness or an agent. */
export const participantId = id("usr", "hrn", "agt");

const ANY_ID = new RegExp(`^(${ID_PREFIXES.join("|")})_${ULID_PATTERN}$`);

/** Whether a string is an identifier of this kind. */
export function isId(value: unknown, prefix: IdPrefix): value is string {
  return typeof value === "string" && value.startsWith(`${prefix}_`) && ANY_ID.test(value);
}
