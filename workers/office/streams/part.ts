/**
 * The streams of one office as its shell has them: caches in memory, sockets that follow, and what is done after a
 * commit. What is decided and written stands in append.ts and drive.ts and knows a `Desk` only.
 */
import { renderPrompt } from "../../../src/shared/rules/context/render/index.ts";
import type { PromptFormat } from "../../../src/shared/wire/context/http.ts";
import { errorOf } from "../../../src/shared/wire/errors.ts";
import type { Db } from "../../kit/db.ts";
import { Refused, refuse } from "../../kit/result.ts";
import type { Look } from "../desk.ts";
import type { Identity } from "../letters.ts";
import type { Beside, CompactionAsk, StreamHook, StreamOutside } from "./hooks.ts";
import { LIVE, type LiveSockets, MAX_FOLLOWERS, openLive } from "./live.ts";
import { historyOf, pageOf, promptParts, type StreamAt } from "./reads.ts";
import { mustRead } from "./rights.ts";
import type { StatesMemory } from "./states.ts";
import { mustExist } from "./store.ts";

/** What one office knows of its streams beside its rows; a `Desk` carries it. */
export interface StreamsMemory extends StatesMemory {
  /** Items whose streams this piece of work appended to, empty for the person's own: their followers are told. */
  readonly touched: Set<string>;
  /** Of those, the ones whose next step was not taken yet. */
  readonly undriven: Set<string>;
  /** What this piece of work leaves to be done once it is stored. */
  readonly later: (() => void)[];
  readonly live: LiveSockets;
  readonly hooks: readonly StreamHook[];
  /** By stream, the request whose count was looked at (REQ-8). */
  readonly measured: Map<number, number>;
  /** The newest compaction that was asked for on a stream while the object is awake. */
  compaction(stream: number): { through: number; failed: boolean } | undefined;
  /** Asks for one after the commit; when it came or failed the stream goes on. */
  compact(ask: CompactionAsk, stream: number): void;
}

export interface Streams {
  readonly memory: StreamsMemory;
  /** Runs a transaction: what memory took of one that is undone is forgotten. */
  guarded<T>(transaction: () => T): T;
  /** A part of a transaction was undone: what is in memory may be of it. */
  forget(): void;
  /** After a commit: followers are sent what came, and what works beside is told. */
  committed(handle: string): void;
  page(by: Identity, look: Look, item: string, asked: { after: number; limit: number }): string;
  history(by: Identity, look: Look, item: string, at?: number): ReadableStream;
  prompt(by: Identity, look: Look, item: string, format: PromptFormat, at?: number): ReadableStream;
  /** The upgrade of a socket that follows; `asked` is the gateway's, who asks included. */
  follow(asked: string, look: Look): Response;
}

export interface StreamsNeed {
  ctx: DurableObjectState;
  db: Db;
  wall(): number;
  alarm(name: string, at: number): void;
  beside: Omit<Beside, "states">;
  hooks: readonly StreamHook[];
  outside: readonly StreamOutside[];
}

/** Who follows what, from the gateway to the office. */
export interface FollowAsk {
  by: Identity;
  item: string;
  after: number;
  /** Whether the rooms' subprotocol was offered: a browser wants what it offers taken. */
  subprotocol: boolean;
}

export function openStreams(need: StreamsNeed): Streams {
  const { db, hooks, outside } = need;
  const held: StatesMemory["held"] = new Map();
  const beside: Beside = { ...need.beside, states: { held } };
  const fault = (error: unknown) => beside.fault(error);
  const compactions = new Map<number, { through: number; failed: boolean }>();
  const memory: StreamsMemory = {
    hooks,
    held,
    touched: new Set(),
    undriven: new Set(),
    later: [],
    measured: new Map(),
    live: openLive({
      ctx: need.ctx,
      db,
      wall: () => need.wall(),
      alarm: (at) => need.alarm(LIVE, at),
      fault,
    }),
    compaction: (stream) => compactions.get(stream),
    compact(ask, stream) {
      const asked = { through: ask.through, failed: false };
      memory.later.push(() => {
        compactions.set(stream, asked);
        beside.waitUntil(
          summarised(outside, beside, ask)
            .then(() => {
              asked.failed = true;
              beside.work((desk) => void desk.streams.undriven.add(ask.stream.item ?? ""));
            })
            .catch(fault),
        );
      });
    },
  };

  const at = (by: Identity, look: Look, item: string): StreamAt => {
    mustRead(by, look.handle);
    mustExist(db, item);
    return { db, memory, item };
  };

  return {
    memory,
    guarded(transaction) {
      try {
        return transaction();
      } catch (error) {
        memory.held.clear();
        memory.measured.clear();
        memory.touched.clear();
        memory.undriven.clear();
        memory.later.length = 0;
        throw error;
      }
    },
    forget() {
      memory.held.clear();
      memory.measured.clear();
    },
    committed(handle) {
      const items = [...memory.touched];
      const later = memory.later.splice(0);
      memory.touched.clear();
      memory.live.deliver(items);
      for (const one of later) one();
      for (const item of items)
        for (const one of outside) one.committed?.(beside, item === "" ? { handle } : { handle, item });
    },
    page: (by, look, item, { after, limit }) => pageOf(at(by, look, item), after, limit),
    history: (by, look, item, upto) => streamOf(historyOf(at(by, look, item), upto), fault),
    prompt(by, look, item, format, upto) {
      const { items, request } = promptParts(at(by, look, item), upto);
      const body = JSON.stringify(renderPrompt({ items, ...(request && { request }) }, format));
      return streamOf([`{"format":${JSON.stringify(format)},"request":`, body, "}"], fault);
    },
    follow(asked, look) {
      const { by, item, after, subprotocol } = JSON.parse(decodeURIComponent(asked)) as FollowAsk;
      try {
        at(by, look, item);
        if (!memory.live.hasRoom())
          refuse("rate_limited", `${MAX_FOLLOWERS} sockets follow streams here already. Close one.`, {
            retry_after_s: 10,
          });
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        return Response.json(errorOf(error.refusal), { status: 400 });
      }
      const { 0: client, 1: server } = new WebSocketPair();
      memory.live.accept(server, { item, by, after });
      const headers = new Headers();
      if (subprotocol) headers.set("sec-websocket-protocol", "bullpen.v1");
      return new Response(null, { status: 101, webSocket: client, headers });
    },
  };
}

/** A compaction that was tried, whether it came or not: one that came has moved the barrier (REQ-8). */
async function summarised(
  outside: readonly StreamOutside[],
  beside: Beside,
  ask: CompactionAsk,
): Promise<void> {
  for (const one of outside)
    try {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await one.compact?.(beside, ask);
    } catch (error) {
      beside.fault(error);
    }
}

/** Pieces of text as a stream of bytes, made no faster than it is read: only such travel between objects. */
function streamOf(pieces: Iterable<string>, fault: (error: unknown) => void): ReadableStream {
  const encoder = new TextEncoder();
  const from = pieces[Symbol.iterator]();
  return new ReadableStream({
    type: "bytes",
    pull(controller) {
      try {
        let text = "";
        let done = false;
        while (text.length < CHUNK_CHARS && !done) {
          const next = from.next();
          if (next.done) done = true;
          else text += next.value;
        }
        if (text !== "") controller.enqueue(encoder.encode(text));
        if (done) controller.close();
      } catch (error) {
        fault(error);
        controller.error(error);
      }
    },
  });
}
/** So much is made at once: enough to keep a connection busy, little beside an object's memory. */
const CHUNK_CHARS = 256 * 1024;
