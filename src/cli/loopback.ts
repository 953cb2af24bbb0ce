/**
 * A small endpoint on this machine's own address, for programs that we run: each is given a secret that is good
 * for what it was started for, and for nothing after that.
 */
import { createHash, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Reply {
  status: number;
  body: object;
}

/** Answers a request of whoever holds the secret; the signal says that nobody waits for it any more. */
export type Answer<T> = (holder: T, body: unknown, gone: AbortSignal) => Promise<Reply>;

export interface Admission {
  url: string;
  token: string;
  /** It is over: the secret opens nothing any more. */
  close(): void;
}

export interface LoopbackOptions<T> {
  path: string;
  /** The most that a body may have. */
  bytes: number;
  answer: Answer<T>;
  /** What one is told whose secret opens nothing. */
  stranger: string;
}

/** One endpoint for all that we have started. */
export class Loopback<T> {
  readonly #server: Server;
  readonly #options: LoopbackOptions<T>;
  /** By the secret's hash, so that looking one up takes the same time for any. */
  readonly #holders = new Map<string, T>();

  private constructor(options: LoopbackOptions<T>) {
    this.#options = options;
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch(() => send(response, 500, { error: "It failed here." }));
    });
  }

  static async open<T>(options: LoopbackOptions<T>): Promise<Loopback<T>> {
    const loopback = new Loopback(options);
    await new Promise<void>((resolve, reject) => {
      loopback.#server.once("error", reject);
      loopback.#server.listen(0, "127.0.0.1", resolve);
    });
    return loopback;
  }

  /** Lets one program in. */
  admit(holder: T): Admission {
    const token = randomBytes(32).toString("base64url");
    const key = hashOf(token);
    this.#holders.set(key, holder);
    const { port } = this.#server.address() as AddressInfo;
    return {
      url: `http://127.0.0.1:${port}${this.#options.path}`,
      token,
      close: () => void this.#holders.delete(key),
    };
  }

  close(): void {
    this.#holders.clear();
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { path, bytes, stranger, answer } = this.#options;
    // A page in a browser on this machine sends an origin with what it posts; no program of ours does.
    if (request.headers.origin !== undefined) return send(response, 403, { error: "Not for browsers." });
    const [, secret = ""] = /^Bearer (\S{1,200})$/u.exec(request.headers.authorization ?? "") ?? [];
    const holder = this.#holders.get(hashOf(secret));
    if (holder === undefined) return send(response, 401, { error: stranger });
    if (request.method !== "POST" || request.url !== path)
      return send(response, 404, { error: `POST ${path} is all that there is.` });
    const body = await bodyOf(request, bytes);
    if (body === undefined)
      return send(response, 422, { error: `The body must be JSON of at most ${bytes / 1024} KiB.` });
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    const reply = await answer(holder, body, gone.signal);
    if (!gone.signal.aborted) send(response, reply.status, reply.body);
  }
}

function hashOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

function send(response: ServerResponse, status: number, body: object): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, { "content-type": "application/json", connection: "close" });
  response.end(JSON.stringify(body));
}

/** The request's JSON; undefined when it is none, or too long. */
async function bodyOf(request: IncomingMessage, most: number): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength;
    if (bytes > most) return undefined;
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8"));
  } catch {
    return undefined;
  }
}
