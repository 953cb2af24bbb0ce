/** Invites and sign-in links: ways in that end by themselves (AUTH-6, AUTH-8). */
import type * as z from "zod";
import { formatLinkSecret, formatToken } from "../../../src/shared/token.ts";
import type {
  createInvite,
  createSignInLink,
  redeemInvite,
  redeemSignInLink,
  Scope,
} from "../../../src/shared/wire/http.ts";
import type { Db } from "../../kit/db.ts";
import { notFound, refuse } from "../../kit/result.ts";
import { insertParticipant, isGone, participant, workspaceOf } from "../store/participants.ts";
import { space, stay } from "../store/spaces.ts";
import type { Caller, ParticipantRow } from "../types.ts";
import { join, mustHaveRoom } from "../verbs/members.ts";
import { named } from "../verbs/spaces.ts";
import { writeAside } from "../write.ts";
import type { Ledger, Written } from "../writer.ts";
import { mustAdminister, mustSpeak, sameHash } from "./authenticate.ts";
import { insertToken, newSecret } from "./tokens.ts";

const SIGN_IN_MS = 5 * 60_000;
/** A repeated redemption with the same key gives the same participant this long (AUTH-8). */
const REPEAT_MS = 10 * 60_000;

interface LinkRow {
  id: string;
  hash: string;
  participant_id: string | null;
  role: string | null;
  space_ids: string;
  uses_left: number;
  expires_at: number;
  made_by: string;
}

export function makeInvite(ledger: Ledger, caller: Caller, asked: z.infer<typeof createInvite>) {
  mustAdminister(caller);
  if (asked.role === "admin" && caller.participant.role !== "owner")
    refuse("forbidden", "Only an owner invites admins.");
  for (const id of asked.space_ids) {
    const found = space(ledger.db, id);
    if (!found || !stay(ledger.db, id, caller.participant.id)) notFound("space");
    if (found.direct !== null) refuse("conflict", "Nobody can be added to a direct space.");
  }
  const made = makeLink(ledger, caller, {
    role: asked.role,
    spaceIds: asked.space_ids,
    uses: asked.uses,
    lifeMs: asked.expires_in_s * 1000,
  });
  return {
    invite_id: made.id,
    link: `${caller.origin}/#invite=${made.secret}`,
    expires_at: made.expires_at,
  };
}

/** A link that signs somebody in elsewhere: by oneself, or by an owner for somebody else, who is told (AUTH-8). */
export function makeSignInLink(
  ledger: Ledger,
  caller: Caller,
  asked: z.infer<typeof createSignInLink>,
): { answer: { link: string; expires_at: string }; written?: Written } {
  mustSpeak(caller);
  const { db } = ledger;
  const forId = asked.participant_id ?? caller.participant.id;
  const who = participant(db, forId);
  const other = forId !== caller.participant.id;
  if (other && (caller.participant.role !== "owner" || caller.participant.kind !== "person"))
    refuse("forbidden", "You make sign-in links for yourself; an owner makes them for others.");
  if (!who || isGone(who) || who.kind !== "person") notFound("participant");
  const made = makeLink(ledger, caller, { participantId: who.id, spaceIds: [], uses: 1, lifeMs: SIGN_IN_MS });
  return { answer: { link: `${caller.origin}/#signin=${made.secret}`, expires_at: made.expires_at } };
}

interface NewLink {
  participantId?: string;
  role?: string;
  spaceIds: string[];
  uses: number;
  lifeMs: number;
}

function makeLink({ db, clock }: Ledger, caller: Caller, of: NewLink) {
  const id = clock.mint("inv");
  const now = clock.now();
  const { secret, hash } = newSecret();
  db.run(
    `INSERT INTO links (id, hash, participant_id, role, space_ids, uses_left, expires_at, made_by, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    id,
    hash,
    of.participantId ?? null,
    of.role ?? null,
    JSON.stringify(of.spaceIds),
    of.uses,
    now + of.lifeMs,
    caller.participant.id,
    now,
  );
  return {
    id,
    secret: formatLinkSecret({ workspaceId: workspaceOf(db).id, rowUlid: id.slice(4), secret }),
    expires_at: new Date(now + of.lifeMs).toISOString(),
  };
}

export interface Redeemed {
  participant: { participant_id: string; name: string; role: string };
  workspace_id: string;
  token: string;
}

export interface Proof {
  linkId: string;
  secretHash: string;
  origin: string;
}

/** Makes the participant of an invite and its session; a repeat within ten minutes finds the same one (AUTH-6). */
export function redeem(
  ledger: Ledger,
  proof: Proof,
  asked: z.infer<typeof redeemInvite>,
): { answer: Redeemed; written?: Written } {
  const { db } = ledger;
  const name = named(asked.display_name, "display_name");
  const { link, repeated } = useLink(ledger, proof, asked.idempotency_key, "invite");
  if (repeated) return { answer: sessionFor(ledger, repeated) };
  const id = ledger.clock.mint("usr");
  const role = (link.role ?? "member") as NonNullable<ParticipantRow["role"]>;
  insertParticipant(db, { id, kind: "person", name, role, now: ledger.clock.now() });
  noteRedeemed(ledger, link, asked.idempotency_key, id);
  const made = participant(db, id);
  if (!made) throw new Error("the participant just made is not there");
  const caller: Caller = { participant: made, tokenId: "", scopes: ["person"], origin: proof.origin };
  const written = writeAside(ledger, caller, (w) => {
    for (const spaceId of JSON.parse(link.space_ids) as string[]) {
      mustHaveRoom(w, spaceId, made);
      join(w, spaceId, made, role === "guest" ? "guest" : "member");
    }
  });
  return { answer: sessionFor(ledger, made), written };
}

export function redeemSignIn(
  ledger: Ledger,
  proof: Proof,
  asked: z.infer<typeof redeemSignInLink>,
): { answer: Redeemed; written?: Written } {
  const { link, repeated } = useLink(ledger, proof, asked.idempotency_key, "sign-in");
  const who = repeated ?? participant(ledger.db, link.participant_id ?? "");
  if (!who || isGone(who)) gone();
  if (!repeated) noteRedeemed(ledger, link, asked.idempotency_key, who.id);
  const answer = sessionFor(ledger, who);
  if (link.made_by === who.id) return { answer };
  // Somebody else opened this way in: the person is told wherever they look (AUTH-8).
  const maker = participant(ledger.db, link.made_by);
  const caller: Caller = { participant: maker ?? who, tokenId: "", scopes: ["person"], origin: proof.origin };
  const written = writeAside(ledger, caller, (w) => {
    w.append("notice.posted", {
      actor: { kind: "system", id: "system" },
      body: {
        code: "signed_in",
        text: `Somebody signed in as ${who.name} with a link that ${maker?.name ?? "an owner"} made.`,
        about: [who.id, link.made_by],
      },
    });
  });
  return { answer, written };
}

/** The link, if it may be used now, or the participant that the same key made before. Refuses what is over. */
function useLink(
  { db, clock }: Ledger,
  proof: Proof,
  key: string,
  kind: "invite" | "sign-in",
): { link: LinkRow; repeated?: ParticipantRow } {
  const link = db.one<LinkRow>("SELECT * FROM links WHERE id = ?", proof.linkId);
  const proven = sameHash(link?.hash ?? "0".repeat(64), proof.secretHash);
  if (!link || !proven || (link.participant_id !== null) !== (kind === "sign-in")) gone();
  const now = clock.now();
  const before = db.one<{ participant_id: string; at: number }>(
    "SELECT participant_id, at FROM redemptions WHERE link_id = ? AND key = ?",
    link.id,
    key,
  );
  if (before && now - before.at <= REPEAT_MS) {
    const who = participant(db, before.participant_id);
    if (who && !isGone(who)) return { link, repeated: who };
  }
  if (link.uses_left <= 0 || link.expires_at <= now) gone();
  return { link };
}

function noteRedeemed({ db, clock }: Ledger, link: LinkRow, key: string, participantId: string): void {
  db.run("UPDATE links SET uses_left = uses_left - 1 WHERE id = ?", link.id);
  db.run(
    "INSERT OR REPLACE INTO redemptions (link_id, key, participant_id, at) VALUES (?, ?, ?, ?)",
    link.id,
    key,
    participantId,
    clock.now(),
  );
}

function gone(): never {
  refuse("gone", "This link was used, has expired or was withdrawn. Ask for a new one.");
}

function sessionFor(ledger: Ledger, who: ParticipantRow): Redeemed {
  const scopes: Scope[] = ["person"];
  const { tokenId, secret } = insertToken(ledger, {
    participantId: who.id,
    scopes,
    name: "session",
    session: true,
  });
  const workspaceId = workspaceOf(ledger.db).id;
  return {
    participant: { participant_id: who.id, name: who.name, role: who.role ?? "member" },
    workspace_id: workspaceId,
    token: formatToken({ workspaceId, rowUlid: tokenId.slice(4), secret }),
  };
}

export function withdrawInvite(db: Db, caller: Caller, inviteId: string): void {
  mustAdminister(caller);
  if (db.run("UPDATE links SET uses_left = 0 WHERE id = ? AND participant_id IS NULL", inviteId) === 0)
    notFound("invite");
}
