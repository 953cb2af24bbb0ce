/** A bridge from start to end: its harness's connection, and a process for each turn. */

import type * as z from "zod";
import { BullpenError } from "../../sdk/errors.ts";
import { connectHarness, type Harness } from "../../sdk/harness.ts";
import { newId } from "../../sdk/ids.ts";
import type { Turn } from "../../sdk/index.ts";
import type { runItem } from "../../shared/wire/http.ts";
import { all } from "../resolve.ts";
import { type Ask, AskDesk, type Decided } from "./asks.ts";
import { type BridgeOptions, takeTurn } from "./turn.ts";

type RunItem = z.infer<typeof runItem>;

export interface RunOptions extends Omit<BridgeOptions, "desk" | "download" | "decide"> {
  url: string;
  token: string;
  name: string;
  agentId: string | undefined;
  /** Told when the connection is lost, and when it is back. */
  onState(state: "lost" | "back"): void;
}

export interface Bridge {
  readonly agentId: string;
  readonly harnessId: string;
  /** Resolves when it has ended, with the reason unless it was `close`. */
  readonly closed: Promise<BullpenError | undefined>;
  /** Stops the turns going, and resolves when their processes are gone. */
  close(): Promise<void>;
}

/** Longer than a process that does not listen to SIGTERM has. */
const CLOSE_MS = 10_000;

/** Connects; resolves when the agent can be addressed. */
export async function startBridge(options: RunOptions): Promise<Bridge> {
  const { url, token, name, agentId, log } = options;
  const desk = await AskDesk.open();
  let lost = false;
  const harness: Harness = connectHarness({
    url,
    token,
    agents: [{ name, ...(agentId === undefined ? {} : { agent_id: agentId }) }],
    onTurn: (turn) =>
      takeTurn(turn, {
        ...options,
        desk,
        download: (file) => harness.download(file, { signal: turn.signal }),
        decide: (asked, signal) => decide(harness, turn, asked, signal),
      }),
    onStatus({ state }) {
      if (state === "waiting" && !lost) options.onState("lost");
      if (state === "open" && lost) options.onState("back");
      if (state !== "connecting") lost = state === "waiting";
    },
    onError: (error) => log(error.message),
  });
  void harness.closed.then(() => desk.close());
  const close = async (): Promise<void> => {
    await harness.close({ timeoutMs: CLOSE_MS });
    desk.close();
  };
  try {
    const welcome = await harness.ready;
    const agents = welcome.agents ?? [];
    const agent = agents.find((one) => one.agent_id === agentId) ?? agents.find((one) => one.name === name);
    if (!agent) throw new BullpenError("unavailable", `The server did not take ${name} as an agent.`);
    await endLeftOver(harness, agent.agent_id);
    return {
      agentId: agent.agent_id,
      harnessId: welcome.participant.participant_id,
      closed: harness.closed,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Ends the runs of a life of this bridge that was killed: their processes are nobody's any more, and the room
 * would show them as working for up to an hour (TURN-5).
 */
async function endLeftOver(harness: Harness, agentId: string): Promise<void> {
  const actor = agentId.startsWith("agt_") ? { kind: "agent" as const, id: agentId } : undefined;
  for (const { space_id } of await all<{ space_id: string }>(harness.http, "/v1/spaces"))
    for (const run of await all<RunItem>(harness.http, `/v1/spaces/${space_id}/runs`)) {
      const { run_id } = run;
      const ours = harness.turns.some((turn) => turn.runId === run_id);
      if (run.agent_id !== agentId || run.state === "ended" || ours) continue;
      const text = "I was interrupted, and have not finished this.";
      try {
        await harness.send("message.post", { space_id, run_id, text }, { actor });
        await harness.send("run.end", { run_id, outcome: "failed" }, { actor });
      } catch (error) {
        // It has ended since, or nothing may be said there any more: then there is nothing to end.
        if (!(error instanceof BullpenError) || error.retryable) throw error;
      }
    }
}

/** Asks the room. When the signal says that nobody waits any more the ask is taken back. */
async function decide(harness: Harness, turn: Turn, asked: Ask, signal: AbortSignal): Promise<Decided> {
  signal.throwIfAborted();
  const approval_id = newId("apr");
  const { agent } = turn;
  const takeBack = (): void => {
    const actor = agent.id.startsWith("agt_") ? { kind: "agent" as const, id: agent.id } : undefined;
    // Of a run that is over the room has taken it back itself (APR-9).
    harness.send("approval.cancel", { approval_id }, { actor }).catch(() => {});
  };
  signal.addEventListener("abort", takeBack, { once: true });
  try {
    return await turn.approve({ ...asked, approval_id });
  } finally {
    signal.removeEventListener("abort", takeBack);
  }
}
