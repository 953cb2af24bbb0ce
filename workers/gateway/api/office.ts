/** The team, its people and their queues, tickets, events (OFF, QUEUE, TEAM, SECRET, WORK, PIPE). */
import * as z from "zod";
import { callId, officeCall, officeCalled, officeCallQuery } from "../../../src/shared/wire/context/call.ts";
import { page } from "../../../src/shared/wire/http.ts";
import { id } from "../../../src/shared/wire/ids.ts";
import * as office from "../../../src/shared/wire/office.ts";
import { handle, team } from "../../../src/shared/wire/team.ts";
import { workEventGiven } from "../../../src/shared/wire/work.ts";
import type { Route } from "./route.ts";

const person = { handle };
const item = { handle, id: id("itm") };
const ticket = { key: z.string().describe("A ticket's key, in any case.") };
const subscription = { name: z.string().describe("A subscription of the team's config.") };

const KEYED =
  "Sent again with the same `idempotency_key` and body it is made once and answered as the first time; with another " +
  "body it is a `conflict`.";

export const officeRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/v1/team",
    summary: "The team's config as it stands, with its defaults",
    description: "`ETag` is the version.",
    answer: office.teamAnswer,
    errors: ["not_found"],
  },
  {
    method: "PUT",
    path: "/v1/team",
    summary: "Set the team's config, whole",
    description:
      "For owners and admins. The document is JSON or YAML, at most 256 KiB. A refusal has every fault in `details`, " +
      "with its path and line, and nothing was changed.",
    headers: { "If-Match": "The version that was read, as its `ETag`; left out the first time." },
    body: team,
    bodyTypes: Object.keys(office.TEAM_FORMATS),
    answer: office.teamAnswer,
    errors: ["conflict", "unsupported"],
  },
  {
    method: "PUT",
    path: "/v1/secrets/:name",
    summary: "Set a secret; no route reads it",
    description:
      "For the owner. `github_webhook_secret` signs GitHub's webhooks, `github_token` reads its API. The value before " +
      "stays good beside the new one.",
    params: { name: office.secretName },
    body: office.putSecret,
    errors: ["not_found"],
  },
  {
    method: "GET",
    path: "/v1/people",
    summary: "The people of the team, and how each is",
    answer: z.object({ items: z.array(office.personItem) }),
  },
  {
    method: "GET",
    path: "/v1/people/:handle",
    summary: "A person with their queue",
    description: "The open items in the order they run, then the last finished.",
    params: person,
    answer: office.personAnswer,
    errors: ["not_found"],
  },
  {
    method: "POST",
    path: "/v1/people/:handle/items",
    summary: "Give a person work",
    description: KEYED,
    params: person,
    body: office.addItem,
    status: 201,
    answer: office.itemAnswer,
    errors: ["not_found", "conflict"],
  },
  {
    method: "PATCH",
    path: "/v1/people/:handle/items/:id",
    summary: "Stop, end, re-queue or move an item",
    description:
      "Its status, its place among the queued, or whose it is. A change that its state does not allow is `invalid` and " +
      "says which are possible.",
    params: item,
    body: office.patchItem,
    answer: office.itemAnswer,
    errors: ["not_found", "conflict"],
  },
  {
    method: "POST",
    path: "/v1/people/:handle/pause",
    summary: "Offer a person nothing new",
    description: "What runs goes on. Without `until` it holds until they are resumed.",
    params: person,
    body: office.pausePerson,
    answer: office.statusAnswer,
    errors: ["not_found"],
  },
  {
    method: "POST",
    path: "/v1/people/:handle/resume",
    summary: "Offer a person work again",
    params: person,
    answer: office.statusAnswer,
    errors: ["not_found"],
  },
  {
    method: "POST",
    path: "/v1/people/:handle/calls",
    summary: "Have the office carry out a call of its agent",
    description:
      "For the person's own agent, which runs elsewhere: the tools of `bullpen/context`, each by the same rules as the " +
      "agent's own verbs and messages. The same call again makes one thing. `later: true` says that it waits for " +
      "somebody; ask again.",
    params: person,
    body: officeCall,
    answer: officeCalled,
    errors: ["not_found"],
  },
  {
    method: "DELETE",
    path: "/v1/people/:handle/calls/:id",
    summary: "Take back what a call waits for",
    params: { handle, id: callId },
    query: officeCallQuery,
    status: 204,
    errors: ["not_found"],
  },
  {
    method: "POST",
    path: "/v1/subscriptions/:name/pause",
    summary: "Offer nothing new to who shares a subscription",
    params: subscription,
    body: office.pausePerson,
    answer: office.subscriptionAnswer,
    errors: ["not_found"],
  },
  {
    method: "POST",
    path: "/v1/subscriptions/:name/resume",
    summary: "Offer work again to who shares a subscription",
    params: subscription,
    answer: office.subscriptionAnswer,
    errors: ["not_found"],
  },
  {
    method: "GET",
    path: "/v1/tickets",
    summary: "Tickets, the last changed first",
    query: office.ticketsQuery,
    answer: page(office.ticketItem),
  },
  {
    method: "POST",
    path: "/v1/tickets",
    summary: "Make a ticket",
    description: `Assigned to a person of the team, it becomes work for them. ${KEYED}`,
    body: office.createTicket,
    status: 201,
    answer: office.ticketAnswer,
    errors: ["not_found", "conflict"],
  },
  {
    method: "GET",
    path: "/v1/tickets/:key",
    summary: "A ticket with what belongs to it",
    params: ticket,
    answer: office.ticketAnswer,
    errors: ["not_found"],
  },
  {
    method: "PATCH",
    path: "/v1/tickets/:key",
    summary: "Change a ticket",
    params: ticket,
    body: office.patchTicket,
    answer: office.ticketAnswer,
    errors: ["not_found", "conflict"],
  },
  {
    method: "POST",
    path: "/v1/tickets/:key/comments",
    summary: "Comment on a ticket",
    description: `Its assignee gets it as feedback. ${KEYED}`,
    params: ticket,
    body: office.commentTicket,
    status: 201,
    answer: office.ticketComment,
    errors: ["not_found", "conflict"],
  },
  {
    method: "POST",
    path: "/v1/work/events",
    summary: "Tell of something that happened at another tool",
    description:
      "With a hook token, which names the source and the types of event that it may send. The same id again is " +
      "taken once.",
    body: workEventGiven,
    answer: office.eventTaken,
    errors: ["conflict"],
  },
  {
    method: "GET",
    path: "/v1/work/events",
    summary: "What happened around the team's work, newest first",
    query: office.workEventsQuery,
    answer: page(office.workEventItem),
  },
  {
    method: "GET",
    path: "/v1/work/events/:id",
    summary: "An event with its trace: what was decided, by which rule, and why",
    params: { id: z.string() },
    answer: office.traceAnswer,
    errors: ["not_found"],
  },
  {
    method: "GET",
    path: "/v1/workspaces/:ws/people/:handle/agent",
    summary: "The socket of a person's agent",
    description:
      "JSON text frames of the agent protocol, version 3; the first is `hello`, with the person's token. The frames are " +
      "described by the files under `/schemas/agent/`.",
    auth: "none",
    params: { ws: id("ws"), handle },
    status: 101,
    errors: ["unsupported"],
  },
  {
    method: "POST",
    path: "/v1/hooks/github/:ws",
    summary: "Take a delivery of a GitHub webhook",
    description:
      "Signed with the workspace's secret `github_webhook_secret`. Each delivery is taken once, by its id and by " +
      "what is in it; events and repositories that the team does not follow are nothing.",
    auth: "signature",
    params: { ws: id("ws") },
    headers: {
      "x-hub-signature-256": "`sha256=` and the HMAC of the body.",
      "x-github-event": "The event's name.",
      "x-github-delivery": "The delivery's id.",
    },
    body: "bytes",
    bodyTypes: ["application/json", "application/x-www-form-urlencoded"],
    status: 202,
    answer: office.hookTaken,
    errors: ["malformed"],
  },
];
