/**
 * Approvals for a wrapped program: a small endpoint on this machine's own address. A turn's program is given its
 * address and a secret that is good for this turn alone; it asks, and is answered when the room has decided.
 */
import { createHash, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import * as z from "zod";
import { BullpenError } from "../../sdk/errors.ts";
import { action, riskClass } from "../../shared/wire/approval.ts";

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
  readonly #server: Server;
  /** By the secret's hash, so that looking one up takes the same time for any. */
  readonly #turns = new Map<string, Decide>();

  private constructor() {
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch(() => reply(response, 500, { error: "The bridge failed." }));
    });
  }

  static async open(): Promise<AskDesk> {
    const desk = new AskDesk();
    await new Promise<void>((resolve, reject) => {
      desk.#server.once("error", reject);
      desk.#server.listen(0, "127.0.0.1", resolve);
    });
    return desk;
  }

  /** Lets one turn's program ask. */
  admit(decide: Decide): Admission {
    const secret = randomBytes(32).toString("base64url");
    const key = hashOf(secret);
    this.#turns.set(key, decide);
    const { port } = this.#server.address() as AddressInfo;
    return {
      env: { BULLPEN_ASK_URL: `http://127.0.0.1:${port}/approvals`, BULLPEN_ASK_TOKEN: secret },
      close: () => void this.#turns.delete(key),
    };
  }

  close(): void {
    this.#turns.clear();
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // A page in a browser on this machine sends an origin with what it posts; no program of ours does.
    if (request.headers.origin !== undefined) return reply(response, 403, { error: "Not for browsers." });
    const [, secret = ""] = /^Bearer (\S{1,200})$/u.exec(request.headers.authorization ?? "") ?? [];
    const decide = this.#turns.get(hashOf(secret));
    if (!decide) return reply(response, 401, { error: "No turn that is going has this token." });
    if (request.method !== "POST" || request.url !== "/approvals")
      return reply(response, 404, { error: "POST /approvals is all that there is." });
    const body = await bodyOf(request);
    const asked = body === undefined ? undefined : ask.safeParse(body);
    if (!asked?.success)
      return reply(response, 422, {
        error: asked ? z.prettifyError(asked.error) : "The body must be JSON of at most 256 KiB.",
      });
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    try {
      reply(response, 200, await decide(asked.data, gone.signal));
    } catch (error) {
      if (gone.signal.aborted) return;
      const said = error instanceof BullpenError ? `${error.message} (${error.code})` : "The turn has ended.";
      reply(response, 409, { error: said });
    }
  }
}

function hashOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

function reply(response: ServerResponse, status: number, body: object): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, { "content-type": "application/json", connection: "close" });
  response.end(JSON.stringify(body));
}

/** The request's JSON; undefined when it is none, or too long. */
async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength;
    if (bytes > BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8"));
  } catch {
    return undefined;
  }
}
