/**
 * What happens around an agent as items of its streams (CTX-7). Who said it is the item's actor, so that no text of
 * others ever stands as more than a user's; what they said is the content, cut where an item ends.
 */
import type { OfferFeedback } from "../../wire/agent/index.ts";
import type { ContextItem, ItemActor, ItemFile, ItemRef, RequestPolicy } from "../../wire/context/index.ts";
import { APPEND_LIMITS } from "../../wire/context/index.ts";
import { byteLength, firstBytes } from "../text.ts";

/** Who said something, as the board or the room knows it. */
export interface Author {
  /** A participant's id, the handle of a person of the team, or a name at the source. */
  id: string;
  name?: string | undefined;
  kind?: "human" | "agent" | "bot" | undefined;
  /** `room`, `board`, `office`, `schedule`, `github`, or another source of work. */
  source: string;
}

/** A message of a room. */
export interface Said {
  messageId: string;
  spaceId: string;
  /** The message that its reply chain began with. */
  thread: string;
  text: string;
  author: Author;
  files?: readonly { id: string; name: string; mimetype: string; size: number }[] | undefined;
}

const CUT = "\n[cut off]";
/** Sources whose people are participants of the workspace, and whose agents are the team's. */
const OURS: ReadonlySet<string> = new Set(["room", "board", "office"]);

/** The actor of an author, and what refers to them (STREAM-4). The office and its schedules have none. */
export function actorOf(author: Author): { actor?: ItemActor; refs?: ItemRef[] } {
  const { id, name, kind, source } = author;
  if (source === "schedule" || (id === "@office" && OURS.has(source))) return {};
  if (OURS.has(source)) {
    if (id.startsWith("usr_"))
      return { actor: { type: "user", origin: "web" }, refs: [{ type: "user", userId: id }] };
    if (kind === "agent" && !id.startsWith("agt_"))
      return { actor: { type: "agent", path: `/people/${id}` } };
    return { actor: { type: "integration", name: name ?? id } };
  }
  switch (source) {
    case "github":
      return {
        actor: { type: "github", login: id, ...(kind && { senderType: kind === "bot" ? "Bot" : "User" }) },
      };
    case "slack":
      return { actor: kind === "bot" ? { type: "slack", botName: id } : { type: "slack", userId: id } };
    case "telegram":
      return { actor: { type: "telegram", userId: id, ...(name !== undefined && { username: name }) } };
    case "email":
      return { actor: { type: "email", address: id, ...(name !== undefined && { name }) } };
    default:
      return { actor: { type: "integration", name: source } };
  }
}

/** Text that an item can hold: whole characters, and not more than an item's content may have (STREAM-1). */
export function contentOf(text: string): string {
  const clean = text.toWellFormed().replaceAll("\0", "");
  if (byteLength(clean) <= APPEND_LIMITS.contentBytes) return clean;
  return `${firstBytes(clean, APPEND_LIMITS.contentBytes - byteLength(CUT))}${CUT}`;
}

/** A room's message as an item; its key is the message's id, so that an edit is an update of it (CTX-7). */
export function messageItem(
  said: Said,
  behaviour: RequestPolicy["behaviour"],
  workspace: string,
): ContextItem {
  const { messageId, spaceId, thread, text, author, files = [] } = said;
  const who = oneLine(author.name ?? author.id);
  const where = thread === messageId ? spaceId : `${spaceId}, in the thread of ${thread}`;
  return {
    role: "user",
    content: contentOf(`${who} in ${where}:\n${text}`),
    key: messageId,
    ...actorOf(author),
    ...(files.length > 0 && { files: files.map((file) => fileOf(file, workspace)) }),
    llmRequestPolicy: { behaviour },
  };
}

/** A file of a room: its path names it for the runner, which reads its bytes from the bucket (RENDER-3). */
function fileOf(
  { id, name, mimetype, size }: NonNullable<Said["files"]>[number],
  workspace: string,
): ItemFile {
  const path = `${workspace}/${id.slice(id.indexOf("_") + 1)}`;
  return { contentType: mimetype, filename: name, path, size, url: `/v1/attachments/${id}` };
}

/** What somebody said about an agent's work, as an item of that work's stream. */
export function feedbackItem(
  key: string,
  feedback: OfferFeedback,
  author: Author,
  behaviour: RequestPolicy["behaviour"],
): ContextItem {
  return {
    role: "user",
    content: contentOf(feedbackText(feedback)),
    key: `feedback:${key}`,
    ...actorOf(author),
    llmRequestPolicy: { behaviour },
  };
}

const KINDS: Record<OfferFeedback["kind"], string> = {
  review: "a review",
  comment: "a comment on the pull request",
  inline_comment: "a comment on the diff",
  chat: "a message",
  ticket_comment: "a comment on the ticket",
  doc_comment: "a comment on the document",
  blocked: "handed back as blocked",
  ci_failure: "checks that failed",
};

function feedbackText({ actor, kind, state, url, anchorText, body, comments = [] }: OfferFeedback): string {
  const head = `${oneLine(actor)}, ${KINDS[kind]}${state === undefined ? "" : ` (${oneLine(state)})`}${url === undefined ? "" : ` ${url}`}:`;
  return [
    head,
    ...(anchorText === undefined ? [] : [`About this part of the document:\n${anchorText}`]),
    ...(body === "" ? [] : [body]),
    ...comments.map(
      (one) =>
        `On ${oneLine(one.path)}${one.line === undefined ? "" : ` line ${one.line}`} (comment ${oneLine(one.id)}):\n${one.body}`,
    ),
  ].join("\n\n");
}

/** A line of the office's own: a developer item without an actor. */
export function officeItem(text: string, behaviour: RequestPolicy["behaviour"], key?: string): ContextItem {
  return {
    role: "developer",
    content: contentOf(text),
    ...(key !== undefined && { key }),
    llmRequestPolicy: { behaviour },
  };
}

/** Who the agent is: the first item of each of its streams, and again when the team's config changed it. */
export function whoItem(of: {
  handle: string;
  name: string;
  title: string;
  summary?: string | undefined;
}): ContextItem {
  const lines = [
    `You are ${oneLine(of.name)}, ${oneLine(of.title)}, an agent teammate. Your handle is ${of.handle}.`,
    ...(of.summary === undefined ? [] : [oneLine(of.summary)]),
    "You work with people and other agents in rooms and on tickets. Each item below says in its first line who wrote it.",
    "When you answer without a tool call, that ends your turn: your words are told to whoever asked, as you. Answer NO_REPLY when there is nothing to say.",
  ];
  return { role: "system", content: lines.join("\n"), key: "who" };
}

function oneLine(text: string): string {
  return text.replace(/\s+/gu, " ").trim().slice(0, 200);
}
