/** Why a model gave no answer, as a value: what happened, in words, and whether another try may help. */

import { mask } from "../shared/rules/mask.ts";
import { firstCodePoints } from "../shared/rules/text.ts";

/** `llm-request-failed` carries one of these in front of its words. */
export type FailureReason =
  /** Who asked has changed their mind: interrupted, expired, stopping. */
  | "aborted"
  /** No connection, or it broke before an answer began. */
  | "unreachable"
  /** Nothing came for too long. */
  | "timeout"
  /** Too many requests: `retryAfterMs` says when, where the endpoint does. */
  | "rate_limited"
  /** The endpoint's own fault (5xx). */
  | "unavailable"
  /** The answer broke off. */
  | "cut"
  /** What came is no answer of this form. */
  | "malformed"
  /** The answer is larger than anything that may be kept. */
  | "too_large"
  /** The prompt is larger than the model's window (REQ-8). */
  | "context_full"
  /** The key is missing or not taken. */
  | "denied"
  /** The account may not spend more. */
  | "quota"
  /** The endpoint does not know the model or the path. */
  | "not_found"
  /** The endpoint does not take the request, and would not the second time. */
  | "refused"
  /** The endpoint keeps its answer back. */
  | "filtered";

export interface Failure {
  reason: FailureReason;
  /** One sentence that says what to do, with the endpoint's own words behind it where there are any. */
  message: string;
  /** Whether the same request may succeed a little later. */
  retry: boolean;
  /** How long to wait before that, where the endpoint has said so. */
  retryAfterMs?: number | undefined;
}

const WORDS: Record<FailureReason, string> = {
  aborted: "The request was called off.",
  unreachable: "The model's endpoint cannot be reached: check its URL and the network.",
  timeout: "The model's endpoint sent nothing for too long.",
  rate_limited: "The model's endpoint takes no more requests for now.",
  unavailable: "The model's endpoint has a fault of its own.",
  cut: "The model's answer broke off.",
  malformed: "The model's endpoint answered with something that is no answer of this form: check its URL.",
  too_large: "The model's answer is larger than may be kept.",
  context_full: "The prompt is larger than the model's window.",
  denied: "The model's endpoint does not take the key: check it.",
  quota: "The account at the model's endpoint has nothing left to spend.",
  not_found: "The model's endpoint does not know this model or path: check both.",
  refused: "The model's endpoint does not take this request.",
  filtered: "The model's endpoint keeps this answer back by its own policy.",
};
const AGAIN = new Set<FailureReason>([
  "unreachable",
  "timeout",
  "rate_limited",
  "unavailable",
  "cut",
  "malformed",
]);
/** The endpoint's own words: strangers' text, of which this much is passed on. */
const MOST_WORDS = 300;

/** @param said the endpoint's own words; @param secrets what must not stand in them */
export function failure(reason: FailureReason, said = "", secrets: readonly string[] = []): Failure {
  const words = firstCodePoints(mask(said, secrets).replace(/\s+/gu, " ").trim(), MOST_WORDS);
  return {
    reason,
    message: words === "" ? WORDS[reason] : `${WORDS[reason]} It says: ${words}`,
    retry: AGAIN.has(reason),
  };
}

const FULL =
  /context.{0,12}(?:length|window|size)|maximum context|too many (?:input )?tokens|prompt is too long/i;
const QUOTA = /insufficient_quota|billing/i;

/** A code or words of an endpoint's, inside a stream or with a status. */
export function reasonSaid(code: string, said: string): FailureReason | undefined {
  if (FULL.test(code.replaceAll("_", " ")) || FULL.test(said)) return "context_full";
  if (QUOTA.test(code)) return "quota";
  if (/rate_limit/i.test(code)) return "rate_limited";
  if (/content_filter|content_policy/i.test(code)) return "filtered";
  if (/server_error|overloaded|unavailable|internal/i.test(code)) return "unavailable";
  return undefined;
}

function reasonOfStatus(status: number, code: string, said: string): FailureReason {
  const named = reasonSaid(code, said);
  if (status === 401 || status === 403) return named === "quota" ? "quota" : "denied";
  if (status === 402) return "quota";
  if (status === 429) return named === "quota" ? "quota" : "rate_limited";
  if (status === 404) return "not_found";
  if (status === 408 || status === 504) return "timeout";
  if (status >= 500 || status === 409 || status === 425) return "unavailable";
  if (status === 413) return "context_full";
  return named === "context_full" || named === "filtered" || named === "quota" ? named : "refused";
}

/** An answer whose status is no success. @param text as much of its body as was read */
export function failureOfStatus(
  { status, headers }: { status: number; headers: Headers },
  text: string,
  now: number,
  secrets: readonly string[],
): Failure {
  const { code, message } = errorIn(text);
  const reason = reasonOfStatus(status, code, message);
  // What is said of a key may quote it.
  const said = reason === "denied" ? "" : message;
  return { ...failure(reason, `${status} ${said}`, secrets), retryAfterMs: retryAfter(headers, now) };
}

/** The code and the words of an endpoint's error, `{error: {code, message}}` or flat. */
export function errorIn(body: unknown): { code: string; message: string } {
  const whole = typeof body === "string" ? parsed(body) : body;
  const error = fieldOf(whole, "error") ?? whole;
  const text = (name: string) => {
    const value = fieldOf(error, name);
    return typeof value === "string" ? value : "";
  };
  if (typeof error === "string") return { code: "", message: error };
  return { code: text("code") || text("type"), message: text("message") };
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Nobody waits longer for an endpoint, whatever it says. */
const LONGEST_AFTER_MS = 600_000;

/** `retry-after-ms`, else `retry-after` as seconds or as a date. */
function retryAfter(headers: Headers, now: number): number | undefined {
  const ms = headers.get("retry-after-ms");
  const given = headers.get("retry-after");
  const wait =
    ms !== null
      ? Number(ms)
      : given === null
        ? Number.NaN
        : /^\s*[\d.]+\s*$/.test(given)
          ? Number(given) * 1000
          : Date.parse(given) - now;
  return Number.isFinite(wait) ? Math.min(Math.max(0, Math.ceil(wait)), LONGEST_AFTER_MS) : undefined;
}
