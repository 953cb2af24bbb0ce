/** The client of one context stream (STREAM-1, STREAM-2), for Node, browsers and Workers. */
import type * as z from "zod";
import { type Clock, systemClock } from "../sdk/clock.ts";
import type { SocketConstructor } from "../sdk/connection.ts";
import { BullpenError } from "../sdk/errors.ts";
import { BullpenHttp, type Fetch, type RequestOptions } from "../sdk/http.ts";
import { parseToken } from "../shared/token.ts";
import type {
  AppendEvent,
  appendAnswer,
  HistoryAnswer,
  PromptFormat,
  promptAnswer,
} from "../shared/wire/context/http.ts";
import { type Following, type FollowOptions, follow, type StoredEvent } from "./follow.ts";

export interface StreamOptions {
  /** The server's origin. */
  url: string;
  /** An agent's token for its own streams, a person's for those of their workspace. */
  token: string;
  /** Whose stream it is, by handle. */
  person: string;
  /** The stream of one of their items, instead of their own. */
  item?: string | undefined;
  clock?: Clock | undefined;
  fetch?: Fetch | undefined;
  WebSocket?: SocketConstructor | undefined;
}

/** Its methods reject with a `BullpenError`. */
export interface ContextStream {
  /** As in `/people/scout`. */
  readonly path: string;
  readonly workspace: string;
  readonly person: string;
  readonly item: string | undefined;
  readonly http: BullpenHttp;
  /** Appends a batch, all or nothing; the offset of each event. */
  append(events: readonly AppendEvent[], signal?: AbortSignal): Promise<number[]>;
  /** Raw events after an offset. */
  read(asked?: { after?: number; limit?: number }): Promise<{ events: StoredEvent[]; head: number }>;
  /** What a model sees, as of an offset. */
  history(at?: number, signal?: AbortSignal): Promise<HistoryAnswer>;
  /** The same as the body of a provider's request. */
  prompt(format: PromptFormat, at?: number): Promise<z.infer<typeof promptAnswer>["request"]>;
  /** Every event after an offset, and what comes; through every interruption until it is closed or refused. */
  follow(options: FollowOptions): Following;
}

export function openStream(options: StreamOptions): ContextStream {
  const { url, token, person, item, clock = systemClock, fetch } = options;
  const workspace = parseToken(token)?.workspaceId;
  if (workspace === undefined)
    throw new BullpenError("invalid", "token must be one of Bullpen's: it starts with bp_.");
  const http = new BullpenHttp({ url, token, fetch });
  const path = `/people/${person}${item === undefined ? "" : `/items/${item}`}`;
  const route = `/v1/streams${path}`;
  const get = <T>(more: string, query: RequestOptions["query"], signal?: AbortSignal) =>
    http.get<T>(`${route}${more}`, query, { signal });
  return {
    path,
    workspace,
    person,
    item,
    http,
    async append(events, signal) {
      const { offsets } = await http.post<z.infer<typeof appendAnswer>>(route, { events }, { signal });
      return offsets;
    },
    read: ({ after, limit } = {}) => get("", { after, limit }),
    history: (at, signal) => get("/history", { at }, signal),
    async prompt(format, at) {
      const { request } = await get<z.infer<typeof promptAnswer>>("/prompt", { format, at });
      return request;
    },
    follow(following) {
      const Socket = options.WebSocket ?? (globalThis.WebSocket as unknown as SocketConstructor);
      return follow({ http, token, path, clock, WebSocket: Socket }, following);
    },
  };
}
