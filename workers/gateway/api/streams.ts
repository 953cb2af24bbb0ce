/** Context streams (STREAM-1, STREAM-2). */
import type * as z from "zod";
import * as context from "../../../src/shared/wire/context/http.ts";
import { id } from "../../../src/shared/wire/ids.ts";
import { followQuery, historyQuery, promptQuery, streamQuery } from "../../../src/shared/wire/query.ts";
import { handle } from "../../../src/shared/wire/team.ts";
import type { Route } from "./route.ts";

const NAMES: readonly { path: string; params: Record<string, z.ZodType>; whose: string }[] = [
  { path: "/v1/streams/people/:handle", params: { handle }, whose: "a person's own stream" },
  {
    path: "/v1/streams/people/:handle/items/:id",
    params: { handle, id: id("itm") },
    whose: "the stream of an item",
  },
];

/** The routes of both kinds of stream. */
export const streams: readonly Route[] = NAMES.flatMap(({ path, params, whose }): Route[] => [
  {
    method: "POST",
    path,
    summary: `Append events to ${whose}, all or nothing`,
    description:
      "1 to 1,000 events, at most 1 MiB. Who may append what is in STREAM-4; `actor` is stamped from the token. The same " +
      "`idempotencyKey` and body again is the same event; the settlement of what is not open is `conflict`.",
    params,
    body: context.appendBody,
    answer: context.appendAnswer,
    errors: ["not_found", "conflict"],
  },
  {
    method: "GET",
    path,
    summary: `Read ${whose}, event by event`,
    description: "A page may hold fewer events than asked for; the last one ends at `head`.",
    params,
    query: streamQuery,
    answer: context.streamRead,
    errors: ["not_found"],
  },
  {
    method: "GET",
    path: `${path}/history`,
    summary: `What a model sees of ${whose}`,
    params,
    query: historyQuery,
    answer: context.historyAnswer,
    errors: ["not_found"],
  },
  {
    method: "GET",
    path: `${path}/prompt`,
    summary: `The same as the body of a provider's request`,
    description:
      "As of a request's offset it is what that request sends, without model, sampling, tools and bytes of files.",
    params,
    query: promptQuery,
    answer: context.promptAnswer,
    errors: ["not_found", "too_large"],
  },
  {
    method: "GET",
    path: `${path}/live`,
    summary: `Follow ${whose} by socket`,
    description:
      "JSON text frames: what is after `after`, then `caught_up`, then each event as it is appended. After 1,000 events or " +
      "1 MiB comes `sync`, which is answered `synced` with its `n` at once; four unanswered hold what follows back, and one " +
      "unanswered for 30 s closes the socket with 4408. Whoever connects again with the last offset it has misses nothing.",
    params,
    query: followQuery,
    status: 101,
    errors: ["not_found", "unsupported"],
  },
]);
