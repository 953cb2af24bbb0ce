/**
 * The office's own agent: of a person whose config says `runtime: resident` or `runtime: stream`, the office speaks the
 * agent protocol with itself, over a connection that is always there (CTX-7, CTX-8). What such an agent is offered
 * becomes items of its streams, and what its model answers ends the round.
 */
import { runnerOf } from "../../../src/shared/rules/context/runner.ts";
import type { Connection, Desk } from "../desk.ts";
import { moveTo } from "../queue/states.ts";
import { activeItems, change, heldItems } from "../store/items.ts";
import { changePerson, type PersonRow, personRow, teamOf } from "../store/person.ts";

/** The id of the connection that the office has with itself. */
export const HOUSE = "house";

/** The connection of the office's own agent, if it has one: of the newest config, since it needs no welcome for it. */
export function houseConnection(row: PersonRow): Connection | undefined {
  if (row.removed_at !== null || runnerOf(teamOf(row), row.handle) === undefined) return undefined;
  return { id: HOUSE, tokenId: "", origin: "", version: row.team_version };
}

/** The office takes the person's agent over from whatever ran it before: what that was on begins anew (OFFER-5). */
export function openHouse(desk: Desk): void {
  if (desk.connection?.id !== HOUSE || personRow(desk.db).connection === HOUSE) return;
  changePerson(desk.db, { connection: HOUSE });
  for (const { id } of heldItems(desk.db)) change(desk.db, id, { held: 0 }, { quietly: true });
  for (const { id } of activeItems(desk.db)) giveBack(desk, id, "the office runs this agent now");
}

/** Queues an item again whose agent is gone. */
export function giveBack(desk: Desk, item: string, why: string): void {
  moveTo(desk, item, "queued", { by: "office", mover: "office", why, ended: "interrupted", where: "first" });
}
