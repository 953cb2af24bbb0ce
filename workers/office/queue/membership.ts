/** The person in the team: a changed config, and being taken out of it and put back (OFF-5, TEAM-3). */
import { CLOSE } from "../../../src/shared/wire/agent/index.ts";
import type { Desk } from "../desk.ts";
import { hashOf } from "../frames.ts";
import type { OfficeLetters } from "../letters.ts";
import { change, isBusy, openItems } from "../store/items.ts";
import { changePerson, personRow } from "../store/person.ts";
import { driveAll, isRun } from "../streams/drive.ts";
import { withdraw } from "./offer.ts";
import { moveTo } from "./states.ts";
import { tellHumans } from "./tell.ts";

/** A changed config closes the connection within so long, between two items (OFF-5). */
const JITTER_MS = 10_000;

/** The config as the board has it now; it also puts back who was taken out. */
export function takeTeam(desk: Desk, { version, team }: OfficeLetters["team"]): void {
  if (version < desk.version) return;
  const wasRun = isRun(desk);
  changePerson(desk.db, { team_version: version, team: JSON.stringify(team), removed_at: null });
  if (!wasRun && isRun({ ...desk, team })) driveAll(desk);
}

/** Nothing is offered under an older config: the next welcome brings the new one. */
export function restartSoon(desk: Desk): void {
  const { connection } = desk;
  if (!connection || connection.version >= personRow(desk.db).team_version || isBusy(desk.db)) return;
  // The same for one connection, however often this is asked.
  const jitter = Number.parseInt(hashOf("restart", connection.id).slice(0, 8), 16) % JITTER_MS;
  desk.alarm("restart", desk.now + jitter);
}

/** The connection of an older config ends, unless an item runs: then after its hand-back. */
export function restart(desk: Desk): void {
  const { connection } = desk;
  if (!connection || connection.version >= personRow(desk.db).team_version || isBusy(desk.db)) return;
  withdraw(desk);
  desk.close(CLOSE.restart, "the team's config changed: connect again for the new one");
}

/** Taken out of the team: the connection ends, and open items are blocked, so that they can be moved (TEAM-3). */
export function takeRemoved(desk: Desk, { by }: OfficeLetters["removed"]): void {
  changePerson(desk.db, { removed_at: desk.now });
  const why = `${desk.handle} was taken out of the team by ${by}`;
  for (const row of openItems(desk.db)) {
    if (row.moving !== null || row.state === "blocked") continue;
    moveTo(desk, row.id, "blocked", { by, mover: "office", why });
    // Its agent is let in no more.
    change(desk.db, row.id, { held: 0 }, { quietly: true });
    tellHumans(
      desk,
      `removed ${row.id} ${desk.now}`,
      row.id,
      `${why}: "${row.title}" is blocked. Move it to somebody else.`,
    );
  }
  desk.close(CLOSE.auth_failed, "no longer in the team");
  endFollowers(desk, "agent");
}

/** The token that the agent came with was revoked. */
export function takeRevoked(desk: Desk, { tokenId }: OfficeLetters["token_revoked"]): void {
  if (desk.connection?.tokenId === tokenId) desk.close(CLOSE.auth_failed, "the token was revoked");
  endFollowers(desk, { tokenId });
}

/** Who follows streams here has no right to it any more. */
export function takeFollowerGone(desk: Desk, { participantId }: OfficeLetters["follower_gone"]): void {
  endFollowers(desk, { participantId });
}

function endFollowers({ streams }: Desk, gone: Parameters<typeof streams.live.end>[0]): void {
  streams.later.push(() => streams.live.end(gone));
}
