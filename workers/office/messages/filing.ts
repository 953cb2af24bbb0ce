/** Filing a chat's request as work of one's own, somebody else's, or as part of what is there (CHAT-3, CHAT-4). */
import {
  attachFault,
  decideFiling,
  type Filed,
  foldTitle,
  isBusy,
} from "../../../src/shared/rules/filing.ts";
import { byteLength, firstCodePoints } from "../../../src/shared/rules/text.ts";
import type { AgentPayload, OfferFeedback, WorkBrief } from "../../../src/shared/wire/agent/index.ts";
import { CALLS } from "../calls.ts";
import type { Desk, Look } from "../desk.ts";
import { AgentRefused, asking, mustAgent } from "../handler.ts";
import type { Found, ItemRef, Ref, Requester, Thread } from "../letters.ts";
import { giveFeedback, makeItem, type NewItem } from "../queue/make.ts";
import { noteRefs } from "../queue/tell.ts";
import { workOn } from "../queue/wake.ts";
import { type ItemRow, item, openItems, originOf, requesterOf } from "../store/items.ts";
import { addThread, refsOf } from "../store/parts.ts";
import { runningItem } from "./own.ts";
import { briefOf, briefsOf } from "./work.ts";

const LONGEST_TITLE = 500;
const LONGEST_BODY = 65_536;
/** The open items that a filing's answer shows. */
const WORK_BYTES = 65_536;

/** The chat that a request is filed from. */
function chatItem(desk: Desk, id: string): ItemRow {
  const row = runningItem(desk, id);
  if (row.kind !== "chat")
    throw new AgentRefused(
      "invalid",
      "Work is filed from a chat item only. Put it into the hand-back of this one.",
    );
  return row;
}

function checkTitle(title: string): void {
  if (title.trim() === "" || title.length > LONGEST_TITLE)
    throw new AgentRefused("invalid", "A request's title has 1 to 500 characters.");
}

interface Said {
  /** The message's own name: a request is filed once a message (CHAT-3). */
  key: string;
  /** The event that brought it. */
  event: string;
  body: string | undefined;
}

/** The newest message that the chat's round was given. */
function messageOf(desk: Desk, row: ItemRow): Said {
  const given = desk.db.one<{ key: string; event: string; feedback: string }>(
    "SELECT key, event, feedback FROM feedback WHERE item = ? AND round IS NOT NULL ORDER BY n DESC LIMIT 1",
    row.id,
  );
  if (!given) return { key: row.id, event: row.id, body: row.body ?? undefined };
  return { key: given.key, event: given.event, body: (JSON.parse(given.feedback) as OfferFeedback).body };
}

interface FilingRow extends Filed {
  answer: string;
}

function filed(desk: Desk, row: ItemRow, title: string): FilingRow | undefined {
  return desk.db.one<FilingRow>(
    "SELECT verb, ticket, assignee, answer FROM filings WHERE item = ? AND message = ? AND title = ?",
    row.id,
    messageOf(desk, row).key,
    foldTitle(title),
  );
}

const TAKEN =
  "This message filed that request already, and otherwise. Give another request another title, or leave it as it is.";

/** Files a request once: the same again is answered as it was the first time. */
function once<A extends object>(desk: Desk, row: ItemRow, title: string, as: Filed, make: () => A): A {
  const before = filed(desk, row, title);
  const decision = decideFiling(before, as);
  if (decision === "taken") throw new AgentRefused("invalid", TAKEN);
  if (before) return JSON.parse(before.answer) as A;
  const answer = make();
  desk.db.run(
    "INSERT INTO filings (item, message, title, verb, ticket, assignee, answer, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    row.id,
    messageOf(desk, row).key,
    foldTitle(title),
    as.verb,
    as.ticket,
    as.assignee,
    JSON.stringify(answer),
    desk.now,
  );
  const channel = originOf(row)?.channel;
  if (channel?.startsWith("spc_")) desk.toRoom("brief", { spaceId: channel });
  return answer;
}

function threadOf(row: ItemRow): Thread | undefined {
  const origin = originOf(row);
  if (!origin) return undefined;
  const { channel, thread, requester, direct, participant } = origin;
  return { channel, thread, requester, direct, participant };
}

/** What work that is filed from a chat has of it: where it came from, who asked, and where its end is told. */
function fromChat(
  desk: Desk,
  row: ItemRow,
): Pick<NewItem, "origin" | "requester" | "threads" | "trigger" | "by"> & {
  refs: ItemRef[];
} {
  const origin = originOf(row);
  const thread = threadOf(row);
  const requester: Requester | undefined =
    requesterOf(row) ??
    (thread && {
      id: thread.requester.id,
      kind: "human",
      ...(thread.requester.name ? { name: thread.requester.name } : {}),
    });
  const { about: _earlier, ...here } = origin ?? {};
  return {
    ...(thread ? { origin: { ...here, ...thread }, threads: [thread] } : {}),
    ...(requester ? { requester } : {}),
    refs: refsOf(desk.db, row.id)
      .filter(({ type }) => type === "chat_thread")
      .map((ref) => ({ ...ref, role: "linked", source: `link:${row.id}` })),
    trigger: "human",
    by: desk.handle,
  };
}

function isBusyNow(desk: Desk, ...not: string[]): boolean {
  const [chat = "", ...more] = not;
  return isBusy(
    openItems(desk.db).filter(({ id }) => !more.includes(id)),
    chat,
  );
}

/** The person's other open items, in the order they run: a glance, which is kept with each filing. */
function others(desk: Desk, ...not: string[]): WorkBrief[] {
  const rows = openItems(desk.db).filter(({ id }) => !not.includes(id));
  return briefsOf(desk, rows, WORK_BYTES);
}

function result(desk: Desk, chat: ItemRow, made: string, waiting: boolean, url?: string) {
  const row = item(desk.db, made) ?? chat;
  return {
    ...(url === undefined ? {} : { url }),
    item: briefOf(desk, row),
    waiting,
    work: others(desk, made, chat.id),
  };
}

// ---- CHAT-3 -----------------------------------------------------------------------------------------

export function workCheck(
  desk: Desk,
  { workItemId, request }: AgentPayload<"work_check">,
): Record<string, never> {
  const row = chatItem(desk, workItemId);
  checkTitle(request);
  if (filed(desk, row, request))
    throw new AgentRefused(
      "invalid",
      "This message filed that request already. Do not make a ticket for it again.",
    );
  return {};
}

export function workQueue(
  desk: Desk,
  { workItemId, title, body }: AgentPayload<"work_queue">,
): AgentPayload<"work_queue_result"> {
  const row = chatItem(desk, workItemId);
  checkTitle(title);
  if (byteLength(body ?? "") > LONGEST_BODY)
    throw new AgentRefused("invalid", "The body has at most 64 KiB. Shorten it, or link to the rest.");
  return once(desk, row, title, { verb: "work_queue", ticket: null, assignee: null }, () => {
    const waiting = isBusyNow(desk, row.id);
    const made = makeItem(desk, {
      ...fromChat(desk, row),
      kind: "assigned",
      title,
      ...(body === undefined ? {} : { body }),
      why: `filed from "${row.title}"`,
      last: waiting,
    });
    return result(desk, row, made.id, waiting);
  });
}

/** The ticket that a request is filed as; nothing is asked for a chat that is none. */
async function ticket(look: Look, asked: { workItemId: string; ticket: string }): Promise<Found | undefined> {
  if (!isChat(look, asked.workItemId)) return undefined;
  const found = mustAgent(await CALLS.find(look.env, look.workspace, look.handle, asked.ticket));
  if (found.ref.type !== "ticket")
    throw new AgentRefused("not_found", "There is no ticket of this key. Make it at the tracker first.");
  return found;
}

function isChat({ db }: Pick<Look, "db">, id: string): boolean {
  const row = item(db, id);
  return row?.state === "active" && row.kind === "chat";
}

const AGAIN = "The item changed while this was looked up. Ask again.";

export const workLink = asking<"work_link", Found | undefined>(ticket, (desk, asked, _frame, found) => {
  const row = chatItem(desk, asked.workItemId);
  checkTitle(asked.request);
  if (!found) throw new AgentRefused("failed", AGAIN);
  const { ref, subject } = found;
  const as: Filed = { verb: "work_link", ticket: ref.ref, assignee: null };
  return once(desk, row, asked.request, as, () => {
    if (!found.open)
      throw new AgentRefused(
        "invalid",
        `${ref.ref} is ${found.status ?? "closed"} already. File a ticket that is open.`,
      );
    if (found.owner !== undefined && found.owner !== desk.handle)
      throw new AgentRefused("invalid", `${ref.ref} is ${found.owner}'s. work_file_for files it for them.`);
    const waiting = isBusyNow(desk, row.id);
    const made = linkTicket(desk, row, asked.request, ref, subject, waiting);
    noteRefs(desk, row.id, [refTo(desk, ref, subject, "created", "work_link")]);
    return result(desk, row, made, waiting, subject.url);
  });
});

function refTo(
  desk: Desk,
  ref: Ref,
  subject: Found["subject"] | undefined,
  role: ItemRef["role"],
  source: string,
): ItemRef {
  return {
    ...ref,
    role,
    source,
    addedAt: new Date(desk.now).toISOString(),
    ...(subject?.title === undefined ? {} : { title: subject.title }),
    ...(subject?.url === undefined ? {} : { url: subject.url }),
  };
}

/** The item that carries a ticket: one that is there already, as by its assignment, or a new one. */
function linkTicket(
  desk: Desk,
  chat: ItemRow,
  request: string,
  ref: Ref,
  subject: Found["subject"],
  waiting: boolean,
): string {
  const there = workOn(desk, ref);
  if (there && there.state !== "done") {
    const thread = threadOf(chat);
    if (thread) addThread(desk.db, there.id, thread);
    return there.id;
  }
  const { refs, ...from } = fromChat(desk, chat);
  const title = subject.title ?? request;
  return makeItem(desk, {
    ...from,
    kind: "assigned",
    title,
    subject: ref,
    refs: [refTo(desk, ref, subject, "subject", "work_link"), ...refs],
    ...(foldTitle(title) === foldTitle(request) ? {} : { body: request }),
    why: `filed from "${chat.title}"`,
    last: waiting,
  }).id;
}

export const workFileFor = asking<"work_file_for", Found | undefined>(
  ticket,
  (desk, { workItemId, request, assignee }, _frame, found) => {
    const row = chatItem(desk, workItemId);
    checkTitle(request);
    if (assignee.trim() === "" || assignee.length > LONGEST_TITLE)
      throw new AgentRefused("invalid", "Say for whom it was filed, as the tracker names them.");
    if (!found) throw new AgentRefused("failed", AGAIN);
    return once(desk, row, request, { verb: "work_file_for", ticket: found.ref.ref, assignee }, () => ({}));
  },
);

// ---- CHAT-4 -----------------------------------------------------------------------------------------

const FAULTS: Record<NonNullable<ReturnType<typeof attachFault>>, string> = {
  not_yours: "is not yours. A request is attached to your own work; file it as new work, or for whose it is.",
  over: "is finished. File the request as new work.",
  in_review:
    "is in review. Ask the requester whether it belongs to it, and say confirmed when they said yes.",
};

export const workAttach = asking<"work_attach", Found | undefined>(
  async (look, { workItemId, target }) =>
    isChat(look, workItemId)
      ? mustAgent(await CALLS.find(look.env, look.workspace, look.handle, target))
      : undefined,
  (desk, { workItemId, target, confirmed = false, request }, _frame, found) => {
    const row = chatItem(desk, workItemId);
    if (!found) throw new AgentRefused("failed", AGAIN);
    const { ref, subject } = found;
    if (ref.type !== "ticket" && ref.type !== "pr")
      throw new AgentRefused(
        "not_found",
        `There is no ticket or pull request ${firstCodePoints(target, 100)}.`,
      );
    const there =
      workOn(desk, ref) ?? (found.ticket ? workOn(desk, { type: "ticket", ref: found.ticket }) : undefined);
    const mine = found.owner === desk.handle || (found.owner === undefined && there !== undefined);
    const fault = attachFault({ mine, open: found.open, inReview: found.inReview ?? false }, confirmed);
    if (fault) throw new AgentRefused("invalid", `${ref.ref} ${FAULTS[fault]}`);
    const message = messageOf(desk, row);
    const body = request ?? message.body;
    if (body === undefined || body.trim() === "" || byteLength(body) > LONGEST_BODY)
      throw new AgentRefused("invalid", "Say in request what to add, in at most 64 KiB.");
    const id = there?.id ?? attachNew(desk, row, ref, subject);
    const waiting = isBusyNow(desk, row.id, id);
    giveFeedback(
      desk,
      id,
      {
        key: `attach:${message.key}:${foldTitle(request ?? "")}`,
        event: message.event,
        kind: "review_feedback",
        trigger: "human",
        feedback: {
          actor: asker(row),
          kind: "chat",
          body,
          at: new Date(desk.now).toISOString(),
        },
      },
      { by: desk.handle, why: `a request from "${row.title}"` },
    );
    const thread = threadOf(row);
    if (thread) {
      addThread(desk.db, id, thread);
      const chat: Ref = { type: "chat_thread", ref: `${thread.channel}/${thread.thread}` };
      noteRefs(desk, id, [refTo(desk, chat, undefined, "attached", "work_attach")]);
    }
    noteRefs(desk, row.id, [refTo(desk, ref, subject, "attached", "work_attach")]);
    const attached =
      ref.type === "ticket"
        ? { ticket: subject }
        : { pr: subject, ...(found.ticket ? { ticket: { type: "ticket", ref: found.ticket } } : {}) };
    return { ...result(desk, row, id, waiting, subject.url), attached };
  },
);

function asker(row: ItemRow): string {
  const who = requesterOf(row) ?? originOf(row)?.requester;
  return who?.name ?? who?.id ?? "somebody";
}

/** Own work that has no item yet, such as a ticket that was made one's own elsewhere. */
function attachNew(desk: Desk, chat: ItemRow, ref: Ref, subject: Found["subject"]): string {
  const { refs, ...from } = fromChat(desk, chat);
  return makeItem(desk, {
    ...from,
    kind: "review_feedback",
    title: subject.title ?? ref.ref,
    subject: ref,
    refs: [refTo(desk, ref, subject, "subject", "work_attach"), ...refs],
    why: `a request from "${chat.title}"`,
  }).id;
}
