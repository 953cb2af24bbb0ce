/** What a write is made of, for those who decide it: handlers and the judgement know this and not the path. */
import type { Actor, FactType, Receipt } from "../../src/shared/wire/index.ts";
import type { Db } from "../kit/db.ts";
import type { Address, BoardLetters, OfficeLetters } from "../office/letters.ts";
import type { Clock } from "./ids.ts";
import type { Limits } from "./limits.ts";
import type { Caller, LogRow, Workspace } from "./types.ts";

/** What a verb decides, to be appended. */
export interface Decided {
  spaceId?: string | undefined;
  runId?: string | undefined;
  body: object;
  /** The fact that the verb is about: it takes the frame's id and carries the key (ENV-4). */
  main?: true;
  /** With `main`: the receipt's own fields. */
  receipt?: Extras;
  /** Whether contexts show it as a line of its space (WIN-3). */
  line?: boolean;
  actor?: Actor;
}
export type Extras = Omit<Receipt, "v" | "type" | "of" | "id" | "seq" | "duplicate">;

/** What a verb's handler works with. It throws a refusal to undo everything it did. */
export interface Writer {
  readonly db: Db;
  readonly clock: Clock;
  readonly now: number;
  readonly workspace: Workspace;
  readonly caller: Caller;
  readonly actor: Actor;
  /** Appends a fact and returns its row. */
  append(type: FactType, decided: Decided): LogRow;
  /** Writes a letter down in this transaction; it leaves after the commit. */
  toBoard<K extends keyof BoardLetters>(kind: K, body: BoardLetters[K]): void;
  toOffice<K extends keyof OfficeLetters>(handle: string, kind: K, body: OfficeLetters[K]): void;
  /** Remembers what must happen once the write is done, such as closing a removed member's sockets. */
  afterwards(effect: Effect): void;
}

/** What a write asks of the shell after its transaction. */
export type Effect =
  | { kind: "close"; participantId: string; code: 4403; reason: string }
  | { kind: "close-token"; tokenId: string }
  | { kind: "alarm"; name: string; at: number };

export interface Ledger {
  storage: DurableObjectStorage;
  db: Db;
  clock: Clock;
  limits: Limits;
  /** Writes a letter to another object down, in the transaction that it is about; it leaves after the commit. */
  post: (target: Address, kind: string, body: object) => void;
}

export function noneWritten(): Written {
  return { receipts: [], rows: [], effects: [] };
}

/** The outcome of a group of writes that stand or fall together. */
export interface Written {
  receipts: Receipt[];
  rows: LogRow[];
  effects: Effect[];
}
