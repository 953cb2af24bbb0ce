import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Life } from "../../test/sdk/agent-kit.ts";
import { FakeOffice, FakeRoom, TOKEN } from "../../test/sdk/fake-office.ts";
import { FakeClock, settle } from "../../test/sdk/fakes.ts";
import { connectAgent } from "./agent.ts";
import type { Item } from "./item.ts";
import { memoryStore } from "./store.ts";

const ITEMS = ["itm_1", "itm_2"];
const ACTS = ["act_1", "act_2"];
const ops = (act: string) => [
  { op: "move", key: `${act}/1`, ticket: "BP-1", to: "active" },
  { op: "comment", key: `${act}/2`, ticket: "BP-1", body: "begun" },
];

/** The world that outlives every process: the office, the room, the tracker, the disk. */
class World {
  readonly clock = new FakeClock();
  readonly office = new FakeOffice();
  readonly room = new FakeRoom();
  readonly disk = memoryStore();
  /** What the tracker was asked for, by key: it makes each once, as a real one does with a key. */
  readonly made = new Map<string, number>();
  /** Changes that came again without the note that they may have been made. */
  unwarned = 0;
  runs = 0;
  lines: string[] = [];
  readonly errors: Error[] = [];

  /** A process, killed at this step of its life. */
  start(killedAt: number): Life {
    const life = new Life(this.office.WebSocket, killedAt);
    connectAgent({
      url: "https://office.example.com",
      handle: "ada",
      token: TOKEN,
      store: life.store(this.disk),
      clock: life.clock(this.clock),
      webSocket: life.WebSocket,
      fetch: life.fetch(this.room.fetch),
      onError: (error) => life.dead || this.errors.push(error),
      onItem: (item) => life.around(() => this.#work(item)),
      onAct: (op, { key, again }) =>
        life.around(() => {
          if (this.made.has(key) && !again) this.unwarned += 1;
          this.made.set(key, (this.made.get(key) ?? 0) + 1);
          return `${op.op} made`;
        }),
    });
    return life;
  }

  async #work(item: Item): Promise<string> {
    const run = ++this.runs;
    for (const n of [1, 2]) {
      const line = `${item.id} run ${run} line ${n}`;
      await item.journal(line);
      this.lines.push(line);
    }
    return `${item.id} is done`;
  }

  /** Lets a process live until nothing moves any more. */
  async rest(): Promise<void> {
    for (let n = 0; n < 40; n++) {
      await this.clock.advance(2000);
      await settle();
    }
  }

  begin(): void {
    for (const id of ITEMS) this.office.queue(id);
    for (const id of ACTS) this.office.act(id, ops(id));
  }

  /** How it stands in the end. */
  result() {
    const { office, room, made, disk } = this;
    const items = ITEMS.map((id) => {
      const item = office.items.get(id);
      const texts = item?.journal.map(({ text }) => text) ?? [];
      return {
        endings: item?.outcomes
          .filter(({ payload }) => payload["status"] !== "interrupted")
          .map(({ type, payload }) => `${type}: ${String(payload["summary"])}`),
        // What the run said that was handed back, and whether any line of any run stands there twice.
        linesOfLastRun: texts.slice(-2),
        linesTwice: texts.length - new Set(texts).size,
      };
    });
    const { outbox, endings, reports, acts } = JSON.parse(disk.text ?? "{}");
    return {
      items,
      said: room.said.map(({ text }) => text).toSorted(),
      reportsLeft: office.reports.size,
      actResults: office.actResults.map(({ id, ok }) => `${String(id)}: ${String(ok)}`),
      made: [...made.keys()],
      unwarned: this.unwarned,
      errors: this.errors.map(String),
      kept: { outbox, endings, reports, acts },
    };
  }

  /** How it must stand: nothing lost, nothing twice. */
  wanted() {
    return {
      items: ITEMS.map((id) => ({
        endings: [`handback: ${id} is done`],
        linesOfLastRun: this.lines.filter((line) => line.startsWith(id)).slice(-2),
        linesTwice: 0,
      })),
      said: ITEMS.map((id) => `${id} is done`),
      reportsLeft: 0,
      actResults: ACTS.map((id) => `${id}: true`),
      made: ACTS.flatMap((id) => [`${id}/1`, `${id}/2`]),
      unwarned: 0,
      errors: [],
      kept: { outbox: [], endings: [], reports: [], acts: [] },
    };
  }
}

/** Lives that are each killed at a step, and a last one that is not. */
async function live(...kills: number[]): Promise<{ world: World; wasKilled: boolean[] }> {
  const world = new World();
  world.begin();
  const wasKilled: boolean[] = [];
  for (const killedAt of [...kills, Number.POSITIVE_INFINITY]) {
    const life = world.start(killedAt);
    await world.rest();
    wasKilled.push(life.dead);
    life.kill();
  }
  return { world, wasKilled };
}

describe("AGENT-2: an agent that is killed", () => {
  it("OFF-8, ACT-1, REPORT-2: at any step, once: each hand-back, report, act and line is made once", async () => {
    let steps = 0;
    for (let killed = true; killed; steps++) {
      const { world, wasKilled } = await live(steps);
      killed = wasKilled[0] === true;
      expect(world.result(), `killed at step ${steps}`).toEqual(world.wanted());
    }
    // Less would mean that the steps are not where the work is.
    expect(steps).toBeGreaterThan(80);
  }, 120_000);

  it("OFF-8: and again at any step of what comes after", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(110), { minLength: 2, maxLength: 4 }), async (kills) => {
        const { world } = await live(...kills);
        expect(world.result()).toEqual(world.wanted());
      }),
      { numRuns: 60 },
    );
  }, 120_000);
});
