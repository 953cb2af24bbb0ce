/** The workspace's own doings beside the log: its making, invites, tokens, oneself (AUTH). One row each. */
import type * as z from "zod";
import type * as http from "../../../src/shared/wire/http.ts";
import { defaultSettings } from "../../../src/shared/wire/index.ts";
import { refuse } from "../../kit/result.ts";
import { insertParticipant } from "../store/participants.ts";
import type { Caller } from "../types.ts";
import { named } from "../verbs/spaces.ts";
import type { Effect, Ledger, Written } from "../writer.ts";
import { mustSpeak } from "./authenticate.ts";
import { makeInvite, makeSignInLink, withdrawInvite } from "./links.ts";
import { issueFor, makeHarness, makeToken, revokeToken } from "./tokens.ts";

interface Managed<A> {
  answer: A;
  written?: Written;
}

/** Makes the tables' first rows. Refuses when they are there: a workspace is made once (AUTH-5). */
export function openWorkspace(
  ledger: Ledger,
  id: string,
  asked: z.infer<typeof http.createWorkspace>,
): z.infer<typeof http.workspaceCreated> {
  const { db, clock } = ledger;
  if (db.one("SELECT 1 FROM workspace")) refuse("conflict", "There is a workspace with this id already.");
  const name = named(asked.name, "name");
  const owner = { participant_id: clock.mint("usr"), name: named(asked.owner_name, "owner_name") };
  const now = clock.now();
  db.run(
    "INSERT INTO workspace (id, name, created_at, settings) VALUES (?, ?, ?, ?)",
    id,
    name,
    now,
    JSON.stringify(defaultSettings()),
  );
  insertParticipant(db, { id: owner.participant_id, kind: "person", name: owner.name, role: "owner", now });
  const { token } = issueFor(ledger, owner.participant_id, ["person", "admin"], "owner");
  return { workspace_id: id, owner, token };
}

/** An IANA zone that this runtime knows (NOTE-5). */
function setTimeZone({ db }: Ledger, caller: Caller, asked: z.infer<typeof http.putMe>): null {
  mustSpeak(caller);
  if (caller.participant.kind !== "person") refuse("forbidden", "Only a person has a time zone.");
  try {
    Intl.DateTimeFormat("en", { timeZone: asked.time_zone });
  } catch {
    refuse("invalid", "time_zone is an IANA zone, for example Europe/Berlin.", {
      details: [{ path: "time_zone", message: "is no IANA time zone" }],
    });
  }
  db.run("UPDATE participants SET time_zone = ? WHERE id = ?", asked.time_zone, caller.participant.id);
  return null;
}

const effects = (made: Effect[]): Written => ({ receipts: [], rows: [], effects: made });

const MANAGE = {
  invite: (l: Ledger, c: Caller, a: z.infer<typeof http.createInvite>) => ({ answer: makeInvite(l, c, a) }),
  withdrawInvite: (l: Ledger, c: Caller, a: { invite_id: string }) => {
    withdrawInvite(l.db, c, a.invite_id);
    return { answer: null };
  },
  signInLink: (l: Ledger, c: Caller, a: z.infer<typeof http.createSignInLink>) => makeSignInLink(l, c, a),
  harness: (l: Ledger, c: Caller, a: z.infer<typeof http.createHarness>) => ({
    answer: makeHarness(l, c, a),
  }),
  token: (l: Ledger, c: Caller, a: z.infer<typeof http.createToken>) => ({ answer: makeToken(l, c, a) }),
  revokeToken: (l: Ledger, c: Caller, a: { token_id: string }) => ({
    answer: null,
    written: effects(revokeToken(l, c, a.token_id)),
  }),
  signOut: (l: Ledger, c: Caller, _a: object) => ({
    answer: null,
    written: effects(revokeToken(l, c, c.tokenId)),
  }),
  timeZone: (l: Ledger, c: Caller, a: z.infer<typeof http.putMe>) => ({ answer: setTimeZone(l, c, a) }),
};
type Manage = typeof MANAGE;
export type ManageName = keyof Manage;
export type ManageArgs<N extends ManageName> = Parameters<Manage[N]>[2];
export type ManageAnswer<N extends ManageName> = ReturnType<Manage[N]>["answer"];

export function manage<N extends ManageName>(
  ledger: Ledger,
  caller: Caller,
  name: N,
  args: ManageArgs<N>,
): Managed<ManageAnswer<N>> {
  return (MANAGE[name] as unknown as (l: Ledger, c: Caller, a: ManageArgs<N>) => Managed<ManageAnswer<N>>)(
    ledger,
    caller,
    args,
  );
}
