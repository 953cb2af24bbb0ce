/** Commands as child processes: what they print, line by line, and how they end. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));
const launcher = join(root, "bin/bullpen.mjs");

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** A command that runs on while the test does something else. */
export interface Running {
  readonly child: ChildProcess;
  /** Everything printed to stdout so far. */
  stdout(): string;
  stderr(): string;
  /** The first line, of those printed and those to come, that matches; rejects when the command ends first. */
  line(match: RegExp | string): Promise<string>;
  readonly ended: Promise<Ended>;
  /** Signals the command and all that it has started, as a terminal does. */
  signal(signal: NodeJS.Signals): void;
}

export interface CommandOptions {
  env?: Record<string, string>;
  /** Written to its standard input, which then ends. */
  input?: string;
}

/** Starts a program in a group of its own. */
export function start(file: string, args: string[], { env = {}, input }: CommandOptions = {}): Running {
  const child = spawn(file, args, {
    cwd: root,
    detached: true,
    env: { ...withoutOurs(), ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  const printed = { stdout: "", stderr: "" };
  const changed = new EventTarget();
  for (const name of ["stdout", "stderr"] as const)
    child[name].setEncoding("utf8").on("data", (text: string) => {
      printed[name] += text;
      changed.dispatchEvent(new Event("more"));
    });
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      resolve({ code, ...printed });
      changed.dispatchEvent(new Event("end"));
    });
  });
  const find = (match: RegExp | string): string | undefined =>
    `${printed.stdout}\n${printed.stderr}`
      .split("\n")
      .find((text) => (typeof match === "string" ? text.includes(match) : match.test(text)));
  return {
    child,
    ended,
    stdout: () => printed.stdout,
    stderr: () => printed.stderr,
    line(match) {
      return new Promise((resolve, reject) => {
        const look = (): void => {
          const found = find(match);
          if (found !== undefined) resolve(found);
        };
        changed.addEventListener("more", look);
        changed.addEventListener("end", () => {
          look();
          reject(new Error(`It ended without ${match}:\n${printed.stdout}\n${printed.stderr}`));
        });
        look();
      });
    },
    signal(signal) {
      const ended = child.exitCode !== null || child.signalCode !== null;
      if (child.pid !== undefined && !ended) process.kill(-child.pid, signal);
    },
  };
}

/** The tests' own settings must not decide what a user's command does. */
function withoutOurs(): NodeJS.ProcessEnv {
  const ours = /^(?:BULLPEN_|npm_|VITEST|NODE_OPTIONS$|ADMIN_TOKEN$|SIGNING_KEY$|SECRETS_KEY$)/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !ours.test(name)));
}

/** A user with a home of their own, whose profiles nobody else sees. */
export interface User {
  readonly home: string;
  readonly env: Record<string, string>;
  /** Runs `bullpen …` to its end. */
  bullpen(args: string[], options?: CommandOptions): Promise<Ended>;
  /** Starts `bullpen …` and leaves it running. */
  follow(args: string[], options?: CommandOptions): Running;
  /** Removes the home. */
  leave(): void;
}

export function newUser(env: Record<string, string> = {}): User {
  const home = mkdtempSync(join(tmpdir(), "bullpen-home-"));
  const all = { HOME: home, XDG_CONFIG_HOME: join(home, "config"), TZ: "UTC", ...env };
  const follow = (args: string[], options: CommandOptions = {}): Running =>
    start(process.execPath, [launcher, ...args], { ...options, env: { ...all, ...options.env } });
  return {
    home,
    env: all,
    follow,
    bullpen: (args, options) => follow(args, options).ended,
    leave: () => rmSync(home, { recursive: true, force: true }),
  };
}
