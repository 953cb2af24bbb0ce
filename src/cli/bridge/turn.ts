/** One turn of a bridge: a folder, a process, its output, and what the room is told of it (BRIDGE-1). */
import type { Turn, TurnResult } from "../../sdk/index.ts";
import type { Attachment } from "../../shared/wire/parts.ts";
import type { AskDesk, Decide } from "./asks.ts";
import { type ChildEnd, startChild } from "./child.ts";
import { MOST_FILES, readLeft, type SavedFile, TurnFolder } from "./folder.ts";
import { LineSplitter } from "./lines.ts";
import { type Answer, outputOf } from "./output.ts";
import { bridgePrompt, type Mode } from "./prompt.ts";
import { StepTeller } from "./steps.ts";
import { TurnTimer } from "./timer.ts";
import { fitted, shortLine } from "./words.ts";

export interface BridgeOptions {
  command: readonly string[];
  mode: Mode;
  timeoutMs: number;
  stepsFromStderr: boolean;
  /** The largest file that the server takes. */
  fileBytes: number;
  /** The environment that the command inherits, but for BULLPEN_…: it must not act as the harness. */
  env: NodeJS.ProcessEnv;
  /** What `"$BULLPEN_BIN" ask-approval` runs. */
  bin: string;
  desk: AskDesk;
  download: (file: Attachment) => Promise<Response>;
  decide: Decide;
  /** For the operator: what the room is not told. */
  log: (line: string) => void;
}

/** Takes a turn; nothing is answered when it was stopped. */
export async function takeTurn(turn: Turn, options: BridgeOptions): Promise<TurnResult | undefined> {
  const folder = await TurnFolder.make();
  try {
    const files = await folder.fill(turn, options.download);
    const answer = await runCommand(turn, options, folder, files);
    if (turn.signal.aborted) return undefined;
    if (answer.failure !== undefined)
      return { text: `I could not answer: ${answer.failure}.`, outcome: "failed" };
    return await answered(turn, options, folder, files, answer.text);
  } finally {
    await folder.remove().catch((error: Error) => options.log(`${folder.path} stays: ${error.message}`));
  }
}

async function runCommand(
  turn: Turn,
  options: BridgeOptions,
  folder: TurnFolder,
  files: readonly SavedFile[],
): Promise<Answer> {
  const { mode, stepsFromStderr, desk } = options;
  const steps = new StepTeller(turn);
  let cut: string | undefined;
  const end = (why: string): void => {
    cut ??= why;
    child.stop();
  };
  const output = outputOf(mode, {
    step: (text, id) => steps.tell(text, id),
    usage: (totals) => void turn.usage(totals),
    tooMuch: () => end("it printed without end, and was stopped"),
  });
  const timer = new TurnTimer(options.timeoutMs, () => end("it took too long, and was stopped"));
  const admission = desk.admit(async (asked, signal) => {
    timer.pause();
    steps.pause();
    try {
      return await options.decide(asked, AbortSignal.any([signal, turn.signal]));
    } finally {
      steps.resume();
      timer.resume();
    }
  });
  const errors = new LineSplitter();
  const tellError = (lines: readonly string[]): void => {
    for (const line of lines) {
      options.log(line);
      // A progress bar writes over itself: its last state counts.
      if (stepsFromStderr) steps.tell(shortLine(line.split("\r").at(-1) ?? ""));
    }
  };
  const child = startChild({
    command: options.command,
    input: bridgePrompt(turn.prompt, { mode, folder, files }),
    env: { ...withoutOurs(options.env), ...admission.env, ...placesOf(turn, folder, options.bin) },
    // What it still prints on its way out is nobody's.
    onStdout: (chunk) => turn.signal.aborted || output.push(chunk),
    onStderr: (chunk) => turn.signal.aborted || tellError(errors.push(chunk)),
  });
  const stop = (): void => child.stop();
  turn.signal.addEventListener("abort", stop);
  if (turn.signal.aborted) stop();
  try {
    const ended = await child.ended;
    tellError(errors.end());
    const answer = output.end();
    if (ended.error) options.log(`${options.command[0]} could not be started: ${ended.error.message}`);
    return { text: answer.text, failure: failureOf(cut, ended, answer) };
  } finally {
    turn.signal.removeEventListener("abort", stop);
    admission.close();
    timer.close();
    await steps.close();
  }
}

/** Why there is no answer, shortly. What the agent says of it says more than an exit code. */
function failureOf(cut: string | undefined, ended: ChildEnd, answer: Answer): string | undefined {
  if (cut !== undefined) return cut;
  if (ended.error) return "the command could not be started";
  if (answer.failure !== undefined) return answer.failure.replace(/\.+$/u, "");
  if (ended.signal !== null) return `the command was ended by ${ended.signal}`;
  if (ended.code !== 0) return `the command ended with exit code ${ended.code}`;
  return answer.understood === false ? "it printed no events that the bridge understands" : undefined;
}

/** The reply with the files that were left for it. */
async function answered(
  turn: Turn,
  { fileBytes, log }: BridgeOptions,
  folder: TurnFolder,
  files: readonly SavedFile[],
  words: string,
): Promise<TurnResult> {
  const { text, whole } = fitted(words);
  if (whole !== undefined) await turn.attach(whole, { filename: "answer.md" });
  const left = await folder.left();
  const most = MOST_FILES - (whole === undefined ? 0 : 1);
  let missing = Math.max(0, left.length - most);
  let attached = whole === undefined ? 0 : 1;
  for (const file of left.slice(0, most)) {
    const bytes = await readLeft(file, fileBytes);
    try {
      if (typeof bytes === "string") throw new Error(bytes);
      // A file that came with the message and goes back under its name is its next version (FILE-1).
      const before = files.find(({ attachment }) => attachment.filename === file.name)?.attachment
        .attachment_id;
      await turn.attach(bytes, {
        filename: file.name,
        ...(before === undefined ? {} : { replaces: before }),
      });
      attached += 1;
    } catch (error) {
      turn.signal.throwIfAborted();
      log(`${file.name} was not attached: ${(error as Error).message}`);
      missing += 1;
    }
  }
  const silent = /^(?:NO_REPLY)?$/iu.test(text);
  const note = missing === 0 ? "" : `(${missing} ${missing === 1 ? "file" : "files"} could not be attached)`;
  if (attached === 0 && note === "") return { text: silent ? "" : text };
  return { text: [silent ? "" : text, note].filter(Boolean).join("\n\n"), outcome: "done" };
}

function placesOf(turn: Turn, folder: TurnFolder, bin: string): NodeJS.ProcessEnv {
  return {
    BULLPEN_BIN: bin,
    BULLPEN_IN: folder.in,
    BULLPEN_OUT: folder.out,
    BULLPEN_TURN_FILE: folder.turnFile,
    BULLPEN_RUN_ID: turn.runId,
    BULLPEN_SPACE_ID: turn.spaceId,
    BULLPEN_AGENT_ID: turn.agent.id,
  };
}

function withoutOurs(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !name.toUpperCase().startsWith("BULLPEN_")),
  );
}
