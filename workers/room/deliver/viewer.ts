/** Who a delivery is for, and how they are shown the others. */
import type { LineFrom, ParticipantKind, Sender } from "../../../src/shared/wire/index.ts";
import type { Db } from "../../kit/db.ts";
import { type SignedUrl, type SigningKeys, signUrl } from "../../kit/sign.ts";
import { wordsOf } from "../store/messages.ts";
import { agentsOf, participant } from "../store/participants.ts";
import { type MemberRow, space, staysIn } from "../store/spaces.ts";
import type { ParticipantRow, SpaceRow, WordsRow } from "../types.ts";

/** The budget of a context where no hello named one (WIN-1). */
export const DEFAULT_BUDGET = { lines: 40, chars: 16_000 };
/** The most that a hello may ask for. */
export const MAX_BUDGET = { lines: 500, chars: 200_000 };

export interface Viewer {
  id: string;
  kind: "person" | "harness";
  /** A person who is a guest of the workspace. */
  guest: boolean;
  /** Whether a harness has declared agents (SPACE-5). */
  declared: boolean;
  /** A harness and its agents, those that are gone included; a person alone. */
  own: ReadonlySet<string>;
  budget: { lines: number; chars: number };
  tokenId: string;
  origin: string;
}

export function viewerOf(db: Db, who: ParticipantRow, tokenId: string, origin: string): Viewer {
  const agents = who.kind === "harness" ? agentsOf(db, who.id) : [];
  return {
    id: who.id,
    kind: who.kind === "person" ? "person" : "harness",
    guest: who.role === "guest",
    // An agent with a token of its own sees others as its harness would, which has declared it.
    declared: agents.length > 0 || who.kind === "agent",
    own: new Set([who.id, ...agents.map((a) => a.id)]),
    budget: {
      lines: Math.min(who.context_lines ?? DEFAULT_BUDGET.lines, MAX_BUDGET.lines),
      chars: Math.min(who.context_chars ?? DEFAULT_BUDGET.chars, MAX_BUDGET.chars),
    },
    tokenId,
    origin,
  };
}

/** What deliveries of one round share: rows that are looked up again and again. */
export interface Round {
  db: Db;
  now: number;
  workspaceId: string;
  keys: SigningKeys;
  urlTtlS: number;
  who(id: string): ParticipantRow | undefined;
  space(id: string): SpaceRow | undefined;
  /** A message's words as they are now. */
  words(messageId: string): WordsRow | undefined;
  /** Everybody who is in a space now. */
  present(spaceId: string): ReadonlySet<string>;
  /** Computes once a round what is the same for every viewer. */
  once<T>(key: string, make: () => T): T;
}

export function openRound(
  db: Db,
  now: number,
  workspaceId: string,
  keys: SigningKeys,
  urlTtlS: number,
): Round {
  const kept = new Map<string, unknown>();
  const once = <T>(key: string, make: () => T): T => {
    if (!kept.has(key)) kept.set(key, make());
    return kept.get(key) as T;
  };
  return {
    db,
    now,
    workspaceId,
    keys,
    urlTtlS,
    once,
    who: (id) => once(`who ${id}`, () => participant(db, id)),
    space: (id) => once(`space ${id}`, () => space(db, id)),
    words: (messageId) => once(`words ${messageId}`, () => wordsOf(db, messageId)),
    present: (spaceId) =>
      once(`present ${spaceId}`, () => new Set(staysIn(db, spaceId).map((s) => s.participant_id))),
  };
}

/** To a harness that has declared no agents every agent is a harness (SPACE-5). */
export function kindFor(viewer: Viewer, kind: ParticipantKind): ParticipantKind {
  return viewer.kind === "harness" && !viewer.declared && kind === "agent" ? "harness" : kind;
}

/** The name somebody goes by in a space: a harness asked for a space has the name it was asked by (SPACE-3). */
export function shownName(who: Pick<ParticipantRow, "id" | "name">, inSpace: SpaceRow | undefined): string {
  return inSpace?.harness_id === who.id && inSpace.agent_name !== null ? inSpace.agent_name : who.name;
}

/** Who a line is by, as they are called and stand now. */
export function lineFrom(
  round: Round,
  viewer: Viewer,
  id: string,
  spaceId: string,
  here: readonly MemberRow[],
): LineFrom {
  const who = round.who(id);
  if (!who) return { id: "system", kind: "system", name: "Bullpen" };
  const role = here.find((m) => m.id === id)?.space_role;
  return {
    id,
    kind: kindFor(viewer, who.kind),
    name: shownName(who, round.space(spaceId)),
    ...(role === undefined ? {} : { role }),
    ...(who.kind === "person" && who.role !== null ? { workspace_role: who.role } : {}),
  };
}

/** Who said a message, standing as when it was said (NEW-4), named as now. */
export function senderOf(
  round: Round,
  viewer: Viewer,
  id: string,
  spaceId: string,
  said: Pick<Sender, "role" | "workspace_role">,
): Sender {
  const who = round.who(id);
  return {
    participant_id: id,
    kind: kindFor(viewer, who?.kind ?? "person"),
    display_name: who ? shownName(who, round.space(spaceId)) : id,
    role: said.role,
    ...(said.workspace_role === undefined ? {} : { workspace_role: said.workspace_role }),
  };
}

/** A URL for this viewer's token, good for the workspace's time (ATT-4). */
export function urlFor(round: Round, viewer: Viewer, attachmentId: string): SignedUrl {
  const expires = Math.floor(round.now / 1000) + round.urlTtlS;
  return signUrl(round.keys, viewer.origin, {
    workspaceId: round.workspaceId,
    attachmentId,
    expires,
    tokenId: viewer.tokenId,
  });
}
