/** What the board's functions work with. They read rows, decide, write rows, and never wait (design 7). */
import type { Team } from "../../../src/shared/wire/team.ts";
import type { Db } from "../../kit/db.ts";
import type { Clock } from "../../room/ids.ts";
import type { LiveChange, OfficeLetters, RoomLetters } from "../letters.ts";

export interface BoardLedger {
  readonly db: Db;
  readonly clock: Clock;
  /** Milliseconds, the same for the whole of one piece of work. */
  readonly now: number;
  readonly workspace: string;
  /** The config as it stands; without one nobody is in the team. */
  readonly team: Team;
  /** Its version; 0 before the first. */
  readonly version: number;
  /** Writes a letter down in this transaction; it leaves after the commit. */
  toOffice<K extends keyof OfficeLetters>(handle: string, kind: K, body: OfficeLetters[K]): void;
  toRoom<K extends keyof RoomLetters>(kind: K, body: RoomLetters[K]): void;
  /** Makes sure that a named alarm fires by then, ms. */
  alarm(name: string, at: number): void;
  /** Tells who watches that these changed (QUEUE-4): names only. */
  changed(what: LiveChange): void;
  /** A secret's values, the newest first; what cannot be opened is left out (SECRET-1). */
  secret(name: string): string[];
  /** The API of the code host, as the deployment is configured (WORK-5). */
  readonly hostApi: string;
}
