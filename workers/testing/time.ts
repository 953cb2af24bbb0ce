/** Moving an office's clock, and what an office forgets. */
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import type { Office } from "../office/office.ts";
import type { Agent, Desk } from "./office.ts";

const offsets = new WeakMap<Desk, number>();

async function setClock(desk: Desk, then: (office: Office) => Promise<void>): Promise<void> {
  await runInDurableObject(desk.stub, async (office: Office) => {
    office.wall = () => Date.now() + (offsets.get(desk) ?? 0);
    await then(office);
  });
}

/** So much later, in steps in which an agent is heard: what was due by then has happened. */
export async function later(desk: Desk, ms: number, agent?: Agent): Promise<void> {
  const steps = agent ? Math.ceil(ms / 60_000) : 1;
  for (let n = 0; n < steps; n++) {
    offsets.set(desk, (offsets.get(desk) ?? 0) + Math.ceil(ms / steps));
    await setClock(desk, (office) => office.alarm());
    await agent?.must("ping");
  }
}

/** The office loses its memory; its sockets live on, or end. */
export async function evicted(desk: Desk, webSockets: "hibernate" | "close" = "hibernate"): Promise<void> {
  // One that sleeps already cannot be evicted.
  await desk.stub.rowCounts();
  await evictDurableObject(desk.stub, { webSockets });
  await setClock(desk, async () => {});
}
