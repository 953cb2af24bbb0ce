/** Who may do what on the board (AUTH-2, QUEUE-4, TEAM-1, SECRET-1): decided by who a token is, and nothing else. */
import { refuse } from "../../kit/result.ts";
import type { Identity } from "../letters.ts";

/** A person's own token; one that a person has for a hook or a deployment alone does not speak for them. */
const isPerson = (by: Identity) => by.kind === "person" && by.scopes.includes("person");

/** A person of the workspace but a guest. */
export function isMember(by: Identity): boolean {
  return isPerson(by) && by.role !== null && by.role !== "guest";
}

/** An agent of the team, by its own token (TEAM-2). */
function isTeammate(by: Identity): boolean {
  return by.handle !== undefined && !by.hook;
}

/** People but guests: they see and work queues, tickets and traces (QUEUE-4). */
export function mustBeMember(by: Identity): void {
  if (!isMember(by))
    refuse("forbidden", "Only people of the workspace may do this, and guests may not. Ask one of them.");
}

/** People but guests, and the team's agents: they read people and tickets, and write tickets (WORK-3). */
export function mustBeOfTeam(by: Identity): void {
  if (!isMember(by) && !isTeammate(by))
    refuse(
      "forbidden",
      "Only people of the workspace and agents of its team may do this, and guests may not. Ask one of them.",
    );
}

/** Owners and admins (TEAM-1). */
export function mustAdminister(by: Identity): void {
  if (!isPerson(by) || (by.role !== "owner" && by.role !== "admin"))
    refuse("forbidden", "Only an owner or an admin of the workspace may do this. Ask one of them.");
}

/** Owners (SECRET-1). */
export function mustOwn(by: Identity): void {
  if (!isPerson(by) || by.role !== "owner")
    refuse("forbidden", "Only an owner of the workspace may do this. Ask one of them.");
}
