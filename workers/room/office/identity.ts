/** Who asks, and who is known here: what the board and the offices ask the room (AUTH-2, TEAM-1). */
import type { Db } from "../../kit/db.ts";
import type { Identity } from "../../office/letters.ts";
import { unauthenticated } from "../access/authenticate.ts";
import { participant, workspaceOf } from "../store/participants.ts";
import { space } from "../store/spaces.ts";
import type { Caller } from "../types.ts";
import type { Ledger } from "../writer.ts";

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

/**
 * Counts a write at the board or an office among a participant's own (LIMIT-2). What a tool sends by a hook's token is
 * counted by that token: it must not silence who made it.
 */
export function countWrite(ledger: Ledger, { participant: who, tokenId, hook }: Caller): void {
  const { limits } = workspaceOf(ledger.db).settings;
  ledger.limits.take(hook ? tokenId : who.id, 1, limits, ledger.clock.now());
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
