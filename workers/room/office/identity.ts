/** Who asks, and who is known here: what the board and the offices ask the room (AUTH-2, TEAM-1). */
import type { Db } from "../../kit/db.ts";
import type { Identity } from "../../office/letters.ts";
import { unauthenticated } from "../access/authenticate.ts";
import { participant } from "../store/participants.ts";
import { space } from "../store/spaces.ts";
import type { Caller } from "../types.ts";

/** A caller as the other objects know it; they decide what it may do (AUTH-2). */
export function identityOf({ participant: who, tokenId, scopes, hook }: Caller): Identity {
  // An agent without a person of the team has no token; nothing here mints one.
  if (who.kind === "agent" && who.office_handle === null) unauthenticated();
  return {
    participantId: who.id,
    tokenId,
    kind: who.kind,
    name: who.name,
    role: who.role,
    scopes,
    ...(who.office_handle === null ? {} : { handle: who.office_handle }),
    ...(hook ? { hook } : {}),
  };
}

/** The ids that name no person who is here, and no space (TEAM-1). */
export function unknownOf(
  db: Db,
  asked: { users: readonly string[]; spaces: readonly string[] },
): { users: string[]; spaces: string[] } {
  return {
    users: asked.users.filter((id) => {
      const who = participant(db, id);
      return who?.kind !== "person" || who.removed_at !== null;
    }),
    spaces: asked.spaces.filter((id) => !space(db, id)),
  };
}
