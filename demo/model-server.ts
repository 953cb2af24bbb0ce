/**
 * A model that answers by a script, over real HTTP as a provider would: OpenAI's Chat Completions and Responses, as a
 * stream or whole, with faults on demand. Tests and the demo use it, so that nothing needs a key or a network.
 *
 * Every model name has a script of its own: answers that are given in order, then what the server's `mind` says. A
 * test in another process writes and reads it at `/script/<model>`.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import {
  type Asked,
  askedIn,
  type Fault,
  FORMS,
  refusal,
  type Said,
  type Scripted,
  type Seen,
} from "./model-wire.ts";

export type { Fault, Scripted, Seen } from "./model-wire.ts";

export interface ModelServerOptions {
  /** 0, the default, takes a free one. */
  port?: number;
  /** Answers what no script has an answer for. */
  mind?: (asked: Asked) => Scripted;
}

export interface ModelServer {
  /** What `OPENAI_BASE_URL` is set to. */
  readonly baseUrl: string;
  readonly url: string;
  /** Adds answers to a model's script. */
  script(model: string, ...answers: Scripted[]): void;
  /** The requests for a model, in order. */
  seen(model: string): readonly Seen[];
  /** Resolves once so many requests came, and so many of them ended. */
  until(model: string, came: number, ended?: number): Promise<void>;
  /** What is held goes on. */
  release(model: string): void;
  close(): Promise<void>;
}

/** A request whose answer would be larger than this is no test of ours. */
const LARGEST = 64 * 1024 * 1024;
const LONGEST_WAIT_MS = 25_000;

class Channel {
  readonly answers: Scripted[] = [];
  readonly seen: Seen[] = [];
  readonly #waiting = new Set<() => void>();
  #held: (() => void)[] = [];

  changed(): void {
    for (const check of this.#waiting) check();
  }
  until(came: number, ended: number, signal?: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const stop = (so: boolean) => {
        this.#waiting.delete(check);
        resolve(so);
      };
      const check = () => {
        const over = this.seen.filter(({ state }) => state !== "open").length;
        if (this.seen.length >= came && over >= ended) stop(true);
      };
      this.#waiting.add(check);
      signal?.addEventListener("abort", () => stop(false), { once: true });
      check();
    });
  }
  held(): Promise<void> {
    return new Promise((resolve) => this.#held.push(resolve));
  }
  release(): void {
    for (const go of this.#held.splice(0)) go();
  }
}

export async function startModelServer(options: ModelServerOptions = {}): Promise<ModelServer> {
  const { port = 0, mind = () => ({ text: "I am a demo and answer by a script." }) } = options;
  const channels = new Map<string, Channel>();
  const channel = (model: string): Channel => {
    const there = channels.get(model) ?? new Channel();
    channels.set(model, there);
    return there;
  };
  const server = createServer((request, response) => {
    handle(request, response, channel, mind).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : new Error(String(error)));
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => resolve());
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    baseUrl: `${url}/v1`,
    script: (model, ...answers) => void channel(model).answers.push(...answers),
    seen: (model) => channel(model).seen,
    until: async (model, came, ended = 0) => void (await channel(model).until(came, ended)),
    release: (model) => channel(model).release(),
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function handle(
  request: IncomingMessage,
  response: ServerResponse,
  channel: (model: string) => Channel,
  mind: NonNullable<ModelServerOptions["mind"]>,
): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://model");
  const [, first = "", model = "", verb] = pathname.split("/");
  if (first === "script")
    return control(request, response, channel(decodeURIComponent(model)), verb, searchParams);
  const form =
    pathname === "/v1/chat/completions" ? "chat" : pathname === "/v1/responses" ? "responses" : undefined;
  if (!form || request.method !== "POST")
    return json(response, 404, refusal(404, `There is no ${request.method} ${pathname} here.`));
  const text = await bodyOf(request);
  const body = parsed(text);
  const asked = askedIn(form, body);
  if (!asked.success) {
    const { message, path } = asked.error.issues[0] ?? { message: "", path: [] };
    return json(response, 400, refusal(400, `${path.join(".")}: ${message}`));
  }
  const of = channel(asked.data.model);
  const { authorization } = request.headers;
  const seen: Seen = { path: pathname, authorization, body, state: "open" };
  of.seen.push(seen);
  response.once("close", () => {
    seen.state = response.writableFinished ? "answered" : "left";
    of.changed();
  });
  of.changed();
  await answer(response, asked.data, of.answers.shift() ?? mind(asked.data), of, text.length);
}

/** `PUT` adds answers, `GET ?came=&ended=` waits and tells what came, `POST …/release` lets go on. */
async function control(
  request: IncomingMessage,
  response: ServerResponse,
  of: Channel,
  verb: string | undefined,
  query: URLSearchParams,
): Promise<void> {
  if (request.method === "PUT") of.answers.push(...(JSON.parse(await bodyOf(request)) as Scripted[]));
  else if (verb === "release") of.release();
  else {
    const came = Number(query.get("came") ?? 0);
    const timeUp = AbortSignal.timeout(LONGEST_WAIT_MS);
    if (!(await of.until(came, Number(query.get("ended") ?? 0), timeUp)))
      return json(response, 504, { message: `waited in vain; ${of.seen.length} requests came` });
  }
  json(response, 200, { requests: of.seen, left: of.answers.length });
}

async function answer(
  response: ServerResponse,
  asked: Asked,
  scripted: Scripted,
  of: Channel,
  size: number,
): Promise<void> {
  const { fault, text = "", calls = [], ended = "stop" } = scripted;
  if (fault?.kind === "silent") return;
  if (fault?.kind === "status") {
    if (fault.retryAfterS !== undefined) response.setHeader("retry-after", fault.retryAfterS);
    return json(response, fault.status, refusal(fault.status, "As the script says.", fault.code));
  }
  const counted = { input: Math.ceil(size / 4), output: Math.ceil((text.length + 1) / 4) };
  const said: Said = { text, calls, ended, usage: scripted.usage ?? counted };
  const form = FORMS[asked.form];
  if (!asked.stream) return json(response, 200, form.whole(said));

  response.writeHead(200, { "content-type": "text/event-stream" });
  // So that a client sees the answer begin, however long the first piece takes.
  response.flushHeaders();
  const strikes = fault && "after" in fault ? fault.after : Number.POSITIVE_INFINITY;
  let sent = 0;
  let struck = false;
  for (const { data, event, isText } of form.frames(said)) {
    if (sent === strikes && !struck) {
      struck = true;
      if (await strike(response, fault, of)) return;
    }
    if (response.destroyed) return;
    await write(response, `${event === undefined ? "" : `event: ${event}\n`}data: ${data}\n\n`);
    if (isText) sent += 1;
    if (isText && fault?.kind === "slow") await pause(fault.ms);
  }
  response.end();
}

/** Resolves once it has left: a connection that is cut afterwards has carried it. */
function write(response: ServerResponse, text: string): Promise<void> {
  return new Promise((resolve) => {
    response.write(text, () => resolve());
  });
}

/** Lets a fault happen; whether it was the end. */
async function strike(response: ServerResponse, fault: Fault | undefined, of: Channel): Promise<boolean> {
  switch (fault?.kind) {
    case "held":
      await of.held();
      return false;
    case "cut":
      response.destroy();
      return true;
    case "unfinished":
      response.end();
      return true;
    case "malformed":
      await write(response, 'data: {"this is": no JSON\n\n');
      return false;
    case "broken":
      response.end(`event: error\ndata: ${JSON.stringify({ type: "error", ...errorOf(fault.code) })}\n\n`);
      return true;
    default:
      return false;
  }
}

const errorOf = (code: string) => ({
  code,
  message: "As the script says.",
  error: { code, message: "As the script says." },
});

/** What is no JSON is undefined, which no form takes. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request) {
    size += (part as Buffer).length;
    if (size > LARGEST) throw new Error("too large");
    parts.push(part as Buffer);
  }
  return Buffer.concat(parts).toString("utf8");
}

function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}
