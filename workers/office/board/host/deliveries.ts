/** Deliveries of webhooks, each taken once (WORK-2). */
import { ofTeam } from "../../../../src/shared/rules/github/index.ts";
import type { WorkEvent } from "../../../../src/shared/wire/work.ts";
import type { BoardLedger } from "../ledger.ts";
import { takeEvent } from "../work/take.ts";

/** GitHub sends a delivery again for three days; the events themselves are known for ever (PIPE-3). */
const KEPT_MS = 30 * 86_400_000;

export interface Delivery {
  /** The id that its sender gave it. */
  delivery: string;
  /** Of the event's name and the body: the same again under another id is the same. */
  hash: string;
  events: WorkEvent[];
}

/**
 * Takes what a verified delivery says, unless its id or its hash was taken before, in the caller's transaction: a
 * fault leaves nothing behind, so that the sender may send it again. Repositories that the team does not name are
 * nothing. Answers the events' ids and whether it was new (WORK-2).
 */
export function takeDelivery(ledger: BoardLedger, given: Delivery): { taken: boolean; events: string[] } {
  const keys = [`id:${given.delivery}`, `hash:${given.hash}`];
  if (ledger.db.one("SELECT 1 FROM deliveries WHERE key IN (?, ?)", ...keys))
    return { taken: false, events: [] };
  for (const key of keys) ledger.db.run("INSERT INTO deliveries (key, at) VALUES (?, ?)", key, ledger.now);
  ledger.db.run("DELETE FROM deliveries WHERE at < ?", ledger.now - KEPT_MS);
  const events = ofTeam(given.events, ledger.team.repositories).map((event) => takeEvent(ledger, event));
  return { taken: true, events: events.map(({ id }) => id) };
}
