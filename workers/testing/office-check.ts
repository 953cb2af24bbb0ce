/** What holds in two offices after every step of random work (office-world.ts), whatever happened. */
import { runInDurableObject } from "cloudflare:test";
import type { Any } from "./client.ts";
import { lettersNow } from "./letters.ts";
import { type Agent, type Desk, delivered, eventually, seen } from "./office.ts";
import { HANDLES, type Handle, type Item } from "./office-steps.ts";

/** The offices, and what the model knows of them. */
export interface Known {
  readonly desks: Record<Handle, Desk>;
  readonly items: readonly Item[];
  readonly agents: Partial<Record<Handle, Agent>>;
  readonly quiet: ReadonlySet<Agent>;
  /** What did not hold. */
  readonly faults: string[];
}

export function same({ faults }: Known, what: string, got: unknown, wanted: unknown): void {
  const [a, b] = [JSON.stringify(got), JSON.stringify(wanted)];
  if (a !== b) faults.push(`${what}: ${a} is not ${b}`);
}

/** What the office says is offered to a person now, once it has made up its mind. */
export async function offeredOf(known: Known, who: Handle): Promise<Item | undefined> {
  const { items } = await seen(known.desks[who]);
  const row = items.find((i: Any) => i.offered);
  return row && known.items.find((i) => i.id === row.id);
}

/** Each item is in one office, in its state, with a place, a holder or neither. */
export async function check(known: Known, after: string): Promise<void> {
  for (const who of HANDLES) await delivered(known.desks[who]);
  const rows = new Map<string, Any[]>();
  for (const who of HANDLES) {
    const all = await runInDurableObject(known.desks[who].stub, (_, state) =>
      state.storage.sql.exec("SELECT * FROM items").toArray(),
    );
    for (const row of all)
      rows.set(row["id"] as string, [...(rows.get(row["id"] as string) ?? []), { who, ...row }]);
  }
  same(known, `${after}: items`, rows.size, known.items.length);
  for (const item of known.items) checkItem(known, item, rows.get(item.id) ?? [], after);
  for (const who of HANDLES) await checkOffers(known, who, after);
}

function checkItem(known: Known, item: Item, found: Any[], after: string): void {
  const where = found.map((r) => r.who);
  same(known, `${after}: ${item.ticket} is in`, where, [item.at]);
  const row = found[0];
  if (!row) return;
  same(known, `${after}: ${item.ticket} is`, row.state, item.state);
  same(
    known,
    `${after}: ${item.ticket} has a place`,
    row.place !== null,
    item.state === "queued" && !item.moving,
  );
  same(known, `${after}: ${item.ticket} moves`, row.moving !== null, item.moving);
  same(known, `${after}: ${item.ticket} is held`, row.held === 1, item.held);
}

/** One item at a time; whoever is idle and has something to do is offered it. */
async function checkOffers(known: Known, who: Handle, after: string): Promise<void> {
  const mine = known.items.filter((i) => i.at === who);
  const busy = mine.filter((i) => i.state === "active").length;
  if (busy > 1) known.faults.push(`${after}: ${who} has ${busy} items at once`);
  const agent = known.agents[who];
  if (agent && known.quiet.has(agent))
    same(
      known,
      `${after}: offered to a ${who} that shuts down`,
      (await offeredOf(known, who))?.ticket,
      undefined,
    );
  const fresh = mine.some((i) => i.state === "queued" && !i.moving && i.declines === 0);
  if (!agent || known.quiet.has(agent) || busy > 0 || mine.some((i) => i.held) || !fresh) return;
  await eventually(async () => {
    if ((await offeredOf(known, who)) === undefined)
      throw new Error(`${after}: ${who} is idle and offered nothing`);
  });
}

/** Each round of an item was accepted at most once and ended at most once, in all that was told the board. */
export function checkEvents(known: Known): void {
  const events = HANDLES.flatMap((who) => lettersNow(known.desks[who], "board", "event"));
  const ids = events.map((event) => String(event.id));
  same(
    known,
    "done twice",
    ids.filter((id, i) => ids.indexOf(id) !== i),
    [],
  );
  for (const item of known.items)
    same(
      known,
      `${item.ticket} was accepted`,
      ids.filter((id) => id.startsWith(item.id) && id.endsWith("accepted")).length,
      item.accepted,
    );
}
