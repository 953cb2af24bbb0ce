/** The office's own agent at the turns of its connection and after every piece of work (CTX-7). */
import type { AgentPayload } from "../../../src/shared/wire/agent/index.ts";
import { actResult } from "../acts.ts";
import type { Desk } from "../desk.ts";
import { hashOf } from "../frames.ts";
import { hasEndings, tellAll } from "../reports.ts";
import type { Part } from "../turns.ts";
import { HOUSE, openHouse } from "./house.ts";
import { closeHouse, interruptRounds, stopRounds, takeOffer } from "./rounds.ts";

/** A frame that the office would have sent to an agent. */
interface ToAgent {
  type: string;
  payload: unknown;
}

/** What was said to the office's own agent is done at once, in the same transaction; whether there was anything. */
export function hearAll(desk: Desk, said: object[]): boolean {
  if (desk.connection?.id !== HOUSE || said.length === 0) return false;
  for (const frame of said.splice(0) as ToAgent[]) hear(desk, frame);
  return true;
}

function hear(desk: Desk, { type, payload }: ToAgent): void {
  if (type === "offer") takeOffer(desk, payload as AgentPayload<"offer">);
  else if (type === "reports") tellAll(desk);
  else if (type === "act") takeAct(desk, payload as AgentPayload<"act">);
}

/** An act is a change in somebody else's tracker, where this agent has no account (ACT-2). */
function takeAct(desk: Desk, { id }: AgentPayload<"act">): void {
  const result = {
    id,
    ok: false,
    results: [],
    error: `${desk.handle} is run by the office and has no account there. Make the change by hand, or have it made by somebody whose agent has one.`,
  };
  actResult(desk, result, hashOf("act_result", result));
}

export const FEED: Part = {
  ended(desk, connection) {
    if (connection === HOUSE) closeHouse(desk);
  },
  after(desk) {
    if (desk.connection?.id !== HOUSE) return;
    openHouse(desk);
    interruptRounds(desk);
    stopRounds(desk);
    if (hasEndings(desk.db)) tellAll(desk);
  },
};
