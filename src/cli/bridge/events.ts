/** What the readers of an agent's event stream say of one line, and help with data of unknown shape. */
import type { Usage } from "../../sdk/index.ts";

export type Told =
  /** It does something; the same id again is the same step. */
  | { kind: "step"; text: string; id?: string | undefined }
  /** The newest words, which are the reply unless others follow. */
  | { kind: "said"; text: string }
  | { kind: "usage"; usage: Usage }
  /** It went well after all: an earlier trouble was passing. */
  | { kind: "done" }
  | { kind: "failed"; reason: string };

export type Json = Record<string, unknown>;

export function isRecord(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The text in a field, or nothing. */
export function textOf(from: unknown, field: string): string {
  const value = isRecord(from) && Object.hasOwn(from, field) ? from[field] : undefined;
  return typeof value === "string" ? value : "";
}

export function recordOf(from: unknown, field: string): Json {
  const value = isRecord(from) && Object.hasOwn(from, field) ? from[field] : undefined;
  return isRecord(value) ? value : {};
}

export function listOf(from: unknown, field: string): unknown[] {
  const value = isRecord(from) && Object.hasOwn(from, field) ? from[field] : undefined;
  return Array.isArray(value) ? value : [];
}

/** The numbers in fields, added up; undefined when there is none that a report may have (SPEND-4). */
export function sumOf(from: unknown, fields: readonly string[]): number | undefined {
  const numbers = fields
    .map((field) => (isRecord(from) && Object.hasOwn(from, field) ? from[field] : undefined))
    .filter((value): value is number => typeof value === "number" && Number.isFinite(value) && value >= 0);
  return numbers.length === 0 ? undefined : numbers.reduce((sum, value) => sum + value, 0);
}

/** A report without what is not known. */
export function usageOf(
  cost: number | undefined,
  input: number | undefined,
  output: number | undefined,
): Usage | undefined {
  const usage: Usage = {
    ...(cost !== undefined && cost <= 10_000 ? { cost_usd: cost } : {}),
    ...(input === undefined ? {} : { input_tokens: Math.round(input) }),
    ...(output === undefined ? {} : { output_tokens: Math.round(output) }),
  };
  return Object.keys(usage).length === 0 ? undefined : usage;
}
