/** Reading what a stranger wrote: a field that is not what it should be is not there (WORK-2). */
import type { WorkEvent } from "../../wire/work.ts";
import { MAX_BODY_BYTES } from "../../wire/work.ts";
import { firstBytes } from "../text.ts";

export type Fields = Readonly<Record<string, unknown>>;

/** An object's own field as an object; an empty one when it is none. */
export function objectAt(from: Fields, name: string): Fields {
  const value = own(from, name);
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

/** The objects of a list, so many at most. */
export function listAt(from: Fields, name: string, most: number): Fields[] {
  const value = own(from, name);
  if (!Array.isArray(value)) return [];
  return value.slice(0, most).filter((one): one is Fields => typeof one === "object" && one !== null);
}

/** A text with something in it, cut to so many units, well formed and without NUL. */
export function textAt(from: Fields, name: string, most = 500): string | undefined {
  const value = own(from, name);
  if (typeof value !== "string") return undefined;
  const text = clean(value, most);
  return text === "" ? undefined : text;
}

/** What somebody wrote, cut to 64 KiB (WORK-1); an empty text stays one. */
export function bodyAt(from: Fields, name: string): string | undefined {
  const value = own(from, name);
  return typeof value === "string" ? firstBytes(clean(value, MAX_BODY_BYTES + 2), MAX_BODY_BYTES) : undefined;
}

export function wholeAt(from: Fields, name: string): number | undefined {
  const value = own(from, name);
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined;
}

/** An id as text, whether the source has it as a number or a text. */
export function idAt(from: Fields, name: string): string | undefined {
  const number = wholeAt(from, name);
  return number === undefined ? textAt(from, name, 300) : String(number);
}

export function flagAt(from: Fields, name: string): boolean | undefined {
  const value = own(from, name);
  return typeof value === "boolean" ? value : undefined;
}

/** An address of the web; anything else is none. */
export function urlAt(from: Fields, name: string): string | undefined {
  const value = own(from, name);
  return typeof value === "string" && value.length <= 2000 && /^https?:\/\/[^\s\p{Cc}]+$/u.test(value)
    ? value.toWellFormed()
    : undefined;
}

/** An instant, from ISO 8601 or from seconds since 1970, as the wire has instants. */
export function instantAt(from: Fields, name: string): string | undefined {
  const value = own(from, name);
  const ms =
    typeof value === "string" ? Date.parse(value) : typeof value === "number" ? value * 1000 : Number.NaN;
  // The year 9999 is the last that ISO 8601 has four digits for.
  return Number.isFinite(ms) && ms >= 0 && ms < 253_402_300_800_000 ? new Date(ms).toISOString() : undefined;
}

/** The same without what is not there: a sender says what it knows. */
export function known<T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}

function own(from: Fields, name: string): unknown {
  return Object.hasOwn(from, name) ? from[name] : undefined;
}

function clean(text: string, most: number): string {
  return text.slice(0, most).replaceAll("\0", "").toWellFormed();
}

/** What one delivery becomes, before it has an id. */
export type Draft = Omit<WorkEvent, "id" | "source" | "actor"> & { actor: WorkEvent["actor"] };
