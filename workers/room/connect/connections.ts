/**
 * The open sockets of a room (CONN). Memory here is a cache: what must outlive hibernation is in a socket's
 * attachment. A connection without a cursor in its attachment has been sent everything up to the head, since
 * sending follows the commit in the same turn.
 */

import type { Db } from "../../kit/db.ts";
import { frameText } from "../deliver/frames.ts";
import { type Round, type Viewer, viewerOf } from "../deliver/viewer.ts";
import { FRAME_BYTES } from "../parse.ts";
import { factsAfter, headSeq } from "../store/log.ts";
import { participant } from "../store/participants.ts";
import type { LogRow } from "../types.ts";

/** After this much the server asks whether the reader keeps up (CONN-10). */
const SYNC_EVENTS = 1000;
const SYNC_BYTES = 1024 * 1024;
/** With this many unanswered nothing more is sent. */
const MAX_OPEN_SYNCS = 4;
/** An unanswered one this old closes the connection. */
export const SYNC_TIMEOUT_MS = 30_000;
export const HELLO_TIMEOUT_MS = 10_000;
const REPLAY_PAGE = 500;

/** What a socket carries through hibernation: ids and positions, no words. */
interface Attachment {
  participantId: string;
  tokenId: string;
  origin: string;
  acceptedAt: number;
  /** Whether hello was said. */
  open: boolean;
  batch: boolean;
  /** The last seq sent, while that is not the head. */
  cursor?: number;
  /** Whether `caught_up` was sent. */
  caughtUp: boolean;
  /** The number of the last sync, and when each unanswered one was sent. */
  syncs: number;
  openSyncs: number[];
  /** Whether it is told of the office (QUEUE-4). */
  watching?: true;
}

export interface Connection {
  readonly ws: WebSocket;
  state: Attachment;
  /** The last seq sent. */
  cursor: number;
  viewer?: Viewer | undefined;
  out: string[];
  events: number;
  bytes: number;
}

export interface Connections {
  all(): Connection[];
  /** Those of one participant that have said hello. */
  of(participantId: string): Connection[];
  get(ws: WebSocket): Connection;
  accept(
    ws: WebSocket,
    who: { participantId: string; tokenId: string; origin: string },
    now: number,
  ): Connection;
  forget(ws: WebSocket): void;
  /** Begins sending after a hello: the replay, `caught_up`, then what comes. */
  open(conn: Connection, cursor: number, batch: boolean): void;
  /** Queues text for one connection; `flush` sends it. */
  push(conn: Connection, text: string): void;
  /** Sends on every caught-up connection what new facts mean for it. */
  deliver(round: Round, rows: readonly LogRow[]): void;
  /** Goes on after a hello or an answered sync. */
  pump(round: Round, conn: Connection, rows?: readonly LogRow[]): void;
  synced(conn: Connection, n: number): void;
  /** Keeps with the socket whether it is told of the office. */
  watch(conn: Connection, on: boolean): void;
  /** Sends what is queued, batched for those who can (BATCH-1). */
  flush(): void;
  close(conn: Connection, code: number, reason: string): void;
  /** Whether a connection has got something to answer since this was last asked. */
  dueChanged(): boolean;
  /** The next time at which a connection is overdue, and those that are now. */
  overdue(now: number): { late: Connection[]; next: number | undefined };
  /** Names, standing or agents changed: look viewers up anew. */
  forgetViewers(): void;
}

/** @param fault told what went wrong while one connection was served: the others go on */
export function openConnections(
  ctx: DurableObjectState,
  db: Db,
  fault: (error: unknown) => void,
): Connections {
  let known: Map<WebSocket, Connection> | undefined;
  let dueChanged = false;

  const conns = (): Map<WebSocket, Connection> => {
    if (known) return known;
    known = new Map();
    const head = headSeq(db);
    for (const ws of ctx.getWebSockets()) {
      const state = ws.deserializeAttachment() as Attachment | null;
      if (state && ws.readyState === WebSocket.OPEN) known.set(ws, remembered(ws, state, head));
    }
    return known;
  };
  const save = (conn: Connection, head: number) => {
    const { cursor: _, ...state } = conn.state;
    conn.state = conn.cursor === head ? state : { ...state, cursor: conn.cursor };
    conn.ws.serializeAttachment(conn.state);
  };
  const viewer = (conn: Connection): Viewer | undefined => {
    if (conn.viewer) return conn.viewer;
    const who = participant(db, conn.state.participantId);
    conn.viewer = who && viewerOf(db, who, conn.state.tokenId, conn.state.origin);
    return conn.viewer;
  };
  const push = (conn: Connection, text: string) => void conn.out.push(text);

  /** Sends rows until the reader has to answer; true when all were sent. */
  const send = (round: Round, conn: Connection, rows: readonly LogRow[]): boolean => {
    const to = viewer(conn);
    if (!to) return false;
    for (const row of rows) {
      if (conn.state.openSyncs.length >= MAX_OPEN_SYNCS) return false;
      const text = frameText(round, to, row);
      conn.cursor = row.seq;
      if (text === undefined) continue;
      push(conn, text);
      conn.events += 1;
      conn.bytes += text.length;
      if (conn.events < SYNC_EVENTS && conn.bytes < SYNC_BYTES) continue;
      conn.events = 0;
      conn.bytes = 0;
      conn.state.syncs += 1;
      conn.state.openSyncs.push(round.now);
      dueChanged = true;
      push(conn, JSON.stringify({ v: 1, type: "sync", n: conn.state.syncs }));
    }
    return true;
  };

  const pump = (round: Round, conn: Connection, fresh?: readonly LogRow[]) => {
    const head = fresh?.at(-1)?.seq ?? headSeq(db);
    const before = conn.state.openSyncs.length;
    const wasBehind = conn.state.cursor !== undefined;
    if (fresh && fresh[0] && conn.cursor === fresh[0].seq - 1) send(round, conn, fresh);
    // Who has to answer first costs nobody a read (CONN-10).
    while (conn.cursor < head && conn.state.openSyncs.length < MAX_OPEN_SYNCS) {
      const rows = factsAfter(db, conn.cursor, REPLAY_PAGE);
      if (rows.length === 0 || !send(round, conn, rows)) break;
    }
    const atHead = conn.cursor === head;
    if (atHead && !conn.state.caughtUp) {
      conn.state.caughtUp = true;
      push(conn, JSON.stringify({ v: 1, type: "caught_up", seq: head }));
      save(conn, head);
    } else if (!atHead || wasBehind || conn.state.openSyncs.length !== before) save(conn, head);
  };

  const close = (conn: Connection, code: number, reason: string) => {
    conns().delete(conn.ws);
    flushOne(conn);
    try {
      // Its close event follows, perhaps after a sleep, and must not end it a second time.
      conn.ws.serializeAttachment({ ...conn.state, open: false });
      conn.ws.close(code, reason.slice(0, 120));
    } catch {
      // It is closing already.
    }
  };

  return {
    all: () => [...conns().values()],
    of: (id) => [...conns().values()].filter((c) => c.state.participantId === id && c.state.open),
    get(ws) {
      const conn = conns().get(ws);
      if (conn) return conn;
      // A frame may still arrive on a socket that we have closed: it has no connection any more.
      const state = ws.deserializeAttachment() as Attachment;
      return remembered(ws, state, headSeq(db));
    },
    accept(ws, who, now) {
      const state: Attachment = {
        ...who,
        acceptedAt: now,
        open: false,
        batch: false,
        caughtUp: false,
        syncs: 0,
        openSyncs: [],
      };
      const all = conns();
      ctx.acceptWebSocket(ws);
      ws.serializeAttachment(state);
      const conn = remembered(ws, state, headSeq(db));
      all.set(ws, conn);
      dueChanged = true;
      return conn;
    },
    forget: (ws) => void conns().delete(ws),
    open(conn, cursor, batch) {
      conn.state = { ...conn.state, open: true, batch };
      conn.cursor = cursor;
      conn.viewer = undefined;
    },
    push,
    pump,
    deliver(round, rows) {
      if (rows.length === 0) return;
      for (const conn of conns().values()) {
        if (!conn.state.open || !conn.state.caughtUp) continue;
        try {
          pump(round, conn, rows);
        } catch (error) {
          // The write stands and everybody else is told; this one resumes from its cursor.
          fault(error);
          close(conn, 1012, "could not be served, connect again");
        }
      }
    },
    synced(conn, n) {
      // An answer to what was never asked is none.
      if (n > conn.state.syncs) return;
      const first = conn.state.syncs - conn.state.openSyncs.length + 1;
      const answered = n - first + 1;
      if (answered > 0) conn.state.openSyncs = conn.state.openSyncs.slice(answered);
      conn.ws.serializeAttachment(conn.state);
    },
    watch(conn, on) {
      const { watching: _, ...state } = conn.state;
      conn.state = on ? { ...state, watching: true } : state;
      conn.ws.serializeAttachment(conn.state);
    },
    flush() {
      for (const conn of conns().values()) flushOne(conn);
    },
    close,
    dueChanged() {
      const changed = dueChanged;
      dueChanged = false;
      return changed;
    },
    overdue(now) {
      const late: Connection[] = [];
      let next: number | undefined;
      for (const conn of conns().values()) {
        const due = dueAt(conn.state);
        if (due === undefined) continue;
        if (due <= now) late.push(conn);
        else next = Math.min(next ?? due, due);
      }
      return { late, next };
    },
    forgetViewers() {
      for (const conn of conns().values()) conn.viewer = undefined;
    },
  };
}

function remembered(ws: WebSocket, state: Attachment, head: number): Connection {
  return { ws, state, cursor: state.cursor ?? head, out: [], events: 0, bytes: 0 };
}

/** When a connection must have said hello, or answered its oldest sync. */
function dueAt(state: Attachment): number | undefined {
  if (!state.open) return state.acceptedAt + HELLO_TIMEOUT_MS;
  const oldest = state.openSyncs[0];
  return oldest === undefined ? undefined : oldest + SYNC_TIMEOUT_MS;
}

function flushOne(conn: Connection): void {
  const queued = conn.out;
  if (queued.length === 0) return;
  conn.out = [];
  try {
    if (!conn.state.batch || queued.length === 1) for (const text of queued) conn.ws.send(text);
    else for (const frame of batched(queued)) conn.ws.send(frame);
  } catch {
    // The peer has gone: its close event follows, and it resumes from its cursor.
  }
}

/** Joins frames into arrays of at most the frame limit (BATCH-1, WIN-8). */
function* batched(texts: readonly string[]): Generator<string> {
  let group: string[] = [];
  let size = 2;
  for (const text of texts) {
    // A UTF-16 unit is at most three bytes of UTF-8.
    const bytes = text.length * 3 + 1;
    if (group.length > 0 && size + bytes > FRAME_BYTES) {
      yield joined(group);
      group = [];
      size = 2;
    }
    group.push(text);
    size += bytes;
  }
  if (group.length > 0) yield joined(group);
}

function joined(group: readonly string[]): string {
  return group.length === 1 ? (group[0] ?? "") : `[${group.join(",")}]`;
}
