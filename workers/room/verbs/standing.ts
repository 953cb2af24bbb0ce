/** Who may do what in a space (SPACE-6, SPACE-7). Each refuses, or hands back what it looked up. */
import { notFound, refuse } from "../../kit/result.ts";
import { isIn, isOpen, space, stay } from "../store/spaces.ts";
import type { SpaceRow, StayRow } from "../types.ts";
import type { Writer } from "../writer.ts";

type Asking = Pick<Writer, "db" | "caller">;

export interface Standing {
  space: SpaceRow;
  /** The actor's own stay. */
  stay: StayRow;
}

/** A space that the acting participant is in. To anybody else a private one does not exist (SPACE-6, ERR-3). */
export function inSpace(w: Pick<Writer, "db" | "caller" | "actor">, spaceId: string): Standing {
  const own = stay(w.db, spaceId, w.actor.id);
  if (!own) {
    // A harness knows the spaces of its agents, so that it may be told what is missing.
    if (w.caller.participant.kind === "harness" && isIn(w.db, spaceId, w.caller.participant.id))
      refuse(
        "forbidden",
        "You are not in this space as yourself. Name the agent that acts: actor {kind: agent, id}.",
      );
    if (
      w.caller.participant.role !== "guest" &&
      w.caller.participant.kind === "person" &&
      isOpen(w.db, spaceId)
    )
      refuse("forbidden", "You are not in this space. Join it first: member.add of yourself.");
    notFound("space");
  }
  const found = space(w.db, spaceId);
  if (!found) notFound("space");
  return { space: found, stay: own };
}

/** A person of the space who is no guest: adds members, renames (SPACE-7). */
export function asRegular(w: Pick<Writer, "db" | "caller" | "actor">, spaceId: string): Standing {
  const standing = inSpace(w, spaceId);
  mustBePerson(w);
  if (standing.stay.role === "guest" || w.caller.participant.role === "guest")
    refuse("forbidden", "A guest may not do this. Ask a member of the space.");
  return standing;
}

/** The space's owner, or an owner or admin of the workspace who is in it (SPACE-7). */
export function asSpaceOwner(w: Pick<Writer, "db" | "caller" | "actor">, spaceId: string): Standing {
  const standing = inSpace(w, spaceId);
  mustBePerson(w);
  if (standing.stay.role !== "owner" && !administers(w))
    refuse("forbidden", "Only the space's owner, or an owner or admin of the workspace in it, may do this.");
  return standing;
}

export function administers(w: Pick<Asking, "caller">): boolean {
  const { kind, role } = w.caller.participant;
  return kind === "person" && (role === "owner" || role === "admin");
}

export function mustBePerson(w: Pick<Asking, "caller">): void {
  if (w.caller.participant.kind !== "person")
    refuse("forbidden", "Only a person may do this, not a harness or an agent.");
}
