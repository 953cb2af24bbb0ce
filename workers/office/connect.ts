/**
 * The agent's sockets (OFF-1 to OFF-7). What must outlive hibernation is in a socket's attachment: memory here is
 * a cache. One connection counts, the one that the person's row names; frames of all others change nothing.
 */

import { createHash } from "node:crypto";
import { type Bucket, takeFrom } from "../../src/shared/rules/bucket.ts";
import { runnerOf } from "../../src/shared/rules/context/runner.ts";
import { crowdedOut } from "../../src/shared/rules/crowd.ts";
import { parseToken } from "../../src/shared/token.ts";
import { type AgentPayload, CLOSE, MAX_FRAME_BYTES } from "../../src/shared/wire/agent/index.ts";
import type { Result } from "../kit/result.ts";
import type { Credential } from "../room/types.ts";
import type { Connection, Desk, Look } from "./desk.ts";
import {
  type Answer,
  type Asked,
  answer,
  errorAnswer,
  FrameRefused,
  readFrame,
  sort,
  wasKept,
} from "./frames.ts";
import { AgentRefused } from "./handler.ts";
import { badToken, firstFrame, HELLO_MS, type NoWelcome, noHello, runByOffice, tooHasty } from "./hello.ts";
import type { Identity } from "./letters.ts";
import { parts } from "./turns.ts";
import { SILENT_MS, welcomeOf } from "./welcome.ts";

/** The tag of an agent's sockets: an office has others, that follow its streams (streams/live.ts). */
const AGENT = "agent";
const MAX_UNKNOWN = 20;
/** An agent that is faster is answered `failed`, and goes on when it is slower. */
const PACE = { per_s: 100, burst: 1000 };
/** What may be sent without waiting for the welcome (OFF-2). */
const EARLY = { frames: 100, bytes: MAX_FRAME_BYTES };
/** Of frames that wait behind one which waits for an answer from elsewhere. */
const WAITING_BYTES = 4 * MAX_FRAME_BYTES;

/** What a socket carries through hibernation. */
interface Attachment extends Partial<Omit<Connection, "id">> {
  /** The connection's id; absent until its hello was taken. */
  id?: string;
  origin: string;
  /** Where it comes from, until its hello was taken: failures are counted by it (AUTH-7). */
  address?: string;
  acceptedAt: number;
  heard: number;
  /** Ids and hashes of the last frames that no row keeps (OFF-6). */
  recent: string[];
}
interface Live {
  readonly ws: WebSocket;
  state: Attachment;
}
/** What of a socket is still being taken: writes are taken in the order in which they came. */
interface Chain {
  last: Promise<void>;
  /** How much waits for its turn. */
  frames: number;
  bytes: number;
}

export interface SocketsNeed {
  ctx: DurableObjectState;
  wall(): number;
  /** The id of the connection that counts. */
  counts(): string | undefined;
  work<T>(work: (desk: Desk) => T, then?: (value: T) => void, as?: Connection): T;
  look(): Look & { removed: boolean; version: number };
  identify(credential: Credential): Promise<Result<Identity>>;
  /** Somebody at this address had no good token (AUTH-7). */
  failed(address: string): void;
  /** A frame's own id. */
  mint(): string;
  fault(error: unknown): void;
}

export interface Sockets {
  /** The connection that counts, while its socket is open. */
  current(): Connection | undefined;
  accept(ws: WebSocket, origin: string, address?: string): void;
  message(ws: WebSocket, data: string | ArrayBuffer): Promise<void>;
  /** The other side closed a socket. */
  closed(ws: WebSocket): void;
  /** Sends frames on the connection that counts. */
  send(frames: readonly object[]): void;
  /** Ends the connection that counts. */
  close(code: number, reason: string): void;
  /** Closes what was silent for too long; hands back when to look again, ms. */
  closeSilent(): number | undefined;
}

export function openSockets(need: SocketsNeed): Sockets {
  const lives = new Map<WebSocket, Live>();
  const chains = new Map<WebSocket, Chain>();
  /** Whose hello is being checked; whether more was sent meanwhile than is kept (OFF-2). */
  const checks = new Map<WebSocket, { hasty: boolean }>();
  /** What runs out for a socket that has not said hello (OFF-2). */
  const clocks = new Map<WebSocket, ReturnType<typeof setTimeout>>();
  let pace: Bucket | undefined;

  const live = (ws: WebSocket): Live => {
    let found = lives.get(ws);
    if (!found) lives.set(ws, (found = { ws, state: ws.deserializeAttachment() as Attachment }));
    return found;
  };
  const save = (of: Live, change: Partial<Attachment>) => {
    of.state = { ...of.state, ...change };
    of.ws.serializeAttachment(of.state);
  };
  const open = (): Live[] =>
    need.ctx
      .getWebSockets(AGENT)
      .filter((ws) => ws.readyState === WebSocket.OPEN)
      .map(live);
  const currentLive = (): Live | undefined => {
    const id = need.counts();
    return id === undefined ? undefined : open().find((l) => l.state.id === id);
  };
  const say = (of: Live, what: Answer, replyTo?: string) => {
    if (of.ws.readyState !== WebSocket.OPEN) return;
    of.ws.send(JSON.stringify({ id: need.mint(), ...(replyTo === undefined ? {} : { replyTo }), ...what }));
  };
  const startClock = (ws: WebSocket) => clocks.set(ws, setTimeout(closeLate, HELLO_MS));
  /** Stops waiting for a hello: a timer that runs keeps the object from sleeping. */
  const stopClock = (ws: WebSocket) => {
    clearTimeout(clocks.get(ws) ?? null);
    clocks.delete(ws);
  };
  const end = (of: Live, code: number, reason: string) => {
    stopClock(of.ws);
    const counted = of.state.id !== undefined && of.state.id === need.counts();
    of.ws.close(code, reason);
    lives.delete(of.ws);
    // That it ended is written down, and what follows from it.
    if (counted) need.work(() => {});
  };

  /** No hello in time: with the timer, or when the object woke after one was lost (OFF-2). */
  const closeLate = () => {
    const now = need.wall();
    for (const of of open()) {
      if (of.state.id !== undefined || checks.has(of.ws)) continue;
      if (now - of.state.acceptedAt >= HELLO_MS) turnAway(of, noHello());
    }
  };

  const turnAway = (of: Live, { answer, replyTo, close, reason }: NoWelcome) => {
    say(of, answer, replyTo);
    end(of, close, reason);
  };

  const hello = async (of: Live, frame: { id: string; hello: AgentPayload<"hello"> }): Promise<void> => {
    const said = frame.hello;
    const { workspace, handle } = need.look();
    const token = parseToken(said.token);
    const refuse = () => {
      if (of.state.address !== undefined) need.failed(of.state.address);
      turnAway(of, badToken(handle, frame.id));
    };
    if (!token || token.workspaceId !== workspace || said.person !== handle) return refuse();
    const tokenId = `tok_${token.rowUlid}`;
    const secretHash = createHash("sha256").update(token.secret).digest("hex");
    const check = { hasty: false };
    let found: Result<Identity> | undefined;
    checks.set(of.ws, check);
    try {
      found = await need.identify({ tokenId, secretHash, origin: of.state.origin });
    } catch (error) {
      need.fault(error);
    } finally {
      checks.delete(of.ws);
    }
    if (of.ws.readyState !== WebSocket.OPEN) return;
    const { removed, version, team } = need.look();
    if (found && (!found.ok || found.value.handle !== handle || removed)) return refuse();
    if (check.hasty) return turnAway(of, tooHasty(frame.id));
    if (!found) {
      stopClock(of.ws);
      startClock(of.ws);
      save(of, { acceptedAt: need.wall() });
      return say(of, errorAnswer("failed", "The token could not be checked now. Say hello again."), frame.id);
    }
    if (runnerOf(team, handle) !== undefined) return turnAway(of, runByOffice(handle, frame.id));
    const old = currentLive();
    const connection: Connection = { id: need.mint(), tokenId, origin: of.state.origin, version };
    need.work(
      (desk) => welcomeOf(desk, connection),
      (welcome) => {
        stopClock(of.ws);
        save(of, { ...connection, heard: need.wall() });
        if (old) {
          say(
            old,
            errorAnswer("replaced", "A newer connection of this agent has taken over. Do not reconnect."),
          );
          end(old, CLOSE.replaced, "replaced");
        }
        say(of, { type: "welcome", payload: welcome }, frame.id);
      },
      connection,
    );
  };

  /** What the agent answered one of our frames with (OFF-4). */
  const erred = (replyTo: string, error: AgentPayload<"error">) =>
    need.work((desk) => {
      if (!parts.erred(desk, replyTo, error))
        console.info(
          JSON.stringify({ at: new Date(need.wall()).toISOString(), event: "agent_error", code: error.code }),
        );
    });

  const ask = (of: Live, asked: Asked): Promise<void> | void => {
    const connection = of.state.id ?? "";
    return answer(
      {
        connection,
        look: () => need.look(),
        fault: (error) => need.fault(error),
        // What arrives on, or was asked for by, a connection that was replaced meanwhile changes nothing (OFF-3).
        work: (work, then) => void (need.counts() === connection && need.work(work, then)),
      },
      asked,
      (what) => say(of, what, asked.frame.id),
    );
  };

  /** Whether the id of a frame that no row keeps was another's, or the other way round (OFF-1, OFF-6). */
  const isAnother = (of: Live, { frame, handler }: Asked): boolean => {
    const entry = `${frame.hash.slice(0, 12)} ${frame.id.slice(0, 40)}`;
    const same = of.state.recent.find((e) => e.slice(13) === entry.slice(13));
    if (same !== undefined) return same !== entry;
    if (handler.kept) return false;
    save(of, { recent: [...of.state.recent.slice(-15), entry] });
    return wasKept(need.look().db, of.state.id ?? "", frame.id);
  };

  /** Takes one piece after the other on a socket: none overtakes one that waits for an answer from elsewhere. */
  const inOrder = (of: Live, bytes: number, work: () => Promise<void> | void): Promise<void> | void => {
    const before = chains.get(of.ws);
    const taking = before ? before.last.then(work) : work();
    if (!taking) return;
    const chain: Chain = before ?? { last: taking, frames: 0, bytes: 0 };
    chain.frames += 1;
    chain.bytes += bytes;
    const link = taking
      .catch((error: unknown) => need.fault(error))
      .then(() => {
        chain.frames -= 1;
        chain.bytes -= bytes;
        if (chain.last === link) chains.delete(of.ws);
      });
    chain.last = link;
    chains.set(of.ws, chain);
    return link;
  };

  /** Before the welcome: a hello, and whatever was sent without waiting for its answer. */
  const first = (of: Live, data: string | ArrayBuffer): Promise<void> | void => {
    if (of.ws.readyState !== WebSocket.OPEN) return;
    if (of.state.id !== undefined) return void take(of, data);
    const read = firstFrame(data);
    if (!read.ok) return turnAway(of, read);
    return hello(of, read).catch((error: unknown) => refusal(of, error));
  };

  /** Before the welcome; of a frame that is too much to keep nothing is left but that it came. */
  const early = (of: Live, data: string | ArrayBuffer): Promise<void> | void => {
    const check = checks.get(of.ws);
    const { frames = 0, bytes = 0 } = chains.get(of.ws) ?? {};
    if (check && (frames > EARLY.frames || bytes + sizeOf(data) > EARLY.bytes)) check.hasty = true;
    else return inOrder(of, sizeOf(data), () => first(of, data));
  };

  const take = (of: Live, data: string | ArrayBuffer): Promise<void> | void => {
    try {
      const frame = readFrame(data);
      const paced = takeFrom(pace, PACE, 1, need.wall());
      pace = paced.bucket;
      if (!paced.ok)
        throw new FrameRefused("failed", "You send faster than an office reads. Wait a second.", frame.id);
      const sorted = sort(frame);
      if (sorted === undefined) return;
      if ("error" in sorted) return erred(sorted.replyTo, sorted.error);
      if (isAnother(of, sorted))
        throw new FrameRefused("invalid", "This id was used for another frame. Give each its own.", frame.id);
      if (sorted.type === "heartbeat") {
        const { workItemId } = sorted.payload as AgentPayload<"heartbeat">;
        if (workItemId !== undefined && workItemId !== of.state.on)
          save(of, { on: workItemId.slice(0, 100) });
      }
      if (!sorted.handler.writes) return ask(of, sorted);
      if ((chains.get(of.ws)?.bytes ?? 0) > WAITING_BYTES)
        throw new FrameRefused("failed", "Too much waits here already. Send it again in a second.", frame.id);
      return inOrder(of, sizeOf(data), () => ask(of, sorted));
    } catch (error) {
      refusal(of, error);
    }
  };
  const refusal = (of: Live, error: unknown) => {
    if (!(error instanceof AgentRefused)) need.fault(error);
    const [code, message] =
      error instanceof AgentRefused
        ? [error.code, error.message]
        : (["failed", "Something went wrong here."] as const);
    const replyTo = error instanceof FrameRefused ? error.replyTo : undefined;
    say(of, errorAnswer(code, message), replyTo);
  };

  return {
    current() {
      const found = currentLive();
      if (!found) return undefined;
      const { id, tokenId, origin, version, on } = found.state as Attachment & Connection;
      return { id, tokenId, origin, version, ...(on === undefined ? {} : { on }) };
    },
    accept(ws, origin, address) {
      need.ctx.acceptWebSocket(ws, [AGENT]);
      const now = need.wall();
      const from = address === undefined ? {} : { address };
      const fresh: Attachment = { origin, ...from, acceptedAt: now, heard: now, recent: [] };
      ws.serializeAttachment(fresh);
      closeLate();
      const unknown = open()
        .filter(({ state }) => state.id === undefined)
        .map((of) => ({ of, ...of.state, since: of.state.acceptedAt, checked: checks.has(of.ws) }));
      for (const { of } of crowdedOut(unknown, MAX_UNKNOWN))
        end(of, CLOSE.crowded, "too many connections without hello: try again");
      if (ws.readyState === WebSocket.OPEN) startClock(ws);
    },
    async message(ws, data) {
      if (ws.readyState !== WebSocket.OPEN) return;
      const of = live(ws);
      if (of.state.id !== undefined && of.state.id !== need.counts()) return;
      save(of, { heard: need.wall() });
      await (of.state.id === undefined ? early(of, data) : take(of, data));
    },
    closed(ws) {
      stopClock(ws);
      lives.delete(ws);
      // If it was the one that counts, its end is written down.
      need.work(() => {});
    },
    send(frames) {
      const to = currentLive();
      if (to) for (const frame of frames) to.ws.send(JSON.stringify(frame));
    },
    close(code, reason) {
      const found = currentLive();
      if (found) end(found, code, reason);
    },
    closeSilent() {
      closeLate();
      const found = currentLive();
      if (!found) return undefined;
      const due = found.state.heard + SILENT_MS;
      if (due > need.wall()) return due;
      end(found, CLOSE.silent, "nothing heard for three heartbeats");
      return undefined;
    },
  };
}

/** Of a frame as it waits, in bytes; of text at least so many. */
function sizeOf(data: string | ArrayBuffer): number {
  return typeof data === "string" ? data.length : data.byteLength;
}
