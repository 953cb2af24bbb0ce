/** What an office's handlers work with. They read rows, decide, write rows, and never wait (design 7). */
import type { AgentMessageType, AgentPayload } from "../../src/shared/wire/agent/index.ts";
import type { Team } from "../../src/shared/wire/team.ts";
import type { Db } from "../kit/db.ts";
import type { SigningKeys } from "../kit/sign.ts";
import type { Clock } from "../room/ids.ts";
import type { Address, BoardLetters, OfficeLetters, RoomLetters } from "./letters.ts";
import type { StreamsMemory } from "./streams/part.ts";

/** The agent's connection, once it was welcomed. */
export interface Connection {
  /** One name for each connection; rows that end with it are keyed by it. */
  readonly id: string;
  readonly tokenId: string;
  /** The origin that the agent used: signed URLs start with it. */
  readonly origin: string;
  /** The version of the team's config that its welcome carried. */
  readonly version: number;
  /** The item that its last heartbeat named. */
  readonly on?: string;
}

export interface Desk {
  readonly db: Db;
  readonly clock: Clock;
  /** Milliseconds, the same for the whole of one piece of work. */
  readonly now: number;
  readonly workspace: string;
  readonly handle: string;
  readonly team: Team;
  readonly version: number;
  /** The agent's connection; undefined while it is offline. */
  readonly connection: Connection | undefined;
  readonly signing: SigningKeys;
  /** Writes a letter down in this transaction; it leaves after the commit. */
  toBoard<K extends keyof BoardLetters>(kind: K, body: BoardLetters[K]): void;
  toRoom<K extends keyof RoomLetters>(kind: K, body: RoomLetters[K]): void;
  toOffice<K extends keyof OfficeLetters>(handle: string, kind: K, body: OfficeLetters[K]): void;
  /** Does a part of this work that may fail alone: then it is undone and logged, and the rest goes on. */
  apart(work: () => void): boolean;
  /** Makes sure that a named alarm fires by then, ms (see timed.ts). */
  alarm(name: string, at: number): void;
  /** Sends the agent a frame after the commit, if it is connected; hands back the frame's id. */
  tell<T extends AgentMessageType>(type: T, payload: AgentPayload<T>): string;
  /** Closes the agent's connection after the commit and after what is told. */
  close(code: number, reason: string): void;
  /** What is known of the streams beside their rows (streams/part.ts). */
  readonly streams: StreamsMemory;
  /** An item changed in a way that who watches wants to see (QUEUE-4). */
  changed(item: string): void;
}
export type { Address };

/** What a handler or letter that must ask elsewhere may use before it decides: nothing here can write. */
export interface Look {
  readonly db: Db;
  readonly env: Env;
  readonly now: number;
  readonly workspace: string;
  readonly handle: string;
  readonly team: Team;
}
