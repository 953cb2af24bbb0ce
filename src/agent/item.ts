/** One round of an item, as `onItem` gets it: what it is, when it ends early, and everything that can be said in it. */
import {
  type AgentPayload,
  type AgentRequest,
  type AnswerTo,
  type Link,
  type SessionUsage,
  sessionUsage,
} from "../shared/wire/agent/index.ts";
import { OfficeError } from "./errors.ts";
import { asText, fitted, ownPayload } from "./frames.ts";
import type { Outbox } from "./outbox.ts";
import { promptForItem } from "./prompt.ts";
import type { Requests } from "./requests.ts";

export type Offer = AgentPayload<"offer">;

/** How a round ends. What is left out: status `done`, no links, the usage that `used` has told. */
export interface HandBack {
  summary: string;
  status?: "done" | "waiting" | "blocked" | "silent" | "interrupted" | undefined;
  links?: Link[] | undefined;
  /** What there is to review or finished: a pull request, a document, a ticket closed (OFFER-6). */
  toReview?: string[] | undefined;
  usage?: SessionUsage[] | undefined;
}

/** What `onItem` returns: the summary, the whole hand-back, or nothing for an end without words (`silent`). */
export type ItemResult = string | HandBack | undefined | void;

type Bound<T extends AgentRequest> = Omit<AgentPayload<T>, "workItemId">;
type Result<T extends AgentRequest> = Promise<AgentPayload<AnswerTo<T>>>;

/** An item that this agent has accepted. What it says resolves when the office has answered. */
export interface Item {
  readonly id: string;
  readonly kind: string;
  readonly title: string;
  /** The whole offer: item, context, session, and whether an earlier run was cut short. */
  readonly offer: Offer;
  /** The offer as text for a model; what people, documents and logs say is marked as data (PIPE-4). */
  readonly prompt: string;
  /** Aborts when the item is stopped, moved away, or the agent leaves or is replaced; the reason says why. */
  readonly signal: AbortSignal;
  /** A line for people on how it goes; 500 characters are kept. */
  progress(text: string): Promise<void>;
  /** A line for later rounds; it is written down before it is sent, and survives a crash. */
  journal(text: string): Promise<void>;
  /** The runtime's session, which a later round is given back. */
  session(sessionId: string, model?: string): Promise<void>;
  /** The runtime's usage windows, in place of those told last. */
  windows(windows: AgentPayload<"usage">["windows"]): Promise<void>;
  /** A session's running total by model; the last one told goes with the hand-back (USE-1). Throws at what is none. */
  used(session: string, models: SessionUsage["models"]): void;
  /** Ends the round now. What `onItem` returns later counts no more. */
  handback(result: HandBack): Promise<void>;
  /** Ends the round: it could not be done. */
  fail(reason: string, usage?: SessionUsage[]): Promise<void>;
  ask(to: string, question: string): Result<"ask">;
  /** Answers the question that this item is. */
  answer(text: string): Promise<void>;
  /** Says in the item's threads that it was begun; once an item. */
  acknowledge(text: string): Promise<void>;
  made(made: Bound<"work_made">): Promise<void>;
  docLink(doc: AgentPayload<"doc_link">["doc"], ticket?: string): Promise<void>;
  check(request: string): Promise<void>;
  link(ticket: string, request: string): Result<"work_link">;
  fileFor(ticket: string, request: string, assignee: string): Promise<void>;
  queueWork(title: string, body?: string): Result<"work_queue">;
  attach(target: string, more?: { confirmed?: boolean; request?: string }): Result<"work_attach">;
}

export interface ItemParts {
  offer: Offer;
  handle: string;
  signal: AbortSignal;
  requests: Requests;
  outbox: Outbox;
  /** Ends the round; resolves when the office has answered. */
  end(result: Ended): Promise<void>;
  /** Asks to tell the requester (REPORT-1). */
  acknowledge(text: string): Promise<void>;
}

/** An ending as it is sent. */
export type Ended =
  | { type: "handback"; payload: AgentPayload<"handback"> }
  | { type: "fail"; payload: AgentPayload<"fail"> };

/** What ITEM-1 allows, in bytes; progress in characters. */
export const LIMITS = { summary: 64 * 1024, reason: 4 * 1024, journal: 16 * 1024, progress: 500 } as const;

/** The item's object, with the means to end it that only its run has. */
export function makeItem(parts: ItemParts): Item & { ending(result: HandBack): Ended } {
  const { offer, handle, signal, requests, outbox } = parts;
  const { id: workItemId, kind, title } = offer.workItem;
  const usage = new Map<string, SessionUsage>();
  const told = (given?: SessionUsage[]): { usage?: SessionUsage[] } => {
    const all = given ?? [...usage.values()];
    return all.length === 0 ? {} : { usage: all };
  };
  const say = async <T extends AgentRequest>(type: T, payload: AgentPayload<T>): Promise<void> => {
    await requests.ask(type, payload);
  };
  const ending = (result: HandBack): Ended => {
    const { summary, status = "done", links = [], toReview } = result;
    // What is no hand-back is found here, where the round can still be ended otherwise.
    const payload = ownPayload("handback", {
      workItemId,
      summary,
      links,
      status,
      ...(toReview ? { toReview } : {}),
      ...told(result.usage),
    });
    return { type: "handback", payload: { ...payload, summary: fitted(payload.summary, LIMITS.summary) } };
  };
  let prompt: string | undefined;
  return {
    id: workItemId,
    kind,
    title,
    offer,
    signal,
    get prompt() {
      return (prompt ??= promptForItem(offer, { handle }));
    },
    ending,
    progress: (text) => say("progress", { workItemId, text: shortened(text, LIMITS.progress) }),
    journal: (text) =>
      outbox.add("journal", { workItemId, text: fitted(text, LIMITS.journal) }, workItemId).answered,
    session: (sessionId, model) =>
      say("session", { workItemId, sessionId, ...(model === undefined ? {} : { model }) }),
    windows: (windows) => say("usage", { windows }),
    used: (session, models) => void usage.set(session, ownUsage({ session, models })),
    handback: async (result) => parts.end(ending(result)),
    fail: async (reason, given) => {
      const payload = ownPayload("fail", { workItemId, reason, ...told(given) });
      return parts.end({
        type: "fail",
        payload: { ...payload, reason: fitted(payload.reason, LIMITS.reason) },
      });
    },
    ask: (to, question) => requests.ask("ask", { to, question, workItemId }, { signal }),
    answer: (text) => outbox.add("answer", { questionId: workItemId, answer: text }, workItemId).answered,
    acknowledge: (text) => parts.acknowledge(text),
    made: (made) => say("work_made", { workItemId, ...made }),
    docLink: (doc, ticket) =>
      say("doc_link", { workItemId, doc, ...(ticket === undefined ? {} : { ticket }) }),
    check: (request) => say("work_check", { workItemId, request }),
    link: (ticket, request) => requests.ask("work_link", { workItemId, ticket, request }),
    fileFor: (ticket, request, assignee) => say("work_file_for", { workItemId, ticket, request, assignee }),
    queueWork: (heading, body) =>
      requests.ask("work_queue", {
        workItemId,
        title: heading,
        ...(body === undefined ? {} : { body }),
      }),
    attach: (target, more = {}) => requests.ask("work_attach", { workItemId, target, ...more }),
  };
}

function shortened(text: string, most: number): string {
  const characters = Array.from(asText(text));
  return characters.length <= most ? characters.join("") : `${characters.slice(0, most - 1).join("")}…`;
}

/** Usage that the office takes: found wrong at the end of the round it would cost its words. */
function ownUsage(told: SessionUsage): SessionUsage {
  const read = sessionUsage.safeParse(told);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new OfficeError("invalid_message", `used: ${issue?.path.join(".")}: ${issue?.message}.`);
}
