/** One item of `bullpen agent`: a process, what it prints, and how the round ends by it. */
import type { Agent } from "../../agent/agent.ts";
import type { Item, ItemResult } from "../../agent/item.ts";
import { type ChildEnd, startChild } from "../bridge/child.ts";
import { LineSplitter } from "../bridge/lines.ts";
import { type Answer, outputOf } from "../bridge/output.ts";
import type { Mode } from "../bridge/prompt.ts";
import { StepTeller } from "../bridge/steps.ts";
import { shortLine } from "../bridge/words.ts";
import type { ItemDesk } from "./desk.ts";
import { itemInput } from "./input.ts";
import { SessionReader } from "./session.ts";

export interface WorkOptions {
  command: readonly string[];
  cwd: string | undefined;
  mode: Mode;
  timeoutMs: number | undefined;
  /** The environment that the command inherits, but for BULLPEN_…: it must not act as the agent. */
  env: NodeJS.ProcessEnv;
  /** What `"$BULLPEN_BIN" item` runs. */
  bin: string;
  /** The model's name where the command's stream does not say it. */
  model: string;
  desk: ItemDesk;
  agent: Pick<Agent, "request">;
  /** For the operator: what the command prints to standard error. */
  log: (line: string) => void;
  /** The round was ended by the command itself. */
  onEnd: (how: string) => void;
}

/** Of standard error, so many lines say why it failed. */
const LAST_LINES = 8;

/** Runs the command for an item. Its end is the round's, unless it has ended the round itself. */
export async function workItem(item: Item, options: WorkOptions): Promise<ItemResult> {
  const { command, cwd, mode, desk, agent, log, onEnd, bin, timeoutMs } = options;
  const admission = desk.admit({ item, agent, onEnd });
  const steps = new StepTeller({ step: (text) => item.progress(text), signal: item.signal });
  let cut: string | undefined;
  const end = (why: string): void => {
    cut ??= why;
    child.stop();
  };
  const output = outputOf(mode, {
    step: (text) => steps.tell(text),
    usage: () => {},
    tooMuch: () => end("It printed without end, and was stopped."),
  });
  const session = new SessionReader(
    {
      // Told in passing: that it was refused is no reason to end the work.
      session: (id, model) => void item.session(id, model).catch(() => {}),
      used: (id, models) => item.used(id, models),
    },
    options.model,
  );
  const last: string[] = [];
  const errors = new LineSplitter();
  const tellErrors = (lines: readonly string[]): void => {
    for (const line of lines) {
      log(line);
      last.push(line);
      if (last.length > LAST_LINES) last.shift();
    }
  };
  const child = startChild({
    command,
    cwd,
    input: itemInput(item.prompt, mode),
    env: {
      ...withoutOurs(options.env),
      ...admission.env,
      ...sessionOf(item),
      BULLPEN_BIN: bin,
    },
    onStdout(chunk) {
      if (item.signal.aborted) return;
      output.push(chunk);
      if (mode === "stream-json") session.push(chunk);
    },
    onStderr: (chunk) => tellErrors(errors.push(chunk)),
  });
  const stop = (): void => child.stop();
  item.signal.addEventListener("abort", stop);
  if (item.signal.aborted) stop();
  const timer =
    timeoutMs === undefined
      ? undefined
      : setTimeout(() => end("It took too long, and was stopped."), timeoutMs);
  try {
    const ended = await child.ended;
    tellErrors(errors.end());
    if (mode === "stream-json") session.end();
    // Stopped, or the agent leaves: what it printed on its way out is nobody's.
    if (item.signal.aborted) return undefined;
    return resultOf(cut, ended, output.end(), last);
  } finally {
    clearTimeout(timer);
    item.signal.removeEventListener("abort", stop);
    admission.close();
    await steps.close();
  }
}

/** The summary, or nothing to hand on; a failure is thrown, with what the command said of it. */
function resultOf(
  cut: string | undefined,
  ended: ChildEnd,
  answer: Answer,
  last: readonly string[],
): ItemResult {
  const why = cut ?? failureOf(ended, answer);
  if (why === undefined) return /^(?:NO_REPLY)?$/iu.test(answer.text) ? undefined : answer.text;
  const said = last.map((line) => shortLine(line)).filter((line) => line !== "");
  throw new Error([why, ...said].join("\n"));
}

/** What the agent says of it says more than an exit code. */
function failureOf(ended: ChildEnd, answer: Answer): string | undefined {
  if (ended.error) return `The command could not be started: ${shortLine(ended.error.message)}`;
  if (answer.failure !== undefined) return answer.failure;
  if (ended.signal !== null) return `The command was ended by ${ended.signal}.`;
  if (ended.code !== 0) return `The command ended with exit code ${ended.code}.`;
  return answer.understood === false ? "It printed no events that are understood." : undefined;
}

/** The runtime's session of earlier rounds, for a command that can go on with one. */
function sessionOf({ offer }: Item): NodeJS.ProcessEnv {
  const { sessionId } = offer;
  // It comes to a shell as it is: what is no plain name is none that a runtime has given.
  return sessionId !== undefined && /^\w[\w.:-]{0,199}$/.test(sessionId)
    ? { BULLPEN_ITEM_SESSION: sessionId }
    : {};
}

function withoutOurs(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !name.toUpperCase().startsWith("BULLPEN_")),
  );
}
