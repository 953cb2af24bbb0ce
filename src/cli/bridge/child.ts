/** One process for one turn, in a group of its own, so that what it has started ends with it. */
import { spawn } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";

export interface ChildOptions {
  command: readonly string[];
  /** Written to its standard input, which then ends. */
  input: string;
  env: NodeJS.ProcessEnv;
  /** Where it runs; where we are, unless said. */
  cwd?: string | undefined;
  onStdout: (chunk: Buffer) => void;
  onStderr: (chunk: Buffer) => void;
  /** How long after SIGTERM the group gets SIGKILL. */
  killAfterMs?: number;
}

export interface ChildEnd {
  code: number | null;
  signal: NodeJS.Signals | null;
  /** It could not be started at all. */
  error?: Error;
}

export interface Child {
  /** Resolves when the process and all of its group are gone, and its output has been read. */
  readonly ended: Promise<ChildEnd>;
  /** Ends the group: SIGTERM, then SIGKILL. */
  stop(): void;
}

const KILL_AFTER_MS = 5000;
/** How long output may stay open once the group is gone: something has left the group and holds it. */
const DRAIN_MS = 1000;
const WINDOWS = process.platform === "win32";

/** The groups going now, for the case that this process ends without a chance to wait for them. */
const groups = new Set<number>();

function killAll(): void {
  for (const pid of groups) signalGroup(pid, "SIGKILL");
}

/** Starts a command. The command line is the operator's own; what a room says comes only by standard input. */
export function startChild(options: ChildOptions): Child {
  const { command, input, env, cwd, killAfterMs = KILL_AFTER_MS } = options;
  const [file = "", ...args] = command;
  const child = spawn(file, args, {
    env,
    ...(cwd === undefined ? {} : { cwd }),
    detached: !WINDOWS,
    // Windows finds claude.cmd and its like only through a shell.
    shell: WINDOWS,
    windowsHide: true,
    stdio: ["pipe", "pipe", "pipe"],
  });
  const { pid } = child;
  if (pid !== undefined) {
    if (groups.size === 0 && !process.listeners("exit").includes(killAll)) process.on("exit", killAll);
    groups.add(pid);
  }
  // A command that does not read its input closes it, which is no fault.
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  child.stdout.on("data", options.onStdout);
  child.stderr.on("data", options.onStderr);

  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const exited = new Promise<ChildEnd>((resolve) => {
    child.once("exit", (code, signal) => resolve({ code, signal }));
    child.on("error", (error) => {
      if (pid === undefined) resolve({ code: null, signal: null, error });
    });
  });
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopping ??= pid === undefined ? Promise.resolve() : endGroup(pid, killAfterMs);
    return stopping;
  };
  const finish = async (): Promise<ChildEnd> => {
    const end = await exited;
    if (pid === undefined) return end;
    // What it has left running would hold its output open, and go on after the turn.
    await stop();
    groups.delete(pid);
    await Promise.race([closed, pause(DRAIN_MS, undefined, { ref: false })]);
    child.stdout.destroy();
    child.stderr.destroy();
    return end;
  };
  return { ended: finish(), stop: () => void stop() };
}

/** Ends a group and resolves when nobody of it is left. */
async function endGroup(pid: number, killAfterMs: number): Promise<void> {
  if (WINDOWS) return await taskkill(pid);
  if (!signalGroup(pid, "SIGTERM")) return;
  const killAt = Date.now() + killAfterMs;
  let killed = false;
  while (signalGroup(pid, 0)) {
    if (!killed && Date.now() >= killAt) killed = signalGroup(pid, "SIGKILL");
    // Dead ones that nobody has collected count as there: they are not waited for without end.
    else if (killed && Date.now() >= killAt + DRAIN_MS) return;
    await pause(20);
  }
}

/** Signals a group; false when nobody of it is left. */
function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(WINDOWS ? pid : -pid, signal);
    return true;
  } catch (error) {
    // Somebody is there who has become another user, as with sudo.
    return (error as NodeJS.ErrnoException).code === "EPERM" && signal === 0;
  }
}

/** The nearest thing on Windows: the tree of what the process has started, while it is there to be followed. */
function taskkill(pid: number): Promise<void> {
  return new Promise((resolve) => {
    const killer = spawn("taskkill", ["/pid", String(pid), "/t", "/f"], {
      stdio: "ignore",
      windowsHide: true,
    });
    killer.once("error", () => resolve());
    killer.once("exit", () => resolve());
  });
}
