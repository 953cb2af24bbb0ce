/**
 * Every route of the Worker, one row each: what `openapi.json` is made from (HTTP-4). The schemas are those
 * that the routes themselves apply. Only the generator and tests import this, so the Worker does not carry it.
 */
import * as z from "zod";
import type { ErrorCode } from "../../src/shared/wire/errors.ts";
import * as http from "../../src/shared/wire/http.ts";
import { id } from "../../src/shared/wire/ids.ts";
import { DELIVERIES, FACTS, publishedSchemas, SIGNALS, VERBS, welcome } from "../../src/shared/wire/index.ts";
import * as query from "../../src/shared/wire/query.ts";

export interface Route {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** As Hono writes it: `/v1/spaces/:id`. */
  path: string;
  tag: "Workspace" | "Rooms" | "Events" | "Files" | "Published";
  summary: string;
  description?: string;
  /** `token`: a bearer or the page's session. `admin`: the deployment's ADMIN_TOKEN. Default: `token`. */
  auth?: "token" | "admin" | "none";
  params?: Record<string, z.ZodType>;
  query?: z.ZodObject;
  /** A schema is a JSON body; `bytes` is any content. */
  body?: z.ZodType | "bytes";
  /** Of the answer; default 200, and 204 where there is no `answer`. */
  status?: number;
  /** A schema is a JSON body; another media type is given by its name. */
  answer?: z.ZodType | `${string}/${string}`;
  /** Further statuses, and what they mean: below 300 with the same body, from 400 on an error. */
  also?: Record<number, string>;
  /** Beside those that every route of its kind has; see {@link errorsOf}. */
  errors?: readonly ErrorCode[];
}

const published = publishedSchemas();
// Names for the document's components; the log's events are described once however many routes have them.
for (const [name, { schema }] of Object.entries(published))
  schema.register(z.globalRegistry, { ...schema.meta(), id: name });

function anyOf(schemas: readonly z.ZodType[]) {
  return z.union(schemas as [z.ZodType, ...z.ZodType[]]);
}
const taken = [...Object.keys(VERBS), ...Object.keys(SIGNALS)].map(
  (type) => (published[`${type}.client`] ?? published[type])?.schema ?? z.never(),
);
const clientEvent = anyOf(taken).meta({ id: "ClientEvent", description: "An event that a client may send." });
const serverEvent = anyOf([...Object.values(FACTS), ...Object.values(DELIVERIES)]).meta({
  id: "ServerEvent",
  description: "An event of the log as the asker is sent it.",
});
const hello = published.hello?.schema ?? z.never();
const space = { id: id("spc") };

export const API: readonly Route[] = [
  {
    method: "GET",
    path: "/healthz",
    tag: "Published",
    summary: "Which version runs",
    auth: "none",
    answer: http.health,
  },
  {
    method: "GET",
    path: "/openapi.json",
    tag: "Published",
    summary: "This document",
    auth: "none",
    answer: z.looseObject({ openapi: z.string() }),
  },
  {
    method: "GET",
    path: "/docs",
    tag: "Published",
    summary: "This document as a page",
    auth: "none",
    answer: "text/html",
  },
  {
    method: "GET",
    path: "/docs/*",
    tag: "Published",
    summary: "The script and the style of that page",
    auth: "none",
    answer: "text/javascript",
    errors: ["not_found"],
  },
  {
    method: "GET",
    path: "/schemas/*",
    tag: "Published",
    summary: "The JSON Schema of a message",
    description: "`/schemas/index.json` lists them; `/schemas/room/message.new.json` is one.",
    auth: "none",
    answer: z.looseObject({}),
    errors: ["not_found"],
  },

  {
    method: "POST",
    path: "/v1/workspaces",
    tag: "Workspace",
    summary: "Make a workspace with its owner",
    description: "The owner's token is shown here and never again.",
    auth: "admin",
    body: http.createWorkspace,
    status: 201,
    answer: http.workspaceCreated,
  },
  {
    method: "POST",
    path: "/v1/invites",
    tag: "Workspace",
    summary: "Make a link that lets people in",
    description: "For owners and admins. The secret of the link is behind its `#`.",
    body: http.createInvite,
    status: 201,
    answer: http.inviteCreated,
    errors: ["not_found", "conflict"],
  },
  {
    method: "POST",
    path: "/v1/invites/redeem",
    tag: "Workspace",
    summary: "Come in by an invite",
    description: "Makes the participant and its session: a token, and the page's cookie.",
    auth: "none",
    body: http.redeemInvite,
    status: 201,
    answer: http.inviteRedeemed,
    errors: ["gone", "conflict"],
  },
  {
    method: "DELETE",
    path: "/v1/invites/:id",
    tag: "Workspace",
    summary: "Withdraw an invite",
    params: { id: id("inv") },
    errors: ["not_found"],
  },
  {
    method: "POST",
    path: "/v1/sign-in-links",
    tag: "Workspace",
    summary: "Make a link that signs somebody in elsewhere",
    description:
      "For oneself; an owner makes them for others, who are told. It works once, for five minutes.",
    body: http.createSignInLink,
    status: 201,
    answer: http.signInLinkCreated,
    errors: ["not_found"],
  },
  {
    method: "POST",
    path: "/v1/sign-in-links/redeem",
    tag: "Workspace",
    summary: "Sign in by a link",
    auth: "none",
    body: http.redeemSignInLink,
    status: 201,
    answer: http.inviteRedeemed,
    errors: ["gone", "conflict"],
  },
  {
    method: "POST",
    path: "/v1/sign-out",
    tag: "Workspace",
    summary: "End the token or session that asks",
  },
  {
    method: "POST",
    path: "/v1/harnesses",
    tag: "Workspace",
    summary: "Make a harness and its token",
    body: http.createHarness,
    status: 201,
    answer: http.harnessCreated,
  },
  {
    method: "GET",
    path: "/v1/tokens",
    tag: "Workspace",
    summary: "The tokens you may revoke",
    query: query.pageQuery,
    answer: http.page(http.tokenItem),
  },
  {
    method: "POST",
    path: "/v1/tokens",
    tag: "Workspace",
    summary: "Make a further token",
    body: http.createToken,
    status: 201,
    answer: http.tokenCreated,
    errors: ["not_found"],
  },
  {
    method: "DELETE",
    path: "/v1/tokens/:id",
    tag: "Workspace",
    summary: "Revoke a token",
    description: "Its open connections close with 4401 at once.",
    params: { id: id("tok") },
    errors: ["not_found"],
  },
  {
    method: "GET",
    path: "/v1/me",
    tag: "Workspace",
    summary: "Who you are here",
    answer: http.me,
  },
  {
    method: "PUT",
    path: "/v1/me",
    tag: "Workspace",
    summary: "Say which time zone you are in",
    body: http.putMe,
    answer: http.me,
  },
  {
    method: "GET",
    path: "/v1/participants",
    tag: "Workspace",
    summary: "People, harnesses and agents of the workspace",
    query: query.pageQuery,
    answer: http.page(http.participantItem),
  },
  {
    method: "GET",
    path: "/v1/settings",
    tag: "Workspace",
    summary: "The workspace's settings",
    description: "They are changed by the event `settings.set`.",
    answer: http.settingsAnswer,
  },

  {
    method: "POST",
    path: "/v1/events",
    tag: "Events",
    summary: "Send one event, or up to 100 that stand or fall together",
    description:
      "`ack`, `read` and `typing` are sent alone and have no receipt. An error's `of` names the event.",
    body: z.union([clientEvent, z.array(clientEvent).min(1).max(100)]),
    answer: http.receiptsAnswer,
    errors: ["unknown_type", "run_required", "unknown_run", "not_found", "conflict", "gone"],
  },
  {
    method: "GET",
    path: "/v1/events",
    tag: "Events",
    summary: "Events after a position, at once or as soon as there are some",
    description:
      "The same events as on the socket. Go on from `next_after`; to store a position, send `ack`.",
    query: query.eventsQuery,
    answer: http.eventsAnswer.extend({ events: z.array(serverEvent) }),
  },
  {
    method: "POST",
    path: "/v1/hello",
    tag: "Events",
    summary: "What the socket's first frame does, over HTTP",
    body: hello,
    answer: welcome,
    errors: ["conflict"],
  },
  {
    method: "GET",
    path: "/v1/connect",
    tag: "Events",
    summary: "The rooms' WebSocket",
    description:
      "JSON text frames; the first is `hello`. A browser brings its token as the subprotocol `bearer.<token>` " +
      "beside `bullpen.v1`. The frames are described by the files under `/schemas/room/`.",
    status: 101,
    errors: ["unsupported"],
  },

  {
    method: "GET",
    path: "/v1/spaces",
    tag: "Rooms",
    summary: "Your spaces, and the open ones",
    query: query.pageQuery,
    answer: http.page(http.spaceItem),
  },
  {
    method: "GET",
    path: "/v1/spaces/:id",
    tag: "Rooms",
    summary: "One space",
    params: space,
    answer: http.spaceItem,
    errors: ["not_found"],
  },
  {
    method: "GET",
    path: "/v1/spaces/:id/members",
    tag: "Rooms",
    summary: "Who is in a space",
    params: space,
    answer: http.page(http.memberItem),
    errors: ["not_found"],
  },
  {
    method: "GET",
    path: "/v1/spaces/:id/context",
    tag: "Rooms",
    summary: "What was said in a space, page by page back to its first line",
    params: space,
    query: query.contextQuery,
    answer: http.contextAnswer,
    errors: ["not_found"],
  },
  {
    method: "GET",
    path: "/v1/spaces/:id/files",
    tag: "Rooms",
    summary: "A space's files, or every version of one",
    params: space,
    query: query.filesQuery,
    answer: http.page(http.fileItem),
    errors: ["not_found"],
  },
  {
    method: "GET",
    path: "/v1/spaces/:id/runs",
    tag: "Rooms",
    summary: "A space's runs, newest first",
    params: space,
    query: query.pageQuery,
    answer: http.page(http.runItem),
    errors: ["not_found"],
  },
  {
    method: "GET",
    path: "/v1/search",
    tag: "Rooms",
    summary: "Messages that hold the words, newest first",
    query: query.searchQuery,
    answer: http.page(http.searchItem),
  },

  {
    method: "POST",
    path: "/v1/attachments",
    tag: "Files",
    summary: "Upload a file",
    description:
      "The body is the file's bytes. What it is, is found out from them; `content-type` is not looked at.",
    query: query.uploadQuery,
    body: "bytes",
    status: 201,
    answer: http.attachmentUploaded,
  },
  {
    method: "GET",
    path: "/v1/attachments/:id",
    tag: "Files",
    summary: "A file's bytes",
    description:
      "A person may ask by id alone. A harness uses the signed `url` that it was given, with the token that it " +
      "was given it for. One `range` is answered in part, and `if-none-match` without the bytes.",
    params: { id: id("att") },
    answer: "application/octet-stream",
    also: {
      206: "The range that was asked for.",
      304: "You have these bytes.",
      416: "`invalid`: no such range.",
    },
    errors: ["not_found", "gone"],
  },
  {
    method: "GET",
    path: "/v1/attachments/:id/url",
    tag: "Files",
    summary: "A fresh signed URL of a file",
    params: { id: id("att") },
    answer: http.attachmentUrl,
    errors: ["not_found"],
  },
];

/** Every code that a route may answer: its own, and those that come with being called at all (ERR-2). */
export function errorsOf({
  auth = "token",
  errors = [],
  params,
  query: asked,
  body,
  path,
}: Route): ErrorCode[] {
  const codes = new Set<ErrorCode>(errors);
  if (path.startsWith("/v1/"))
    for (const code of ["unauthenticated", "rate_limited", "unavailable"] as const) codes.add(code);
  if (auth !== "none") codes.add("forbidden");
  if (params || asked || (body && body !== "bytes")) codes.add("invalid");
  if (body) codes.add("too_large");
  if (body && body !== "bytes") codes.add("malformed");
  codes.add("internal");
  return [...codes];
}
