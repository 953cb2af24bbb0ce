/** The team's people: how they are, as their offices say (ITEM-3, QUEUE-4). */
import type { UsageWindow } from "../../../../src/shared/rules/usage-windows.ts";
import type { AgentPayload } from "../../../../src/shared/wire/agent/index.ts";
import type { PersonItem } from "../../../../src/shared/wire/office.ts";
import type { TeamPerson } from "../../../../src/shared/wire/team.ts";
import type { Db } from "../../../kit/db.ts";
import type { BoardLetters, Identity, PersonState } from "../../letters.ts";
import type { BoardLedger } from "../ledger.ts";
import { mustBeOfTeam } from "../rights.ts";
import { busiestWindows } from "./holds.ts";

interface StandingRow {
  status: PersonState;
  current: string | null;
  queued: number;
}

/** Whether a handle is or was somebody's: their office has a history (TEAM-3). */
export function knows(db: Db, handle: string): boolean {
  return db.one("SELECT 1 FROM people WHERE handle = ?", handle) !== undefined;
}

/** Takes in how a person is, unless something newer is known. */
export function takeStatus(ledger: BoardLedger, said: BoardLetters["status"]): void {
  const written = ledger.db.run(
    `UPDATE people SET status = ?, current = ?, item = ?, queued = ?, status_at = ?
       WHERE handle = ? AND status_at <= ?`,
    said.status,
    said.current ?? null,
    said.item === undefined ? null : JSON.stringify(said.item),
    said.queued,
    said.at,
    said.handle,
    said.at,
  );
  const items = said.changed ?? [];
  // Every item changes when it is made and when it comes from elsewhere: whose it was last is known of all.
  for (const id of items)
    ledger.db.run(
      `INSERT INTO items (id, handle) VALUES (?1, ?2)
         ON CONFLICT (id) DO UPDATE SET handle = ?2 WHERE handle <> ?2`,
      id,
      said.handle,
    );
  if (written > 0 || items.length > 0) ledger.changed({ people: [said.handle], items });
}

/** Which of these items are somebody else's: of what a person has not, that alone is told (ITEM-4, OFF-9). */
export function itemsOfOthers(ledger: BoardLedger, handle: string, ids: readonly string[]): string[] {
  return ids.filter(
    (id) => ledger.db.one("SELECT 1 FROM items WHERE id = ? AND handle <> ?", id, handle) !== undefined,
  );
}

/** How somebody is; offline as long as their office has said nothing. */
export function standingOf(ledger: BoardLedger, handle: string): StandingRow {
  return (
    ledger.db.one<StandingRow>("SELECT status, current, queued FROM people WHERE handle = ?", handle) ?? {
      status: "offline",
      current: null,
      queued: 0,
    }
  );
}

/** Everybody in the team with how they are, in the config's order (QUEUE-4). */
export function people(ledger: BoardLedger, by: Identity): { items: PersonItem[] } {
  mustBeOfTeam(by);
  const busiest = busiestWindows(ledger);
  return { items: ledger.team.people.map((person) => personItem(ledger, person, busiest(person))) };
}

function personItem(ledger: BoardLedger, person: TeamPerson, busiest: UsageWindow | undefined): PersonItem {
  const { handle, name, role, subscription } = person;
  const { status, current, queued } = standingOf(ledger, handle);
  return {
    handle,
    name,
    role,
    status,
    ...(current === null ? {} : { current }),
    ...(busiest
      ? {
          usage: {
            window: busiest.name,
            utilization: busiest.utilization,
            ...(busiest.resetsAt === undefined ? {} : { resets_at: busiest.resetsAt }),
          },
        }
      : {}),
    queued,
    ...(subscription === undefined ? {} : { subscription }),
  };
}

/** The team as its agents see it (ITEM-3). */
export function roster(ledger: BoardLedger): AgentPayload<"roster_result"> {
  const { team } = ledger;
  const busiestOf = busiestWindows(ledger);
  return {
    members: team.people.map((person) => {
      const { status, current } = standingOf(ledger, person.handle);
      const busiest = busiestOf(person);
      const role = team.roles[person.role];
      return {
        handle: person.handle,
        name: person.name,
        role: person.role,
        ...(role ? { title: role.title } : {}),
        ...(role?.summary === undefined ? {} : { summary: role.summary }),
        status,
        ...(current === null ? {} : { current }),
        ...(busiest
          ? {
              usage: {
                window: busiest.name,
                utilization: busiest.utilization,
                ...(busiest.resetsAt === undefined ? {} : { resetsAt: busiest.resetsAt }),
              },
            }
          : {}),
      };
    }),
    humans: team.humans.map(({ name }) => ({ name })),
  };
}
