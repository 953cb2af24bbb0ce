/** `bullpen agent` from start to end: one connection, and a process for each item. */
import { type Agent, type AgentOptions, connectAgent } from "../../agent/agent.ts";
import { OfficeError } from "../../agent/errors.ts";
import type { Item, ItemResult } from "../../agent/item.ts";
import { asError } from "../../sdk/errors.ts";
import { ItemDesk } from "./desk.ts";
import type { Happened } from "./tell.ts";
import { type WorkOptions, workItem } from "./work.ts";

export interface RunOptions
  extends Omit<WorkOptions, "desk" | "agent" | "onEnd" | "model">,
    Pick<AgentOptions, "url" | "token" | "handle" | "stateDir" | "runtime" | "model" | "agentVersion"> {
  workspaceName: string;
  tell: (happened: Happened) => void;
}

export interface RunningAgent {
  /** Resolves when it has ended, with the reason unless it was `close`. */
  readonly closed: Promise<OfficeError | undefined>;
  /** Hands back what runs, and resolves when its process is gone. */
  close(): Promise<void>;
}

/** Longer than a process that does not listen to SIGTERM has. */
const CLOSE_MS = 10_000;

/** Connects; resolves when the office has said welcome. */
export async function startAgent(options: RunOptions): Promise<RunningAgent> {
  const { url, token, handle, stateDir, tell } = options;
  const desk = await ItemDesk.open();
  let lost = false;
  let left = false;
  const agent: Agent = connectAgent({
    url,
    token,
    handle,
    stateDir,
    runtime: options.runtime,
    model: options.model,
    agentVersion: options.agentVersion,
    onItem: (item) =>
      told(item, tell, (onEnd) => workItem(item, workOptions(options, { desk, agent, onEnd }))),
    onError: (error) => tell({ event: "error", message: error.message }),
    onStatus({ state }) {
      if (state === "waiting" && !lost) tell({ event: "lost" });
      if (state === "open" && lost) tell({ event: "back" });
      if (state !== "connecting") lost = state === "waiting";
    },
  });
  void agent.closed.then(() => desk.close());
  const close = async (): Promise<void> => {
    if (!left) tell({ event: "leaving" });
    left = true;
    await agent.close({ timeoutMs: CLOSE_MS });
  };
  await agent.ready;
  tell({ event: "connected", person: handle, workspace: options.workspaceName });
  return { closed: agent.closed, close };
}

function workOptions(
  { model, ...options }: RunOptions,
  more: Pick<WorkOptions, "desk" | "agent" | "onEnd">,
): WorkOptions {
  return { ...options, ...more, model: model ?? "unknown" };
}

/** Tells the operator of an item what the office is told of it. */
async function told(
  item: Item,
  tell: (happened: Happened) => void,
  work: (onEnd: (how: string) => void) => Promise<ItemResult>,
): Promise<ItemResult> {
  const { id, kind, title, offer, signal } = item;
  tell({ event: "took", item: id, kind, title, ...(offer.interrupted ? { again: true } : {}) });
  let isEnded = false;
  const ended = (how: string, text?: string): void => {
    if (isEnded) return;
    isEnded = true;
    tell({ event: "ended", item: id, how, ...(text === undefined ? {} : { text }) });
  };
  try {
    const result = await work((how) => ended(how));
    const reason = signal.aborted ? asError(signal.reason) : undefined;
    if (reason instanceof OfficeError && reason.code === "closed") ended("interrupted");
    else if (reason && !isEnded) tell({ event: "stopped", item: id, why: reason.message });
    else if (typeof result === "string") ended("done", result);
    else ended(result?.status ?? "silent", result?.summary);
    return result;
  } catch (error) {
    ended("failed", asError(error).message);
    throw error;
  }
}
