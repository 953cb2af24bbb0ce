/** What the tests of a Board drive it with: a board whose letters and calls end here, and who asks it. */
import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { vi } from "vitest";
import type { Result } from "../kit/result.ts";
import type { Board } from "../office/board/board.ts";
import { CALLS } from "../office/board/calls.ts";
import type { Address, BoardLetters, Identity, LiveChange } from "../office/letters.ts";
import { type Any, newId } from "./client.ts";

export interface Sent {
  to: Address;
  kind: string;
  body: Any;
}
const BOARDS = new Map<string, TestBoard>();

/** Takes the place of the room and the offices, until the tests of the file are over. */
export function fakeNeighbours(): void {
  vi.spyOn(CALLS, "deliver").mockImplementation(async (_env, workspace, to, letters) => {
    const board = BOARDS.get(workspace);
    if (board?.unreachable) throw new Error("out of reach");
    for (const { kind, body } of letters) board?.sent.push({ to, kind, body });
    return true;
  });
  vi.spyOn(CALLS, "known").mockImplementation(async (_env, workspace, { users, spaces }) => {
    const board = BOARDS.get(workspace);
    await board?.beforeKnown?.();
    return {
      users: users.filter((one) => board?.unknown.has(one)),
      spaces: spaces.filter((one) => board?.unknown.has(one)),
    };
  });
  vi.spyOn(CALLS, "live").mockImplementation(async (_env, workspace, change) => {
    const board = BOARDS.get(workspace);
    board?.live.push(change);
    return { watchers: board?.watchers ?? 0 };
  });
}

/** A person of the workspace. */
export function aPerson(role: Identity["role"], name = "Anna"): Identity {
  return {
    participantId: newId("usr"),
    tokenId: newId("tok"),
    kind: "person",
    name,
    role,
    scopes: ["person"],
  };
}
/** An agent of the team, by its own token. */
export function anAgent(handle: string): Identity {
  const ids = { participantId: newId("agt"), tokenId: newId("tok") };
  return { ...ids, kind: "agent", name: handle, role: null, scopes: ["agent"], handle };
}

/** The value of an answer; a refusal is thrown as its code. */
export function value<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(`${result.error.code}: ${result.error.message}`);
  return result.value;
}
/** The code that something is refused with. */
export function codeOf(result: Result<unknown>): string {
  return result.ok ? "none" : result.error.code;
}

/** The board's calls as they come over RPC. */
type Calls = {
  [K in keyof Board]: Board[K] extends (...args: infer A) => infer R
    ? (...args: A) => Promise<Awaited<R>>
    : never;
};

export class TestBoard {
  readonly workspace = newId("ws");
  readonly owner = aPerson("owner");
  /** Every letter that left, in order. */
  readonly sent: Sent[] = [];
  readonly live: LiveChange[] = [];
  /** Ids that the workspace does not have. */
  readonly unknown = new Set<string>();
  watchers = 0;
  unreachable = false;
  beforeKnown: (() => Promise<void>) | undefined;
  #letters = new Map<string, number>();

  constructor() {
    BOARDS.set(this.workspace, this);
  }

  get stub(): DurableObjectStub<Board> {
    return env.BOARD.getByName(this.workspace);
  }

  get calls(): Calls {
    return this.stub as unknown as Calls;
  }

  /** Puts a config; the answer. */
  async put(document: object | string, ifMatch?: string, by = this.owner) {
    return this.calls.putTeam(by, {
      workspace: this.workspace,
      document: typeof document === "string" ? document : JSON.stringify(document),
      format: typeof document === "string" ? "yaml" : "json",
      ...(ifMatch === undefined ? {} : { ifMatch }),
    });
  }

  /** A letter to the board, numbered as its sender's outbox would. */
  async letter<K extends keyof BoardLetters>(from: Address, kind: K, body: BoardLetters[K]): Promise<void> {
    const n = (this.#letters.get(from) ?? 0) + 1;
    this.#letters.set(from, n);
    await this.calls.take(from, [{ n, kind, body }]);
  }

  /** Letters of a kind, once everything that was written down has left. */
  async letters(kind?: string, to?: Address): Promise<Sent[]> {
    if (!this.unreachable)
      while ((await this.sql("SELECT 1 FROM outbox")).length > 0)
        await runInDurableObject(this.stub, async () => undefined);
    return this.sent.filter((l) => (!kind || l.kind === kind) && (!to || l.to === to));
  }

  /** Runs SQL inside the board, past its calls. */
  async sql<T = Any>(query: string, ...bindings: SqlStorageValue[]): Promise<T[]> {
    return runInDurableObject(
      this.stub,
      (_, state) => state.storage.sql.exec(query, ...bindings).toArray() as T[],
    );
  }

  /** Puts the board's clock to a time, for as long as it stays awake. */
  async at(time: string | number): Promise<void> {
    const ms = typeof time === "number" ? time : Date.parse(time);
    await runInDurableObject(this.stub, (board) => {
      board.wall = () => ms;
    });
  }

  /** Rings the board's alarm, at a time of its clock. */
  async ring(time: string | number): Promise<void> {
    await this.at(time);
    await runDurableObjectAlarm(this.stub);
  }
}

/** A team of two developers and a tester, with one human whom it trusts. */
export const TEAM = {
  key: "ACME",
  roles: { dev: { title: "Developer", summary: "Writes code" }, qa: { title: "Tester" } },
  humans: [{ name: "Anna", user: newId("usr"), lead: true }, { name: "Otto" }],
  people: [
    { handle: "scout", name: "Scout", role: "dev", subscription: "max-1" },
    { handle: "finch", name: "Finch", role: "dev", subscription: "max-1" },
    { handle: "wren", name: "Wren", role: "qa" },
  ],
};

/** A board with a team, whose first letters have left and are forgotten. */
export async function aBoard(more: object = {}): Promise<TestBoard> {
  const board = new TestBoard();
  value(await board.put({ ...TEAM, ...more }));
  await board.letters();
  board.sent.length = 0;
  return board;
}
