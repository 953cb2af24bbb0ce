/** Routes about the workspace: its people, harnesses, tokens and settings (AUTH). */
import * as z from "zod";
import * as http from "../../../src/shared/wire/http.ts";
import { id } from "../../../src/shared/wire/ids.ts";
import { importQuery, pageQuery } from "../../../src/shared/wire/query.ts";
import type { Route } from "./route.ts";

export const workspace: readonly Route[] = [
  {
    method: "POST",
    path: "/v1/workspaces",
    summary: "Make a workspace with its owner, or an empty one for an export of it",
    description:
      "The owner's token is shown here and never again. With `import` nobody is in it until the export came: " +
      "the answer says from which line on; asked again, where to go on.",
    auth: "admin",
    body: z.union([http.createWorkspace, http.importWorkspace]),
    status: 201,
    answer: z.union([http.workspaceCreated, http.importing]),
    errors: ["conflict"],
  },
  {
    method: "POST",
    path: "/v1/workspaces/:id/import",
    summary: "Take the lines of an export",
    description:
      "The body is NDJSON as `GET /v1/export` writes it, whole or from a line on. With its `end` the workspace is " +
      "there, its owner has a new token, and the files whose bytes are missing are named; before, the next line is.",
    auth: "admin",
    params: { id: id("ws") },
    query: importQuery,
    body: "bytes",
    answer: z.union([http.importing, http.imported]),
    errors: ["not_found", "conflict", "malformed"],
  },
  {
    method: "PUT",
    path: "/v1/workspaces/:id/files/:sha256",
    summary: "Take the bytes of an imported file",
    description: "They are checked by the hash. Until they came the file is `not_found`.",
    auth: "admin",
    params: { id: id("ws"), sha256: z.string() },
    body: "bytes",
    errors: ["not_found"],
  },
  {
    method: "POST",
    path: "/v1/invites",
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
    summary: "Withdraw an invite",
    params: { id: id("inv") },
    errors: ["not_found"],
  },
  {
    method: "POST",
    path: "/v1/sign-in-links",
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
    summary: "End the token or session that asks",
  },
  {
    method: "POST",
    path: "/v1/harnesses",
    summary: "Make a harness and its token",
    body: http.createHarness,
    status: 201,
    answer: http.harnessCreated,
  },
  {
    method: "GET",
    path: "/v1/tokens",
    summary: "The tokens you may revoke",
    query: pageQuery,
    answer: http.page(http.tokenItem),
  },
  {
    method: "POST",
    path: "/v1/tokens",
    summary: "Make a further token",
    body: http.createToken,
    status: 201,
    answer: http.tokenCreated,
    errors: ["not_found"],
  },
  {
    method: "DELETE",
    path: "/v1/tokens/:id",
    summary: "Revoke a token",
    description: "Its open connections close with 4401 at once.",
    params: { id: id("tok") },
    errors: ["not_found"],
  },
  {
    method: "GET",
    path: "/v1/me",
    summary: "Who you are here",
    answer: http.me,
  },
  {
    method: "PUT",
    path: "/v1/me",
    summary: "Say which time zone you are in",
    body: http.putMe,
    answer: http.me,
  },
  {
    method: "GET",
    path: "/v1/participants",
    summary: "People, harnesses and agents of the workspace",
    query: pageQuery,
    answer: http.page(http.participantItem),
  },
  {
    method: "GET",
    path: "/v1/settings",
    summary: "The workspace's settings",
    description: "They are changed by the event `settings.set`.",
    answer: http.settingsAnswer,
  },
  {
    method: "GET",
    path: "/v1/export",
    summary: "The whole workspace as lines of JSON",
    description:
      "For owners and admins. One state: that of the moment when the answer begins. The last line has the type " +
      "`end`; without it the export was cut short. It has no token, session or invite in it.",
    answer: "application/x-ndjson",
  },
  {
    method: "GET",
    path: "/v1/export/files/:sha256",
    summary: "The bytes of a file that the export names",
    description: "For owners and admins.",
    params: { sha256: z.string() },
    answer: "application/octet-stream",
    errors: ["not_found"],
  },
];
