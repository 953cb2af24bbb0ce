/** The one error that the agent's client rejects with (OFF-4). */
import type { AgentErrorCode } from "../shared/wire/agent/index.ts";

/** The office's codes, and two of this side: no answer in time, and nothing more will be sent. */
export type OfficeErrorCode = AgentErrorCode | "timeout" | "closed";

/** A refusal of the office, or a fault on the way to it. `code` says which, `message` what to do. */
export class OfficeError extends Error {
  override readonly name = "OfficeError";
  readonly code: OfficeErrorCode;

  constructor(code: OfficeErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

/** Anything caught, as an `Error`. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
