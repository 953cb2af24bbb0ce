/** The team's config in its versions, and what follows from a new one (TEAM-1 to TEAM-3). */
import { canonicalJson } from "../../../../src/shared/rules/canonical.ts";
import { runnerOf } from "../../../../src/shared/rules/context/runner.ts";
import {
  checkTeam,
  namesIn,
  type TeamFault,
  type UnknownNames,
} from "../../../../src/shared/rules/team-check.ts";
import type { Team } from "../../../../src/shared/wire/team.ts";
import { refuse } from "../../../kit/result.ts";
import type { Identity } from "../../letters.ts";
import type { BoardLedger } from "../ledger.ts";
import { mustBeOfTeam } from "../rights.ts";
import { settleHolds } from "./holds.ts";
import { setSchedules } from "./schedules.ts";

export interface TeamDocument {
  workspace: string;
  document: string;
  format: "yaml" | "json";
  /** The version that the sender has seen. */
  ifMatch?: string;
}
export interface TeamAnswer {
  team: Team;
  version: number;
}

/** Refuses a faulty config with all its faults at once (TEAM-1). */
function refuseFaults(faults: TeamFault[]): never {
  const first = faults[0];
  const where = first?.line === undefined ? "" : ` in line ${first.line}`;
  refuse(
    "invalid",
    `The team's config has ${faults.length === 1 ? "a fault" : `${faults.length} faults`}${where}, and nothing was changed: see details.`,
    { details: faults },
  );
}

/** A config that stands on its own, and the names in it that only the room knows. */
export function readTeam(asked: TeamDocument): { team: Team; names: { users: string[]; spaces: string[] } } {
  const checked = checkTeam(asked.document, asked.format);
  if ("faults" in checked) refuseFaults(checked.faults);
  return { team: checked.team, names: namesIn(checked.team) };
}

/** Refuses a config that names people or spaces which the workspace does not have, on their lines. */
export function mustKnow(asked: TeamDocument, unknown: UnknownNames): void {
  if (unknown.users.length === 0 && unknown.spaces.length === 0) return;
  const checked = checkTeam(asked.document, asked.format, unknown);
  if ("faults" in checked) refuseFaults(checked.faults);
}

/** Puts a checked config in place of the one that stands (TEAM-1). */
export function storeTeam(
  ledger: BoardLedger,
  by: Identity,
  team: Team,
  ifMatch: string | undefined,
): TeamAnswer {
  // The same config again is the answer to a PUT whose first answer was lost.
  if (ledger.version > 0 && canonicalJson(ledger.team) === canonicalJson(team))
    return { team, version: ledger.version };
  mustMatch(ledger.version, ifMatch);
  const version = ledger.version + 1;
  ledger.db.run(
    "INSERT INTO teams (version, team, at, by) VALUES (?, ?, ?, ?)",
    version,
    JSON.stringify(team),
    ledger.now,
    by.participantId,
  );
  const now = { ...ledger, team, version };
  setPeople(now, by);
  setSchedules(now);
  settleHolds(now);
  ledger.changed({ team: true });
  return { team, version };
}

function mustMatch(version: number, ifMatch: string | undefined): void {
  if (ifMatch === undefined ? version === 0 : ifMatch === String(version)) return;
  refuse(
    "conflict",
    version === 0
      ? "There is no team's config yet. Send the first one without If-Match."
      : `The team's config stands at version ${version}. Read it (GET /v1/team), put your change into it, and send it with If-Match: "${version}".`,
  );
}

/** Who is in the team now: everybody's office has the config, and who was taken out is told so (TEAM-3). */
function setPeople(ledger: BoardLedger, by: Identity): void {
  const { db, team, version, workspace, now } = ledger;
  const before = db.all<{ handle: string }>("SELECT handle FROM people WHERE removed_at IS NULL");
  const stay = new Set(team.people.map((person) => person.handle));
  for (const { handle } of before) {
    if (stay.has(handle)) continue;
    db.run(
      "UPDATE people SET removed_at = ?, hold_until = NULL, hold_why = NULL WHERE handle = ?",
      now,
      handle,
    );
    ledger.toOffice(handle, "removed", { by: by.name });
  }
  for (const { handle, name } of team.people) {
    // A handle is one person for ever: put back, it has what it had.
    db.run(
      `INSERT INTO people (handle, name, joined_at) VALUES (?1, ?2, ?3)
         ON CONFLICT (handle) DO UPDATE SET name = ?2, removed_at = NULL`,
      handle,
      name,
      now,
    );
    ledger.toOffice(handle, "team", { workspace, handle, version, team });
  }
  ledger.toRoom("people", {
    people: team.people.map(({ handle, name }) => ({
      handle,
      name,
      ...(runnerOf(team, handle) !== undefined && { hears: true as const }),
    })),
  });
  ledger.changed({ people: [...stay, ...before.map((person) => person.handle)] });
}

/** The config as it stands, with its defaults (TEAM-1). */
export function getTeam(ledger: BoardLedger, by: Identity): TeamAnswer {
  mustBeOfTeam(by);
  if (ledger.version === 0) refuse("not_found", "There is no team's config yet. Send one: PUT /v1/team.");
  return { team: ledger.team, version: ledger.version };
}
