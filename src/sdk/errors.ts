/** The one error that the SDK rejects with, whichever way the refusal came (ERR-1). */
import { ERROR_STATUS, type ErrorCode, type ErrorFrame, isRetryable } from "../shared/wire/errors.ts";

export interface BullpenErrorOptions {
  retryable?: boolean | undefined;
  details?: ErrorFrame["details"] | undefined;
  retryAfterS?: number | undefined;
  /** The HTTP status, when it came over HTTP. */
  status?: number | undefined;
  cause?: unknown;
}

/** A refusal. `code` says which; `message` is one plain sentence that says what to do. */
export class BullpenError extends Error {
  override readonly name = "BullpenError";
  readonly code: ErrorCode;
  /** Whether the same request may succeed unchanged (ERR-2). */
  readonly retryable: boolean;
  /** What is wrong, path by path. */
  readonly details: NonNullable<ErrorFrame["details"]>;
  /** With `rate_limited`: seconds until it is worth another try. */
  readonly retryAfterS: number | undefined;
  readonly status: number | undefined;

  constructor(code: ErrorCode, message: string, options: BullpenErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.retryable = options.retryable ?? isRetryable(code);
    this.details = options.details ?? [];
    this.retryAfterS = options.retryAfterS;
    this.status = options.status;
  }

  /** Reads the server's own form, a frame or a body. */
  static of(frame: ErrorFrame, status?: number): BullpenError {
    return new BullpenError(frame.code, frame.message, {
      retryable: frame.retryable,
      details: frame.details,
      retryAfterS: frame.retry_after_s,
      status,
    });
  }
}

/** Whether a decoded body is the server's error, so that its code can be trusted. */
export function isErrorFrame(value: unknown): value is ErrorFrame {
  if (typeof value !== "object" || value === null) return false;
  const { type, code, message } = value as Record<string, unknown>;
  return (
    type === "error" &&
    typeof code === "string" &&
    Object.hasOwn(ERROR_STATUS, code) &&
    typeof message === "string"
  );
}

const BY_STATUS: Record<number, ErrorCode> = {
  ...Object.fromEntries(Object.entries(ERROR_STATUS).map(([code, status]) => [status, code as ErrorCode])),
  404: "not_found",
  422: "invalid",
};

/** The nearest code for an answer that somebody between us and the server wrote. */
export function codeOfStatus(status: number): ErrorCode {
  return BY_STATUS[status] ?? (status >= 500 ? "unavailable" : "invalid");
}

/** Anything caught, as an `Error`. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
