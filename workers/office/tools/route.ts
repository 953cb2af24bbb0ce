/** Calls of an agent that runs elsewhere: its own token has them carried out here (CTX-8). */
import type * as z from "zod";
import type { officeCall, officeCalled } from "../../../src/shared/wire/context/call.ts";
import { refuse } from "../../kit/result.ts";
import type { Identity } from "../letters.ts";
import { officeHost } from "./host.ts";
import type { Needs } from "./say.ts";

/** Only the person's own agent has its office act for it. */
function mayCall(need: Needs, by: Identity): void {
  const { handle } = need.look();
  if (by.kind !== "agent" || by.handle !== handle || !by.scopes.includes("agent"))
    refuse("forbidden", `Only the agent of ${handle} makes calls here. Use its own token.`);
}

/** A call, or one of these ids that is over: whatever it waits for is taken back. */
export type AgentCall = z.infer<typeof officeCall> | { over: string; item?: string | undefined };
export type AgentCalled = z.infer<typeof officeCalled>;

export async function agentCall(need: Needs, by: Identity, asked: AgentCall): Promise<AgentCalled> {
  mayCall(need, by);
  const host = officeHost(need);
  const path = `/people/${by.handle}${asked.item === undefined ? "" : `/items/${asked.item}`}`;
  if ("over" in asked) {
    await host.withdraw?.({ id: asked.over, path, tool: "", input: {} });
    return { ok: true, output: null };
  }
  const { id, tool, input } = asked;
  const called = await host.call({ id, path, tool, input }, new AbortController().signal);
  return called === "later" ? { later: true } : called;
}
