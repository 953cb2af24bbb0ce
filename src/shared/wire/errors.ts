import * as z from "zod";

/** Every error code of the rooms' wire and its HTTP status (ERR-2). */
export const ERROR_STATUS = {
  malformed: 400,
  invalid: 422,
  unknown_type: 422,
  run_required: 422,
  unknown_run: 404,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  gone: 410,
  too_large: 413,
  unsupported: 415,
  rate_limited: 429,
  unavailable: 503,
  internal: 500,
} as const;
export type ErrorCode = keyof typeof ERROR_STATUS;
const CODES = Object.keys(ERROR_STATUS) as [ErrorCode, ...ErrorCode[]];

/** True for the codes after which the same request may succeed unchanged (ERR-2). */
export function isRetryable(code: ErrorCode): boolean {
  return code === "rate_limited" || code === "unavailable" || code === "internal";
}

/** The one form of an error, as a frame and as an HTTP body (ERR-1). */
export const errorFrame = z
  .object({
    v: z.literal(1).optional(),
    type: z.literal("error"),
    code: z.enum(CODES),
    message: z.string().describe("A sentence for people that says what to do."),
    retryable: z.boolean().describe("Whether the same request may succeed unchanged, later."),
    of: z.string().optional().describe("The id of the frame that this answers."),
    details: z
      .array(
        z.object({
          path: z.string(),
          line: z.int().positive().optional().describe("Of the document that was sent."),
          message: z.string(),
        }),
      )
      .optional()
      .describe("What is wrong, path by path."),
    retry_after_s: z.number().optional().describe("Seconds until it is worth another try."),
  })
  .describe("A refusal, as a frame and as the body of an HTTP answer. Nothing of what was asked was done.");
export type ErrorFrame = z.infer<typeof errorFrame>;

/** A refusal before it has become a frame. */
export interface Refusal {
  code: ErrorCode;
  message: string;
  details?: { path: string; line?: number; message: string }[];
  retry_after_s?: number;
}

/** Builds the frame of a refusal; `of` names what it answers (ERR-1). */
export function errorOf(refusal: Refusal, of?: string): ErrorFrame {
  return {
    v: 1,
    type: "error",
    code: refusal.code,
    message: refusal.message,
    retryable: isRetryable(refusal.code),
    ...(of === undefined ? {} : { of }),
    ...(refusal.details === undefined ? {} : { details: refusal.details }),
    ...(refusal.retry_after_s === undefined ? {} : { retry_after_s: refusal.retry_after_s }),
  };
}
