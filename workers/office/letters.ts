/**
 * What the Room, the Board and the Offices of one workspace tell each other: letters (kit/outbox.ts), which must
 * arrive once, and the plain data of their calls. All of it is inside the deployment: nothing here is the wire.
 */
import type { Author, Said } from "../../src/shared/rules/context/feed.ts";
import type {
  AgentPayload,
  OfferContext,
  OfferedItem,
  OfferFeedback,
  Op,
  Report,
} from "../../src/shared/wire/agent/index.ts";
import type { Scope } from "../../src/shared/wire/http.ts";
import type { Outcome, WorkspaceRole } from "../../src/shared/wire/index.ts";
import type { Team } from "../../src/shared/wire/team.ts";
import type { WorkEvent } from "../../src/shared/wire/work.ts";
import type { AskStands } from "../room/office/stands.ts";

/** Who sends letters: `room`, `board`, or `office/<handle>`; and to whom. */
export type Address = "room" | "board" | `office/${string}`;

/** Something that work is about. `ref`: a ticket's key, `owner/repo#n`, a document's id, `<channel>/<thread>`. */
export interface Ref {
  type: "ticket" | "pr" | "doc" | "chat_thread";
  ref: string;
}
/** How a thing came to an item: the roles of `context.wake`, in the contract's order of precedence. */
export interface ItemRef extends Ref {
  role: "trigger" | "subject" | "created" | "attached" | "mentioned" | "inferred" | "linked";
  /** An event's id, a verb of the agent, a message's id, or `link:<ref>` (OFFER-8). */
  source: string;
  /** ISO 8601. */
  addedAt?: string;
  title?: string;
  url?: string;
}

/** Where a request came from, and where its end is told. */
export type Origin = NonNullable<OfferedItem["origin"]>;
export type Thread = Pick<Origin, "channel" | "thread" | "requester" | "direct" | "participant">;

/** Who is told how an item ended: a human, or a teammate by handle. */
export interface Requester {
  /** A participant's id in rooms, or the chat's user id. */
  id: string;
  name?: string;
  kind: "human" | "agent";
}

// ---- to an Office -----------------------------------------------------------------------------------

export interface Wake {
  /** Decided once: the same key again changes nothing (PIPE-3). */
  key: string;
  eventId: string;
  rule: string;
  kind: string;
  title: string;
  trigger: OfferedItem["trigger"];
  /** Left out: its kind's own (QUEUE-2). */
  priority?: number;
  subject?: Ref;
  refs: ItemRef[];
  /** What is asked, when no feedback says so: a ticket's or schedule's text. */
  body?: string;
  /** With it a round on an own item about the subject, when there is one; else a new item (PIPE-2). */
  feedback?: OfferFeedback & { key: string };
  origin?: Origin;
  requester?: Requester;
  /** For a question: the asker's item, whose answer goes to `answerTo`. */
  question?: { id: string; from: string; parentId?: string; chain: string[]; text: string };
  /** A room's message that this is about: its run is the item's round (CHAT-2). */
  room?: { spaceId: string; messageId: string };
  /** Who did what it is about: the actor of its item in a stream (CTX-7). */
  author?: Author;
}

export interface OfficeLetters {
  /** The person exists, or goes on to (from the board). Makes the office when it is new. */
  team: { workspace: string; handle: string; version: number; team: Team };
  /** The person was taken out of the team (TEAM-3). */
  removed: { by: string };
  wake: Wake;
  /** What is queued about it is canceled; what runs is told by a note (PIPE-1). */
  cancel: { ref: Ref; why: string; eventId: string; by: string };
  act: { id: string; eventId: string; ops: Op[] };
  /** A question of this person was answered; `canceled`: nobody will, and `answer` says why. */
  answer: { ask: string; answer: string; by: string; canceled?: true };
  /** Nobody waits for the answer any more: what is queued of the question is canceled (ITEM-2). */
  question_withdrawn: { ask: string; by: string };
  /** An event about something of this person's items, for recall (RECALL-1). */
  moment: {
    id: string;
    at: string;
    kind: string;
    ref: Ref;
    title?: string;
    url?: string;
    who?: string;
    /** The identities of who did it, for `with`. */
    whoIds?: string[];
    text: string;
    link?: string;
  };
  /** An item that a person moves here from another office: a piece of the lines that its rows are. */
  moved_part: { item: string; n: number; text: string };
  /** All its pieces have come before this: now the item is here. */
  moved: { item: string; from: string; parts: number };
  /** What an agent said of an item after it had gone to this office (OFFER-7). */
  note: { item: string; author: string; text: string; at: number };
  /**
   * The run of a chat item was stopped: by a person, whose word cancels the item (CHAT-2), or, with `because`, by
   * the room itself at a ceiling (SPEND-3): then the item is blocked, so that a person can queue it again.
   */
  stop_run: { runId: string; by: { id: string; name: string }; because?: "spend" | "day" };
  /** An ask for leave of this person's agent was decided, or was taken back; `state` came with the ask (APR-6). */
  ask_decided: { state: string; stands: AskStands };
  /** A room's message that was for this person was edited or taken back (NEW-7): `text` or `deleted`. */
  message_changed: { messageId: string; text?: string; deleted?: true };
  /** A message that was not for this person, in a space where their agent is, if its office keeps streams (CTX-7). */
  overheard: Said;
  /** A token ended that was for the person's agent, or that somebody may follow a stream here with (AUTH-3). */
  token_revoked: { tokenId: string };
  /** Somebody is not in the workspace any more, or a guest: they follow no stream (STREAM-2). */
  follower_gone: { participantId: string };
  /** The usage windows of those who share a subscription hold offers until then, ms; absent: no more (USE-3). */
  hold: { until?: number; why?: string };
}

// ---- to the Board -----------------------------------------------------------------------------------

export type PersonState = "idle" | "working" | "paused" | "offline";
export interface PersonStatus {
  handle: string;
  status: PersonState;
  /** What they are on: an item's title. */
  current?: string;
  /** The item's id and kind. */
  item?: { id: string; kind: string; title: string; state: string };
  queued: number;
  /** Ids of items whose state changed, for who watches. */
  changed?: string[];
  at: number;
}

/** What one round newly used (USE-1), for a ticket's totals (USE-2). */
export interface RoundUsage {
  handle: string;
  item: string;
  round: number;
  kind: string;
  /** Keys of the tickets that the item's subject or references name. */
  tickets: string[];
  prs: string[];
  models: {
    model: string;
    inputTokens: number;
    outputTokens: number;
    cacheReadTokens: number;
    cacheCreationTokens: number;
    costUsd: number;
  }[];
}

export interface BoardLetters {
  event: WorkEvent;
  status: PersonStatus;
  windows: { handle: string; at: number; windows: AgentPayload<"usage">["windows"] };
  used: RoundUsage;
  act_result: { handle: string; id: string; ok: boolean; results: string[]; error?: string };
  /** The item that a wake became, or is a round of. */
  woken: { handle: string; eventId: string; item: string };
  /** An item was canceled, and what these events asked for with it. */
  canceled: { handle: string; item: string; events: string[]; why: string };
  /** What an item of this person newly refers to: past events follow as moments (RECALL-1). */
  refs: { handle: string; item: string; refs: ItemRef[] };
  /** A ticket or pull request that the person made in an item (ITEM-1), or a document (ITEM-5). */
  made: {
    handle: string;
    /** Left out for a page of notes that was written beside all work. */
    item?: string;
    at: string;
    /** Alone: the ticket that was made. Else the one that the pull request or document is for. */
    ticket?: string;
    pr?: { repo: string; number: number; url?: string };
    doc?: { id: string; title: string; url: string };
  };
  /** A teammate or a human answered a question. */
  answered: { ask: string; from: string; answer: string; by: string };
  /** The asker's office: nobody waits for it any more. The asked person's: nobody will answer it (ITEM-2). */
  question_canceled: { ask: string; to: string; why?: string };
  /** A room's message that was for people of the team was edited or taken back (NEW-7): `text` or `deleted`. */
  message_changed: { messageId: string; text?: string; deleted?: true };
}

// ---- to the Room ------------------------------------------------------------------------------------

export interface RoomLetters {
  /**
   * The team's people, all of them: each is an agent of the built-in office harness (TEAM-2). `hears`: their offices
   * keep streams, and are told what is said where they are (CTX-7).
   */
  people: { people: { handle: string; name: string; hears?: true }[] };
  /**
   * The person was paused or goes on: rooms ask a paused one nothing, and say so (ADDR-5). Sent by its office
   * whenever that changes, also when `until` is over.
   */
  paused: { handle: string; paused: boolean };
  /**
   * A chat item's round began (CHAT-2). The same `runId` again is the same run; messages that have a run of this
   * agent already are left out by the room. A run that the room had ended goes on: the office need not know.
   * Whoever hears an agent on an item with an open run calls `room.runHeard([runId])`, every five minutes at most:
   * a run that nothing is heard of for ten minutes shows as waiting, after an hour the room ends it (TURN-5).
   */
  run_start: { runId: string; handle: string; spaceId: string; messageIds: string[] };
  run_step: { runId: string; text: string };
  run_usage: { runId: string; costUsd: number; inputTokens?: number; outputTokens?: number };
  run_end: { runId: string; outcome: Outcome; costUsd?: number };
  /** A question to a human, in their direct space with that agent (ITEM-2). Its answer comes as `answered`. */
  ask: { ask: string; handle: string; user: string; text: string };
  ask_canceled: { ask: string };
  /** How an item ended, said by the agent itself where it was asked (REPORT-3): of an office that runs its agent. */
  say: { handle: string; report: Report };
  /** A line of the room's own (LOG-8), in these spaces. `about` may name people of the team by handle. */
  notice: { spaceIds: string[]; code: "office"; text: string; about: string[] };
  /** Work was filed from a space: a job begins there (SPEND-1). */
  brief: { spaceId: string };
}

/**
 * What changed, by name, for who watches (QUEUE-4). The board sends it to `room.live(change)` after the commit, as
 * long as that answers that somebody watches; the room calls `board.watched()` when somebody begins to.
 */
export interface LiveChange {
  people?: string[];
  items?: string[];
  tickets?: string[];
  events?: string[];
  team?: true;
}

// ---- calls ------------------------------------------------------------------------------------------

/** Who asks, as the Room found from a token: for every route of the Office and the Board. */
export interface Identity {
  participantId: string;
  tokenId: string;
  kind: "person" | "harness" | "agent";
  name: string;
  role: WorkspaceRole | null;
  scopes: Scope[];
  /** An agent's token: the person of the team that it is for (TEAM-2). */
  handle?: string;
  /** A hook's token: its source and the event types that it may send (WORK-4). */
  hook?: { source: string; types: string[] };
}

/** What an office asks the board before an offer goes out (OFFER-2, OFFER-4, OFFER-8). */
export interface OfferAsk {
  handle: string;
  item: string;
  kind: string;
  trigger: OfferedItem["trigger"];
  subject?: Ref;
  /** The events that made this round, the first of them first. */
  events: string[];
  refs: ItemRef[];
  feedback: OfferFeedback[];
}
export type OfferAnswer =
  | { stands: false; why: string }
  | {
      stands: true;
      /** Usage windows hold offers until then, ms (USE-3). */
      holdUntil?: number;
      subjects: OfferContext["subjects"];
      links: OfferContext["links"];
      conversation?: OfferContext["conversation"];
      wake?: OfferContext["wake"];
    };

/** A question that an agent asks (ITEM-2). The id is the asker's: asking again with it changes nothing. */
export interface AskAsk {
  id: string;
  from: string;
  to: string;
  question: string;
  item?: string;
  /** The handles whose items led to this one, the asker last. */
  chain: string[];
}
/** Where the question went: a handle of the team, or a human. */
export interface AskAnswer {
  to: string;
  kind: "person" | "human";
}

/** What a target of `work_attach`, `recall` or `doc_link` names, as the board knows it. */
export interface Found {
  ref: Ref;
  subject: OfferContext["subjects"][number];
  /** Whether it is open, for a ticket not done or canceled. */
  open: boolean;
  /** For a pull request: whether a review of it is asked for or under way. */
  inReview?: boolean;
  /** The handle of whose it is, if anybody of the team's. */
  owner?: string;
  /** The ticket that a pull request implements. */
  ticket?: string;
  status?: string;
}

/** A message of a room that a person's agent may see, as the room has it: `roomMessage` (CHAT-1). */
export interface RoomMessage {
  text: string;
  author: WorkEvent["actor"];
  /** ISO 8601. */
  at: string;
  /** The message that its reply chain began with. */
  thread: string;
  direct: boolean;
  files: NonNullable<NonNullable<WorkEvent["chat"]>["files"]>;
}
