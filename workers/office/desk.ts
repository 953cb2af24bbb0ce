/** What an office's handlers work with. They read rows, decide, write rows, and never wait (design 7). */
import type { Team } from "../../src/shared/wire/team.ts";
import type { Db } from "../kit/db.ts";
import type { Clock } from "../room/ids.ts";
import type { Address, BoardLetters, OfficeLetters, RoomLetters } from "./letters.ts";

export interface Desk {
  readonly db: Db;
  readonly clock: Clock;
  /** Milliseconds, the same for the whole of one piece of work. */
  readonly now: number;
  readonly workspace: string;
  readonly handle: string;
  readonly team: Team;
  /** Writes a letter down in this transaction; it leaves after the commit. */
  toBoard<K extends keyof BoardLetters>(kind: K, body: BoardLetters[K]): void;
  toRoom<K extends keyof RoomLetters>(kind: K, body: RoomLetters[K]): void;
  toOffice<K extends keyof OfficeLetters>(handle: string, kind: K, body: OfficeLetters[K]): void;
  /** Makes sure that a named alarm fires by then, ms. */
  alarm(name: string, at: number): void;
}
export type { Address };
