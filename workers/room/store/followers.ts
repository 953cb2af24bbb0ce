/**
 * Which people followed streams at which offices. The sockets are the offices': when somebody's way in ends, those
 * offices close what they have of theirs (AUTH-3, STREAM-2). An agent follows at its own office alone.
 */
import type { Db } from "../../kit/db.ts";
import type { OfficeLetters } from "../../office/letters.ts";

export function noteFollower(db: Db, participantId: string, handle: string): void {
  db.run("INSERT OR IGNORE INTO followers (participant_id, handle) VALUES (?, ?)", participantId, handle);
}

/** Tells every office where this person may follow a stream that a token of theirs ended, or all of their rights. */
export function endFollowing(
  db: Db,
  tell: <K extends "token_revoked" | "follower_gone">(
    handle: string,
    kind: K,
    body: OfficeLetters[K],
  ) => void,
  participantId: string,
  tokenId?: string,
): void {
  for (const { handle } of db.all<{ handle: string }>(
    "SELECT handle FROM followers WHERE participant_id = ?",
    participantId,
  ))
    if (tokenId === undefined) tell(handle, "follower_gone", { participantId });
    else tell(handle, "token_revoked", { tokenId });
  if (tokenId === undefined) db.run("DELETE FROM followers WHERE participant_id = ?", participantId);
}
