/** Tokens: made, listed, revoked (AUTH-2, AUTH-3, AUTH-8). Only a hash of the secret is kept. */
import { createHash } from "node:crypto";
import type * as z from "zod";
import { formatToken } from "../../../src/shared/token.ts";
import type { createHarness, createToken, Scope, tokenItem } from "../../../src/shared/wire/http.ts";
import { toBase64Url } from "../../kit/bytes.ts";
import { notFound, refuse } from "../../kit/result.ts";
import { endFollowing } from "../store/followers.ts";
import { officeAgent, officeHarness } from "../store/office.ts";
import { insertParticipant, isGone, participant, workspaceOf } from "../store/participants.ts";
import type { Caller, ParticipantRow } from "../types.ts";
import { named } from "../verbs/spaces.ts";
import { administers } from "../verbs/standing.ts";
import type { Effect, Ledger } from "../writer.ts";
import { isExpired, mustAdminister, mustSpeak, type TokenRow } from "./authenticate.ts";

/** 256 random bits as text, and what is stored of them (AUTH-1). */
export function newSecret(): { secret: string; hash: string } {
  const secret = toBase64Url(crypto.getRandomValues(new Uint8Array(32)));
  return { secret, hash: createHash("sha256").update(secret).digest("hex") };
}

export interface NewToken {
  participantId: string;
  scopes: Scope[];
  name: string;
  session?: boolean;
  /** A hook's (WORK-4). */
  hook?: { source: string; types: string[] };
}

export function insertToken({ db, clock }: Ledger, of: NewToken): { tokenId: string; secret: string } {
  const tokenId = clock.mint("tok");
  const { secret, hash } = newSecret();
  db.run(
    `INSERT INTO tokens (id, participant_id, hash, scopes, name, session, created_at, source, types)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    tokenId,
    of.participantId,
    hash,
    JSON.stringify(of.scopes),
    of.name,
    of.session ? 1 : 0,
    clock.now(),
    of.hook?.source ?? null,
    of.hook ? JSON.stringify(of.hook.types) : null,
  );
  return { tokenId, secret };
}

function issue(ledger: Ledger, of: NewToken): { token_id: string; token: string } {
  const { tokenId, secret } = insertToken(ledger, of);
  const workspaceId = workspaceOf(ledger.db).id;
  return { token_id: tokenId, token: formatToken({ workspaceId, rowUlid: tokenId.slice(4), secret }) };
}

/** Issues the first token of a workspace, for its owner. */
export function issueFor(
  ledger: Ledger,
  participantId: string,
  scopes: Scope[],
  name: string,
): { token_id: string; token: string } {
  return issue(ledger, { participantId, scopes, name });
}

export function makeHarness(ledger: Ledger, caller: Caller, asked: z.infer<typeof createHarness>) {
  mustAdminister(caller);
  const name = named(asked.name, "name");
  const id = ledger.clock.mint("hrn");
  insertParticipant(ledger.db, { id, kind: "harness", name, now: ledger.clock.now() });
  return { participant_id: id, token: issueFor(ledger, id, ["harness"], name).token };
}

const FITTING: Record<ParticipantRow["kind"], readonly Scope[]> = {
  person: ["person", "admin"],
  harness: ["harness", "hook"],
  agent: ["agent"],
};

/**
 * A further token. For a person only oneself asks: another person's way in is a sign-in link, which is told
 * to them. No token has a scope that its participant could not have (AUTH-2).
 */
export function makeToken(ledger: Ledger, caller: Caller, asked: z.infer<typeof createToken>) {
  mustAdminister(caller);
  if (asked.person !== undefined) return makeAgentToken(ledger, asked, asked.person);
  const who = participant(ledger.db, asked.participant_id ?? caller.participant.id);
  if (!who || isGone(who)) notFound("participant");
  if (who.kind === "agent")
    refuse(
      "invalid",
      'An agent speaks with its harness\'s token. Only a person of the team has one: POST /v1/tokens {person, scopes: ["agent"]}.',
    );
  if (who.id === officeHarness(ledger.db)?.id)
    refuse("invalid", "The office's own harness has no token. Its people have: POST /v1/tokens {person}.");
  if (who.kind === "person" && who.id !== caller.participant.id)
    refuse(
      "forbidden",
      "A token for another person is not made. Make them a sign-in link: POST /v1/sign-in-links.",
    );
  if (asked.source !== undefined || asked.types !== undefined || isPersonsHook(who, asked.scopes))
    return makeHookToken(ledger, who, asked);
  const wrong = asked.scopes.find((s) => !FITTING[who.kind].includes(s));
  if (wrong !== undefined)
    refuse(
      "invalid",
      `The scope ${wrong} does not fit a ${who.kind}: take ${FITTING[who.kind].join(" or ")}.`,
      {
        details: [{ path: "scopes", message: `${wrong} does not fit a ${who.kind}` }],
      },
    );
  const name = named(asked.name ?? who.name, "name");
  return issue(ledger, { participantId: who.id, scopes: [...new Set(asked.scopes)], name });
}

/** The token of a person of the team: it speaks as their agent and is that one's alone (TEAM-2, AUTH-2). */
function makeAgentToken(ledger: Ledger, asked: z.infer<typeof createToken>, handle: string) {
  if (asked.participant_id !== undefined || asked.scopes.join() !== "agent")
    refuse(
      "invalid",
      'A token for a person of the team has the scope agent alone: {person, scopes: ["agent"]}.',
      {
        details: [{ path: "scopes", message: 'must be ["agent"]' }],
      },
    );
  const agent = officeAgent(ledger.db, handle);
  if (!agent || isGone(agent))
    refuse("not_found", "There is no such person in the team. Check the handle, or PUT /v1/team first.");
  const name = named(asked.name ?? agent.name, "name");
  return issue(ledger, { participantId: agent.id, scopes: ["agent"], name });
}

const isPersonsHook = (who: ParticipantRow, scopes: readonly Scope[]): boolean =>
  who.kind === "person" && scopes.includes("hook");

/** A hook's token sends events of one source and of the types that it names, and does nothing else (WORK-4). */
function makeHookToken(ledger: Ledger, who: ParticipantRow, asked: z.infer<typeof createToken>) {
  const { source, types } = asked;
  if (asked.scopes.join() !== "hook" || source === undefined || types === undefined)
    refuse("invalid", 'A hook\'s token names its source and types: {scopes: ["hook"], source, types}.', {
      details: [{ path: "scopes", message: 'must be ["hook"], with source and types' }],
    });
  const name = named(asked.name ?? source, "name");
  const hook = { source, types: [...new Set(types)] };
  return issue(ledger, { participantId: who.id, scopes: ["hook"], name, hook });
}

/** Owners and admins see every token but others' sessions; everybody their own (AUTH-8). */
export function listTokens(
  ledger: Ledger,
  caller: Caller,
  after: string,
  limit: number,
): z.infer<typeof tokenItem>[] {
  const now = ledger.clock.now();
  // A hook's token is kept where its events come from: it tells nothing of others.
  if (caller.hook) mustSpeak(caller);
  return ledger.db
    .all<TokenRow & Pick<ParticipantRow, "office_handle">>(
      `SELECT tokens.*, p.office_handle FROM tokens JOIN participants p ON p.id = tokens.participant_id
       WHERE tokens.id > ?1 AND (participant_id = ?2 OR (?3 AND session = 0)) ORDER BY tokens.id LIMIT ?4`,
      after,
      caller.participant.id,
      administers({ caller }) ? 1 : 0,
      limit,
    )
    .filter((row) => !isExpired(row, now))
    .map((row) => ({
      token_id: row.id,
      participant_id: row.participant_id,
      scopes: JSON.parse(row.scopes) as Scope[],
      name: row.name,
      ...(row.office_handle === null ? {} : { person: row.office_handle }),
      ...(row.source === null
        ? {}
        : { source: row.source, types: JSON.parse(row.types ?? "[]") as string[] }),
      ...(row.session ? { session: true as const } : {}),
      created_at: new Date(row.created_at).toISOString(),
      ...(row.last_used_at === null ? {} : { last_used_at: new Date(row.last_used_at).toISOString() }),
    }));
}

/** Ends a token: at the next frame or request, and its connections now (AUTH-3). */
export function revokeToken({ db, post }: Ledger, caller: Caller, tokenId: string): Effect[] {
  // Any token ends itself; further ones only a token that speaks for its participant (AUTH-2).
  if (tokenId !== caller.tokenId) mustSpeak(caller);
  const row = db.one<TokenRow>("SELECT * FROM tokens WHERE id = ?", tokenId);
  const own = row?.participant_id === caller.participant.id;
  if (!row || (!own && (!administers({ caller }) || row.session !== 0))) notFound("token");
  const holder = participant(db, row.participant_id);
  if (!own && holder?.role === "owner" && caller.participant.role !== "owner")
    refuse("forbidden", "Only an owner revokes an owner's token.");
  db.run("DELETE FROM tokens WHERE id = ?", tokenId);
  // The office closes the connection that was made with it.
  if (holder?.office_handle) post(`office/${holder.office_handle}`, "token_revoked", { tokenId });
  endFollowing(db, (handle, kind, body) => post(`office/${handle}`, kind, body), row.participant_id, tokenId);
  return [{ kind: "close-token", tokenId }];
}
