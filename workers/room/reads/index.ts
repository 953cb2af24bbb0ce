/** Every read of a room by name (HTTP-2): a new read is one function and one row here. */
import type * as z from "zod";
import type * as http from "../../../src/shared/wire/http.ts";
import type { Db } from "../../kit/db.ts";
import { refuse } from "../../kit/result.ts";
import { mustSpeak } from "../access/authenticate.ts";
import { listTokens } from "../access/tokens.ts";
import type { Round, Viewer } from "../deliver/viewer.ts";
import type { Caller } from "../types.ts";
import type { Ledger } from "../writer.ts";
import { approvals, audit, auditVerify, grants, policy, policyTry } from "./approvals.ts";
import { me, participants, settings } from "./people.ts";
import { search } from "./search.ts";
import { context, events, files, memberList, runs, spaceItem, spaces } from "./spaces.ts";
import { why } from "./why.ts";

/** What a read works with. */
export interface Reader {
  db: Db;
  ledger: Ledger;
  caller: Caller;
  viewer: Viewer;
  round: Round;
  /** Which participants have an open connection now. */
  online(participantId: string): boolean;
}

/** Pages are at most this long (HTTP-2). */
export const MAX_PAGE = 200;

export interface PageArgs {
  cursor?: string | undefined;
  limit: number;
}

/** Cuts a list that was read one longer than the page; `next` only when there is more. */
export function pageOf<T>(
  rows: readonly T[],
  limit: number,
  cursorOf: (last: T) => string,
): { items: T[]; next?: string } {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return rows.length > limit && last !== undefined ? { items, next: cursorOf(last) } : { items };
}

function tokens(r: Reader, { cursor, limit }: PageArgs) {
  const rows = listTokens(r.ledger, r.caller, cursor ?? "", limit + 1);
  return pageOf<z.infer<typeof http.tokenItem>>(rows, limit, (t) => t.token_id);
}

const READS = {
  me,
  participants,
  settings,
  search,
  context,
  events,
  files,
  members: memberList,
  runs,
  space: spaceItem,
  spaces,
  tokens,
  approvals,
  grants,
  policy,
  policyTry,
  audit,
  auditVerify,
  why,
};
type Reads = typeof READS;
export type ReadName = keyof Reads;
export type ReadArgs<N extends ReadName> = Parameters<Reads[N]>[1];
export type ReadAnswer<N extends ReadName> = ReturnType<Reads[N]>;

/** These are about oneself and need no scope of rooms. */
const OWN: ReadonlySet<ReadName> = new Set(["me", "tokens"]);

/** What the token of a person of the team reads (TEAM-2). */
const OF_AGENTS: ReadonlySet<ReadName> = new Set([
  "me",
  "participants",
  "spaces",
  "space",
  "members",
  "context",
  "files",
  "search",
]);

export function read<N extends ReadName>(reader: Reader, name: N, args: ReadArgs<N>): ReadAnswer<N> {
  if (!OWN.has(name)) mustSpeak(reader.caller);
  if (reader.caller.participant.kind === "agent" && !OF_AGENTS.has(name))
    refuse("forbidden", "An agent's token reads its own spaces: their messages, members and files.");
  return (READS[name] as (r: Reader, a: ReadArgs<N>) => ReadAnswer<N>)(reader, args);
}
