/**
 * Approvals for a wrapped program: a small endpoint on this machine's own address. A turn's program is given its
 * address and a secret that is good for this turn alone; it asks, and is answered when the room has decided.
 */
import * as z from "zod";
import { BullpenError } from "../../sdk/errors.ts";
import { action, riskClass } from "../../shared/wire/approval.ts";
import { Loopback, type Reply } from "../loopback.ts";

/** What a program says of what it is about to do. */
export const ask = z.strictObject({
  action,
  question: z.string().max(8000).optional(),
  effect: z.string().max(8000).optional(),
  risk: z.array(riskClass).default([]),
  lasts: z.enum(["once", "standing"]).optional(),
  editable: z.boolean().optional(),
  preview: z
    .object({
      format: z.enum(["markdown", "plain", "diff", "json", "table"]),
      body: z.string(),
      title: z.string().optional(),
    })
    .optional(),
  /** Seconds. */
  expires_in: z.number().min(1).default(86_400),
});
export type Ask = z.infer<typeof ask>;

export const decided = z.object({
  decision: z.enum(["allow", "deny"]),
  via: z.string().optional(),
  by: z.string().optional(),
  input: z.unknown().optional(),
});
export type Decided = z.infer<typeof decided>;

/** Puts an ask to the room; the signal takes it back. */
export type Decide = (asked: Ask, signal: AbortSignal) => Promise<Decided>;

/** The server's own limit (ASK_BYTES), with room for the frame around it. */
const BODY_BYTES = 256 * 1024;

export interface Admission {
  /** For the program's environment. */
  env: { BULLPEN_ASK_URL: string; BULLPEN_ASK_TOKEN: string };
  /** The turn is over: its secret opens nothing any more. */
  close(): void;
}

/** The endpoint of one bridge, for all of its turns. */
export class AskDesk {
  readonly #loopback: Loopback<Decide>;

  private constructor(loopback: Loopback<Decide>) {
    this.#loopback = loopback;
  }

  static async open(): Promise<AskDesk> {
    return new AskDesk(
      await Loopback.open<Decide>({
        path: "/approvals",
        bytes: BODY_BYTES,
        stranger: "No turn that is going has this token.",
        answer,
      }),
    );
  }

  /** Lets one turn's program ask. */
  admit(decide: Decide): Admission {
    const admitted = this.#loopback.admit(decide);
    return {
      env: { BULLPEN_ASK_URL: admitted.url, BULLPEN_ASK_TOKEN: admitted.token },
      close: () => admitted.close(),
    };
  }

  close(): void {
    this.#loopback.close();
  }
}

async function answer(decide: Decide, body: unknown, gone: AbortSignal): Promise<Reply> {
  const asked = ask.safeParse(body);
  if (!asked.success) return { status: 422, body: { error: z.prettifyError(asked.error) } };
  try {
    return { status: 200, body: await decide(asked.data, gone) };
  } catch (error) {
    const said = error instanceof BullpenError ? `${error.message} (${error.code})` : "The turn has ended.";
    return { status: 409, body: { error: said } };
  }
}
