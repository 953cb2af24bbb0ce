/** Who a token is: its row, its participant, and whether both still stand (AUTH-1 to AUTH-3). */
import { timingSafeEqual } from "node:crypto";
import type { Scope } from "../../../src/shared/wire/http.ts";
import { fromHex } from "../../kit/bytes.ts";
import type { Db } from "../../kit/db.ts";
import { refuse } from "../../kit/result.ts";
import { isGone, participant } from "../store/participants.ts";
import type { Caller, Credential } from "../types.ts";

/** A session ends 30 days after its last use (AUTH-8). */
export const SESSION_MS = 30 * 86_400_000;
/** A use is noted at most this often, so that reading does not write. */
const USE_NOTED_MS = 3_600_000;
/** Compared with when there is no such token, so that both answers take the same path (AUTH-7). */
const NO_HASH = "0".repeat(64);

export interface TokenRow {
  id: string;
  participant_id: string;
  hash: string;
  scopes: string;
  name: string;
  session: number;
  created_at: number;
  last_used_at: number | null;
  /** A hook's (WORK-4): where its events come from, and which types it may send, as JSON. */
  source: string | null;
  types: string | null;
}

/** The caller behind a credential; refuses with one answer whatever is wrong with it. */
export function authenticate(db: Db, credential: Credential, now: number): Caller {
  const row = db.one<TokenRow>("SELECT * FROM tokens WHERE id = ?", credential.tokenId);
  const proven = sameHash(row?.hash ?? NO_HASH, credential.secretHash);
  if (!row || !proven || isExpired(row, now)) unauthenticated();
  const who = participant(db, row.participant_id);
  if (!who || isGone(who)) unauthenticated();
  if (row.last_used_at === null || now - row.last_used_at > USE_NOTED_MS)
    db.run("UPDATE tokens SET last_used_at = ? WHERE id = ?", now, row.id);
  return {
    participant: who,
    tokenId: row.id,
    scopes: JSON.parse(row.scopes) as Scope[],
    ...(row.source === null
      ? {}
      : { hook: { source: row.source, types: JSON.parse(row.types ?? "[]") as string[] } }),
    origin: credential.origin,
  };
}

export function unauthenticated(): never {
  refuse(
    "unauthenticated",
    "This token is not valid (any more). Sign in again, or ask an owner for a new token.",
  );
}

export function isExpired(row: TokenRow, now: number): boolean {
  return row.session !== 0 && now - (row.last_used_at ?? row.created_at) > SESSION_MS;
}

/** Constant-time comparison of two hex digests. */
export function sameHash(a: string, b: string): boolean {
  const left = fromHex(a);
  const right = fromHex(b);
  return left?.length === 32 && right?.length === 32 && timingSafeEqual(left, right);
}

/** The scope that lets a participant speak in rooms as itself (AUTH-2). */
export function speaksAs(caller: Caller): Scope {
  return caller.participant.kind;
}

/** Refuses a token whose scopes do not cover speaking in rooms. */
export function mustSpeak(caller: Caller): void {
  const needed = speaksAs(caller);
  if (!caller.scopes.includes(needed))
    refuse("forbidden", `This token lacks the scope ${needed}. Use a token that has it.`);
}

/**
 * Refuses an agent's token where only who lives in rooms comes: it speaks, and hears through its office (TEAM-2).
 */
export function mustConnect(caller: Caller): void {
  mustSpeak(caller);
  if (caller.participant.kind === "agent")
    refuse(
      "forbidden",
      "An agent's token speaks in rooms and reads them. What is for it comes through its office: GET /v1/workspaces/<ws>/people/<handle>/agent.",
    );
}

/** Refuses everybody but the workspace's owners and admins (SPACE-7). */
export function mustAdminister(caller: Caller): void {
  const role = caller.participant.role;
  if (
    caller.participant.kind !== "person" ||
    !caller.scopes.includes("person") ||
    (role !== "owner" && role !== "admin")
  )
    refuse("forbidden", "Only an owner or an admin of the workspace may do this. Ask one of them.");
}
