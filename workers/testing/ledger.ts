/** A board's tables with nothing around them: what its functions write as letters is noted instead of sent. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { type Team, team as teamSchema } from "../../src/shared/wire/team.ts";
import type { WorkEvent } from "../../src/shared/wire/work.ts";
import { openDb } from "../kit/db.ts";
import { migrate } from "../kit/migrations.ts";
import type { BoardLedger } from "../office/board/ledger.ts";
import { BOARD_MIGRATIONS } from "../office/board/schema.ts";
import { takeEvent } from "../office/board/work/take.ts";
import { trace } from "../office/board/work/trace.ts";
import type { OfficeLetters, RoomLetters } from "../office/letters.ts";
import { openClock } from "../room/ids.ts";
import { newId } from "./client.ts";

export const ANNA = "usr_01ARZ3NDEKTSV4RRFFQ69G5FAV";
export const NOTIFY = "spc_01ARZ3NDEKTSV4RRFFQ69G5FAV";
export const START = Date.parse("2026-03-01T10:00:00.000Z");

/** Two people, a human who leads, one repository. */
export function workTeam(more: object = {}): Team {
  return teamSchema.parse({
    notify: NOTIFY,
    humans: [{ name: "Anna", user: ANNA, lead: true, identities: { github: "anna", linear: "anna@lin" } }],
    roles: { dev: { title: "Developer" } },
    people: [
      {
        handle: "scout",
        name: "Scout",
        role: "dev",
        identities: { github: "scout-bot", linear: "scout@lin" },
      },
      { handle: "bob", name: "Bob", role: "dev", identities: { github: "bob-bot" } },
    ],
    repositories: [{ repo: "acme/shop", bots: ["renovate[bot]"] }],
    ...more,
  });
}

/** A rule's `then` is written `does` in tests: an object that has the one looks like a promise. */
export const asRule = (rule: object): object =>
  Object.fromEntries(Object.entries(rule).map(([name, v]) => [name === "does" ? "then" : name, v]));

type ToOffice = {
  [K in keyof OfficeLetters]: { to: string; kind: K; body: OfficeLetters[K] };
}[keyof OfficeLetters];
type ToRoom = { [K in keyof RoomLetters]: { kind: K; body: RoomLetters[K] } }[keyof RoomLetters];

/** An event with what a test leaves out filled in: by Anna, at GitHub. */
export type EventLike = Partial<WorkEvent> & { type: WorkEvent["type"] };

export class TestLedger {
  now = START;
  readonly office: ToOffice[] = [];
  readonly room: ToRoom[] = [];
  readonly alarms = new Map<string, number>();
  secrets: string[] = [];
  team: Team;
  readonly #state: DurableObjectState;
  readonly db;
  readonly #clock = openClock(START, () => this.now);
  #events = 0;

  constructor(state: DurableObjectState, team: Team) {
    this.#state = state;
    this.db = openDb(state.storage.sql);
    this.team = team;
  }

  get ledger(): BoardLedger {
    return {
      db: this.db,
      clock: this.#clock,
      now: this.now,
      workspace: "ws_test",
      team: this.team,
      version: 1,
      toOffice: (to, kind, body) => void this.office.push({ to, kind, body } as ToOffice),
      toRoom: (kind, body) => void this.room.push({ kind, body } as ToRoom),
      alarm: (name, at) => void this.alarms.set(name, Math.min(at, this.alarms.get(name) ?? at)),
      changed: () => undefined,
      secret: () => this.secrets,
      hostApi: "https://api.github.com",
    };
  }

  /** One piece of work in one transaction, a second after the last. */
  work<T>(work: (ledger: BoardLedger) => T): T {
    this.now += 1000;
    return this.#state.storage.transactionSync(() => work(this.ledger));
  }

  /** Takes an event in; the board's id of it. */
  take({ type, ...more }: EventLike): string {
    const event: WorkEvent = {
      id: `e${++this.#events}`,
      type,
      at: new Date(this.now + 1000).toISOString(),
      source: "github",
      actor: { id: "anna" },
      ...more,
    };
    return this.work((ledger) => takeEvent(ledger, event)).id;
  }

  /** What was decided of an event, in short: `wake scout review_feedback`. */
  decided(id: string): string[] {
    const found = trace(this.ledger, id)?.decisions ?? [];
    return found.map((d) => [d.decision, d.person, d.kind].filter((part) => part !== undefined).join(" "));
  }

  whys(id: string): string[] {
    return (trace(this.ledger, id)?.decisions ?? []).map((d) => `${d.rule}: ${d.why}`);
  }

  /** Letters of a kind to somebody, the oldest first. */
  letters<K extends keyof OfficeLetters>(kind: K, to = "scout"): OfficeLetters[K][] {
    return this.office.flatMap((l) => (l.kind === kind && l.to === to ? [l.body as OfficeLetters[K]] : []));
  }
}

/** Runs a test within a board's own storage. */
export async function withLedger(
  work: (t: TestLedger) => void | Promise<void>,
  team = workTeam(),
): Promise<void> {
  await runInDurableObject(env.BOARD.getByName(newId("ws")), async (_, state) => {
    const t = new TestLedger(state, team);
    migrate(state.storage, t.db, BOARD_MIGRATIONS);
    await work(t);
  });
}
