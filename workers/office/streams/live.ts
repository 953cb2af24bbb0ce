/**
 * The sockets that follow a stream (STREAM-2): what is stored is replayed, then what comes follows. They are the
 * office's second kind of socket, told apart by a tag. What must outlive hibernation is in a socket's attachment:
 * its stream, and how far it was sent.
 */
import type { Db } from "../../kit/db.ts";
import type { Identity } from "../letters.ts";
import type { EventRow } from "./store.ts";
import { eventsAfter, headOf, streamId } from "./store.ts";

/** The tag of every socket of this kind. */
export const LIVE = "live";
/** After this much the office asks whether the reader keeps up, as rooms do (CONN-10). */
const SYNC_EVENTS = 1000;
const SYNC_BYTES = 1024 * 1024;
/** With this many unanswered nothing more is sent. */
const MAX_OPEN_SYNCS = 4;
/** An unanswered one this old closes the socket. */
export const SYNC_TIMEOUT_MS = 30_000;
/** Sockets that may follow the streams of one office at a time. */
export const MAX_FOLLOWERS = 100;
export const LIVE_CLOSE = { protocol: 4400, token: 4401, removed: 4403, slow: 4408, restart: 1012 } as const;

/** What a socket carries through hibernation: ids and positions, no words. */
interface Attachment {
  /** The stream's item; empty for the person's own. */
  item: string;
  tokenId: string;
  participantId: string;
  /** The last offset that was sent, or that it asked to be sent what follows. */
  cursor: number;
  caughtUp: boolean;
  /** What was sent since the last sync. */
  events: number;
  bytes: number;
  /** The number of the last sync, and when each unanswered one was sent. */
  syncs: number;
  openSyncs: number[];
}

export interface LiveNeeds {
  ctx: DurableObjectState;
  db: Db;
  wall(): number;
  /** Looks at the sockets again by then, ms: {@link LiveSockets.closeSlow}. */
  alarm(at: number): void;
  fault(error: unknown): void;
}

export interface LiveSockets {
  /** Whether one more may follow. */
  hasRoom(): boolean;
  accept(ws: WebSocket, from: { item: string; by: Identity; after: number }): void;
  /** Whether a socket is of this kind. */
  owns(ws: WebSocket): boolean;
  message(ws: WebSocket, data: string | ArrayBuffer): void;
  /** Sends every follower of these streams what came, after its commit. */
  deliver(items: Iterable<string>): void;
  /** Ends what was opened with a token, or by somebody, that has no right to it any more (AUTH-3). */
  end(gone: { tokenId: string } | { participantId: string } | "agent"): void;
  /** Closes who did not answer in time; hands back when to look again, ms. */
  closeSlow(): number | undefined;
}

export function openLive(need: LiveNeeds): LiveSockets {
  const { ctx, db } = need;
  const open = (tag: string) => ctx.getWebSockets(tag).filter((ws) => ws.readyState === WebSocket.OPEN);

  /** Sends what follows the cursor, until all was sent or the reader has to answer. */
  const pump = (ws: WebSocket, state: Attachment): void => {
    const stream = streamId(db, state.item);
    const head = stream === undefined ? 0 : headOf(db, stream);
    if (stream !== undefined && state.cursor < head && state.openSyncs.length < MAX_OPEN_SYNCS)
      for (const row of eventsAfter(db, stream, state.cursor, head)) {
        const text = eventFrame(row);
        ws.send(text);
        state.cursor = row.offset;
        state.events += 1;
        state.bytes += text.length;
        if (state.events < SYNC_EVENTS && state.bytes < SYNC_BYTES) continue;
        ask(ws, state);
        if (state.openSyncs.length >= MAX_OPEN_SYNCS) break;
      }
    if (state.cursor >= head && !state.caughtUp) {
      state.caughtUp = true;
      ws.send(JSON.stringify({ type: "caught_up", offset: head }));
    }
    ws.serializeAttachment(state);
  };
  const ask = (ws: WebSocket, state: Attachment): void => {
    const now = need.wall();
    state.events = 0;
    state.bytes = 0;
    state.syncs += 1;
    state.openSyncs.push(now);
    ws.send(JSON.stringify({ type: "sync", n: state.syncs }));
    need.alarm(now + SYNC_TIMEOUT_MS);
  };
  /** One that cannot be served connects again and goes on from its cursor; the others are told. */
  const serve = (ws: WebSocket, state: Attachment): void => {
    try {
      pump(ws, state);
    } catch (error) {
      need.fault(error);
      close(ws, LIVE_CLOSE.restart, "could not be served, connect again");
    }
  };

  return {
    hasRoom: () => open(LIVE).length < MAX_FOLLOWERS,
    accept(ws, { item, by, after }) {
      ctx.acceptWebSocket(ws, [LIVE, tagOf(item)]);
      const stream = streamId(db, item);
      // A place that the stream does not have yet is its end: what comes is sent.
      const cursor = Math.min(after, stream === undefined ? 0 : headOf(db, stream));
      serve(ws, {
        item,
        tokenId: by.tokenId,
        participantId: by.participantId,
        cursor,
        caughtUp: false,
        events: 0,
        bytes: 0,
        syncs: 0,
        openSyncs: [],
      });
    },
    owns: (ws) => ctx.getTags(ws).includes(LIVE),
    message(ws, data) {
      if (ws.readyState !== WebSocket.OPEN) return;
      const n = syncedOf(data);
      if (n === undefined) return close(ws, LIVE_CLOSE.protocol, "only synced is said here");
      const state = stateOf(ws);
      const first = state.syncs - state.openSyncs.length + 1;
      // An answer to what was never asked, or was answered, is none.
      if (n > state.syncs || n < first) return;
      state.openSyncs = state.openSyncs.slice(n - first + 1);
      serve(ws, state);
    },
    deliver(items) {
      for (const item of items)
        for (const ws of open(tagOf(item))) {
          const state = stateOf(ws);
          if (state.caughtUp || state.openSyncs.length < MAX_OPEN_SYNCS) serve(ws, state);
        }
    },
    end(gone) {
      for (const ws of open(LIVE)) {
        const { tokenId, participantId } = stateOf(ws);
        if (gone === "agent" && participantId.startsWith("agt_"))
          close(ws, LIVE_CLOSE.removed, "no longer in the team");
        else if (gone !== "agent" && "tokenId" in gone && gone.tokenId === tokenId)
          close(ws, LIVE_CLOSE.token, "the token was revoked");
        else if (gone !== "agent" && "participantId" in gone && gone.participantId === participantId)
          close(ws, LIVE_CLOSE.removed, "people of the workspace follow streams, guests do not");
      }
    },
    closeSlow() {
      const now = need.wall();
      let next: number | undefined;
      for (const ws of open(LIVE)) {
        const [oldest] = stateOf(ws).openSyncs;
        if (oldest === undefined) continue;
        const due = oldest + SYNC_TIMEOUT_MS;
        if (due <= now) close(ws, LIVE_CLOSE.slow, "too slow to read, connect again");
        else next = Math.min(next ?? due, due);
      }
      return next;
    },
  };
}

const tagOf = (item: string) => `${LIVE} ${item}`;
const stateOf = (ws: WebSocket) => ws.deserializeAttachment() as Attachment;

function close(ws: WebSocket, code: number, reason: string): void {
  try {
    ws.close(code, reason);
  } catch {
    // It is closing already.
  }
}

/** An event as it is read over HTTP and sent on sockets, as JSON (STREAM-2). */
export function eventJson({ offset, type, payload, at, idem }: EventRow): string {
  const key = idem === null ? "" : `,"idempotencyKey":${JSON.stringify(idem)}`;
  return `{"offset":${offset},"type":${JSON.stringify(type)},"payload":${payload},"at":"${new Date(at).toISOString()}"${key}}`;
}
const eventFrame = (row: EventRow): string => `{"type":"event","event":${eventJson(row)}}`;

/** The number that a reader answers; undefined for whatever else it says. */
function syncedOf(data: string | ArrayBuffer): number | undefined {
  if (typeof data !== "string" || data.length > 1000) return undefined;
  try {
    const said = JSON.parse(data) as { type?: unknown; n?: unknown } | null;
    return said?.type === "synced" && Number.isSafeInteger(said.n) ? (said.n as number) : undefined;
  } catch {
    return undefined;
  }
}
