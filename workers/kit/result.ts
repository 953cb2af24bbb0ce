/** Answers across objects: a union, never a throw, since a rejection over RPC leaks and loses its type. */
import type { ErrorCode, Refusal } from "../../src/shared/wire/errors.ts";

export type Result<T> = { ok: true; value: T } | { ok: false; error: Refusal; of?: string | undefined };

/** A refusal on its way up inside an object: it rolls the transaction back and never leaves as a throw. */
export class Refused extends Error {
  readonly refusal: Refusal;
  constructor(refusal: Refusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

/** Ends a write or a read with an error that says what to do (ERR-1). */
export function refuse(
  code: ErrorCode,
  message: string,
  more: Omit<Refusal, "code" | "message"> = {},
): never {
  throw new Refused({ code, message, ...more });
}

const CHECKS: Partial<Record<string, string>> = {
  person: "Check the handle: GET /v1/people lists them.",
  stream: "Streams are /people/<handle> and /people/<handle>/items/<item>.",
};

/** The one answer for what does not exist and for what is not yours to see (ERR-3). */
export function notFound(
  what:
    | "space"
    | "message"
    | "participant"
    | "attachment"
    | "token"
    | "invite"
    | "event"
    | "approval"
    | "question"
    | "grant"
    | "policy version"
    | "person"
    | "item"
    | "ticket"
    | "stream",
): never {
  const check = CHECKS[what] ?? "Check the id.";
  refuse("not_found", `There is no such ${what}, or you may not see it. ${check}`);
}

/** Runs a piece of an object's work and turns what it throws into the union. */
export function settle<T>(work: () => T, onFault: (error: unknown) => void): Result<T> {
  try {
    return { ok: true, value: work() };
  } catch (error) {
    return faultOf(error, onFault);
  }
}

export function faultOf(error: unknown, onFault: (error: unknown) => void): { ok: false; error: Refusal } {
  if (error instanceof Refused) return { ok: false, error: error.refusal };
  onFault(error);
  return {
    ok: false,
    error: { code: "internal", message: "Something went wrong here and nothing was changed. Try again." },
  };
}
