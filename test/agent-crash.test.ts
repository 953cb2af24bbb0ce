/** An agent that is killed at its steps, against a real office: the same proof as `src/agent/crash.test.ts`. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { connectAgent, memoryStore } from "../src/agent/index.ts";
import { systemClock } from "../src/sdk/clock.ts";
import { connectPerson, type PersonConnection } from "../src/sdk/index.ts";
import type { PersonAnswer } from "../src/shared/wire/office.ts";
import { Life } from "./sdk/agent-kit.ts";
import {
  createWorkspace,
  startServer,
  type TestServer,
  type TestWorkspace,
  write,
} from "./support/server.ts";

let server: TestServer;
let workspace: TestWorkspace;
let lobby: string;
let token: string;
let room: PersonConnection;
const said: string[] = [];
const arrived = new EventTarget();

beforeAll(async () => {
  server = await startServer();
  workspace = await createWorkspace(server);
  lobby = await workspace.addSpace("Lobby");
  await workspace.http.put("/v1/team", {
    humans: [{ name: "Olive", user: workspace.ownerId, lead: true }],
    roles: { dev: { title: "Developer" } },
    people: [{ handle: "ada", name: "Ada", role: "dev" }],
  });
  const { items } = await workspace.http.get<{ items: { participant_id: string; kind: string }[] }>(
    "/v1/participants",
  );
  const participant_id = items.find(({ kind }) => kind === "agent")?.participant_id ?? "";
  await write(workspace.http, "member.add", { space_id: lobby, participant_id });
  ({ token } = await workspace.http.post<{ token: string }>("/v1/tokens", {
    person: "ada",
    scopes: ["agent"],
  }));
  room = connectPerson({
    url: server.url,
    token: workspace.token,
    onEvent(frame) {
      if (frame.type !== "message.posted" || frame.from.kind !== "agent") return;
      said.push(frame.text);
      arrived.dispatchEvent(new Event("one"));
    },
  });
  await room.ready;
});
afterAll(async () => {
  room?.close();
  await server?.stop();
});

function hears(text: string): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (!said.includes(text)) return;
      arrived.removeEventListener("one", look);
      resolve();
    };
    arrived.addEventListener("one", look);
    look();
  });
}

/** A disk that outlives every process, and tells when nothing that stands on it is on its way any more. */
class Disk {
  readonly #inner = memoryStore();
  #watchers: (() => void)[] = [];

  load = (): Promise<string | undefined> => this.#inner.load();
  save = async (text: string): Promise<void> => {
    await this.#inner.save(text);
    for (const watcher of this.#watchers.splice(0)) watcher();
  };

  async atRest(): Promise<void> {
    for (;;) {
      const { outbox, endings, reports } = JSON.parse(this.#inner.text ?? "{}") as Record<string, unknown[]>;
      if ([outbox, endings, reports].every((list) => list?.length === 0)) return;
      await new Promise<void>((resolve) => this.#watchers.push(resolve));
    }
  }
}

/** More than a life takes that does one item: the last are killed at rest. */
const STEPS = 48;

it("AGENT-2, OFF-8, REPORT-2: killed at any step, each item is handed back once, and told once", async () => {
  const disk = new Disk();
  const live = (killedAt: number): Life => {
    const life = new Life(globalThis.WebSocket, killedAt);
    connectAgent({
      url: server.url,
      handle: "ada",
      token,
      store: life.store(disk),
      clock: life.clock(systemClock),
      webSocket: life.WebSocket,
      fetch: life.fetch(fetch),
      onError: () => {},
      onItem: (item) =>
        life.around(async () => {
          await item.journal(`begun ${item.title}`);
          return `did ${item.title}`;
        }),
    });
    return life;
  };
  let killed = 0;
  for (let step = 0; step < STEPS; step++) {
    const title = `@Ada step ${step}`;
    const first = live(step);
    await write(workspace.http, "message.post", { space_id: lobby, text: title });
    await Promise.race([first.died.then(() => killed++), hears(`did ${title}`)]);
    first.kill();
    const second = live(Number.POSITIVE_INFINITY);
    await hears(`did ${title}`);
    await disk.atRest();
    second.kill();
    const { items } = await workspace.http.get<PersonAnswer>("/v1/people/ada");
    const item = items.find((one) => one.title === title);
    const ends = item?.history.filter(({ to }) => to === "done");
    expect([title, item?.state, ends?.length]).toEqual([title, "done", 1]);
  }
  const twice = said.filter((text, n) => said.indexOf(text) !== n);
  expect([said.length, twice]).toEqual([STEPS, []]);
  // Less would mean that the steps are not where the work is.
  expect(killed).toBeGreaterThan(25);
}, 240_000);
