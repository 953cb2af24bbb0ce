/** `wrangler dev` as a child process that can be waited for and ended without leaving workerd behind. */
import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { toolEnvironment } from "./tool-environment.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const wrangler = fileURLToPath(new URL("../node_modules/wrangler/bin/wrangler.js", import.meta.url));

export interface DevServerOptions {
  /** 0, the default, takes a free one. */
  port?: number;
  /** Where objects and files live. Without it: `.wrangler/state` of the checkout. */
  persistTo?: string | undefined;
  /** Variables and secrets that go before those of `.dev.vars`. */
  vars?: Record<string, string>;
  /** Each line that wrangler prints. */
  onLine?: (line: string) => void;
  /** Ends the starting, and rejects. */
  signal?: AbortSignal;
}

/** A server that answered `/healthz`. */
export interface DevServer {
  readonly url: string;
  /** Resolves when the server's process has ended, by whatever hand. */
  readonly exited: Promise<void>;
  /** Everything printed so far. */
  output(): string;
  /** Ends it in good order and resolves when its processes are gone. */
  stop(): Promise<void>;
  /** Ends it at once, as a crash would (SIGKILL). */
  kill(): Promise<void>;
}

const READY = /Ready on (http:\/\/\S+)/;

/** Starts the Worker and resolves when it answers; rejects with what was printed when it ends before. */
export async function startDevServer(options: DevServerOptions = {}): Promise<DevServer> {
  const { port = 0, persistTo, vars = {}, onLine, signal: abort } = options;
  const args = ["dev", "--ip", "127.0.0.1", "--port", String(port), "--inspector-port", "0"];
  if (persistTo !== undefined) args.push("--persist-to", persistTo);
  for (const [name, value] of Object.entries(vars)) args.push("--var", `${name}:${value}`);
  // A group of its own: wrangler, its worker process and workerd are ended together.
  const child = spawn(process.execPath, [wrangler, ...args], {
    cwd: root,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...toolEnvironment, NO_COLOR: "1", CI: "1" },
  });
  const killGroup = () => signalGroup(child, "SIGKILL");
  process.once("exit", killGroup);
  const exited = new Promise<void>((resolve) => child.once("close", () => resolve()));
  void exited.then(() => process.removeListener("exit", killGroup));

  const printed: string[] = [];
  const ready = Promise.withResolvers<string>();
  const read = (chunk: string) => {
    const lines = stripVTControlCharacters(chunk).split("\n");
    printed.push(...lines);
    for (const line of lines) {
      onLine?.(line);
      const url = READY.exec(line)?.[1];
      if (url) ready.resolve(url);
    }
  };
  for (const stream of [child.stdout, child.stderr]) byLine(stream, read);
  void exited.then(() =>
    ready.reject(new Error(`The server ended before it was ready:\n${printed.join("\n")}`)),
  );

  const end = async (signal: NodeJS.Signals) => {
    signalGroup(child, signal);
    await exited;
    // Whoever of the group is left has lost its parent.
    killGroup();
  };
  const server = {
    exited,
    output: () => printed.join("\n"),
    stop: () => end("SIGTERM"),
    kill: () => end("SIGKILL"),
  };
  const giveUp = () => ready.reject(new Error("The start was called off."));
  abort?.addEventListener("abort", giveUp);
  if (abort?.aborted) giveUp();
  try {
    const url = await ready.promise;
    const health = await fetch(`${url}/healthz`);
    if (!health.ok) throw new Error(`/healthz answered ${health.status}:\n${printed.join("\n")}`);
    return { ...server, url };
  } catch (error) {
    await server.kill();
    throw error;
  } finally {
    abort?.removeEventListener("abort", giveUp);
  }
}

/** Whole lines only: a chunk ends anywhere. */
function byLine(stream: NodeJS.ReadableStream, read: (lines: string) => void): void {
  let rest = "";
  stream.setEncoding("utf8");
  stream.on("data", (chunk: string) => {
    const end = `${rest}${chunk}`.lastIndexOf("\n");
    const all = rest + chunk;
    rest = all.slice(end + 1);
    if (end >= 0) read(all.slice(0, end));
  });
  stream.on("end", () => rest && read(rest));
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // The group is gone.
  }
}
