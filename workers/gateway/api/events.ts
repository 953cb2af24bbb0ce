/** The log over HTTP, and the socket (HTTP-1, HTTP-3, CONN). */
import * as z from "zod";
import * as http from "../../../src/shared/wire/http.ts";
import {
  DELIVERIES,
  FACTS,
  publishedSchemas,
  SIGNALS,
  VERBS,
  welcome,
} from "../../../src/shared/wire/index.ts";
import { eventsQuery } from "../../../src/shared/wire/query.ts";
import type { Route } from "./route.ts";

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

export const events: readonly Route[] = [
  {
    method: "POST",
    path: "/v1/events",
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
    summary: "Events after a position, at once or as soon as there are some",
    description:
      "The same events as on the socket. Go on from `next_after`; to store a position, send `ack`.",
    query: eventsQuery,
    answer: http.eventsAnswer.extend({ events: z.array(serverEvent) }),
  },
  {
    method: "POST",
    path: "/v1/hello",
    summary: "What the socket's first frame does, over HTTP",
    body: hello,
    answer: welcome,
    errors: ["conflict"],
  },
  {
    method: "GET",
    path: "/v1/connect",
    summary: "The rooms' WebSocket",
    description:
      "JSON text frames; the first is `hello`. A browser brings its token as the subprotocol `bearer.<token>` " +
      "beside `bullpen.v1`. The frames are described by the files under `/schemas/room/`.",
    status: 101,
    errors: ["unsupported"],
  },
];
