/** What arrives on a room's sockets, frame by frame, and what ends them (CONN). */
import { byteLength } from "../../../src/shared/rules/text.ts";
import { errorOf, type Refusal } from "../../../src/shared/wire/index.ts";
import type { Db } from "../../kit/db.ts";
import { faultOf, Refused, refuse } from "../../kit/result.ts";
import type { LiveChange } from "../../office/letters.ts";
import { isExpired, mustConnect, type TokenRow } from "../access/authenticate.ts";
import { sharesSpace } from "../deliver/frames.ts";
import type { Round } from "../deliver/viewer.ts";
import { harnessWent } from "../judge/watch.ts";
import { FRAME_BYTES, idOf, isRecord, MAX_BATCH, parseJson, parseSignal, typeOf } from "../parse.ts";
import { openTyping, takeAck, takeRead } from "../signals.ts";
import { isGone, participant } from "../store/participants.ts";
import { staysIn } from "../store/spaces.ts";
import type { Caller } from "../types.ts";
import { write, writeAsRoom } from "../write.ts";
import type { Effect, Ledger, Written } from "../writer.ts";
import type { Connection, Connections } from "./connections.ts";
import { greet, parseHello } from "./hello.ts";
import { tellWatchers, watchOffice } from "./watchers.ts";

export interface SocketsNeed {
  db: Db;
  connections: Connections;
  ledger(): Ledger;
  round(): Round;
  /** Milliseconds as the world has them. */
  wall(): number;
  /** Sends what follows a committed write. */
  settled(written: Written): void;
  /** Somebody begins to watch the office: the board tells what changes from now on. */
  watched(): void;
  fault: (error: unknown) => void;
}

export interface Sockets {
  accept(ws: WebSocket, caller: Caller): void;
  message(ws: WebSocket, data: string | ArrayBuffer): void;
  closed(ws: WebSocket): void;
  /** Takes an ack, a read mark or typing, from a socket or from HTTP. */
  signal(caller: Caller, frame: unknown): void;
  /** Tells those who watch the office what changed there (QUEUE-4); answers how many they are. */
  officeChanged(change: LiveChange): number;
  /** When somebody last typed in a space (LEAD-2). */
  typingAt(spaceId: string): number | undefined;
  apply(effect: Exclude<Effect, { kind: "alarm" }>): void;
  end(conn: Connection, code: number, reason: string): void;
}

export function openSockets(need: SocketsNeed): Sockets {
  const { db, connections } = need;
  const typing = openTyping();
  const say = (conn: Connection, frame: object) => connections.push(conn, JSON.stringify(frame));

  /** Looks the caller up anew for each frame: a token may have ended since (AUTH-3). */
  const callerOf = (conn: Connection): Caller | undefined => {
    const { tokenId, participantId, origin } = conn.state;
    const token = db.one<TokenRow>("SELECT * FROM tokens WHERE id = ?", tokenId);
    const who = participant(db, participantId);
    if (!token || !who || isGone(who) || isExpired(token, need.wall())) return undefined;
    return { participant: who, tokenId, scopes: JSON.parse(token.scopes) as Caller["scopes"], origin };
  };

  const end = (conn: Connection, code: number, reason: string) => {
    connections.close(conn, code, reason);
    gone(conn);
  };

  /** Tells those who share a space that a person came or went (SPACE-8). */
  const presence = (participantId: string, online: boolean) => {
    const frame = JSON.stringify({ v: 1, type: "presence", participant_id: participantId, online });
    for (const conn of connections.all()) {
      const { participantId: other, open, caughtUp } = conn.state;
      if (!open || !caughtUp || other === participantId || !other.startsWith("usr_")) continue;
      if (sharesSpace({ db }, other, participantId)) connections.push(conn, frame);
    }
  };

  const gone = (conn: Connection) => {
    const { participantId, open } = conn.state;
    if (!open || connections.of(participantId).length > 0) return;
    presence(participantId, false);
    if (participantId.startsWith("hrn_"))
      need.settled(writeAsRoom(need.ledger(), (w) => harnessWent(w, participantId)));
  };

  const helloFrom = (conn: Connection, frame: unknown, caller: Caller) => {
    const hello = parseHello(frame);
    const { welcome, cursor, written, batch } = greet(need.ledger(), caller, hello);
    const first = connections.of(caller.participant.id).length === 0;
    // What the hello itself appended reaches this connection with its replay, the others live.
    need.settled(written);
    connections.open(conn, cursor, batch);
    say(conn, welcome);
    connections.pump(need.round(), conn);
    if (first) presence(caller.participant.id, true);
  };

  /** One parsed frame, or an array of verbs that stand or fall together (BATCH-1). */
  const take = (conn: Connection, frame: unknown, caller: Caller) => {
    if (Array.isArray(frame)) {
      if (!conn.state.batch)
        refuse("malformed", 'Send one object a frame, or say "can": ["batch"] in the hello.');
      if (frame.length === 0 || frame.length > MAX_BATCH)
        refuse("invalid", `An array holds 1 to ${MAX_BATCH} events. Split it.`);
      writeFrom(conn, frame, caller);
      return;
    }
    const type = typeOf(frame);
    if ("verb" in type) return writeFrom(conn, [frame], caller);
    if (type.signal === "watch") {
      const watch = parseSignal("watch", isRecord(frame) ? frame : {});
      const on = "office" in watch && watch.office;
      watchOffice(connections, conn, caller, on);
      if (on) need.watched();
      return;
    }
    if (type.signal !== "synced") return signal(caller, frame);
    const synced = parseSignal("synced", isRecord(frame) ? frame : {});
    connections.synced(conn, "n" in synced ? synced.n : 0);
    connections.pump(need.round(), conn);
  };

  const writeFrom = (conn: Connection, frames: readonly unknown[], caller: Caller) => {
    const failedAt = { index: 0 };
    try {
      const written = write(need.ledger(), caller, frames, failedAt);
      for (const receipt of written.receipts) say(conn, receipt);
      need.settled(written);
    } catch (error) {
      const { error: refusal } = faultOf(error, need.fault);
      say(conn, errorOf(refusal, idOf(frames[failedAt.index])));
    }
  };

  const signal = (caller: Caller, frame: unknown) => {
    const type = typeOf(frame);
    if (!("signal" in type) || !isRecord(frame)) refuse("invalid", "This is no ack, read mark or typing.");
    mustConnect(caller);
    if (type.signal === "watch")
      refuse("invalid", "Watching is for a connection: send watch on the socket of /v1/connect.");
    const parsed = parseSignal(type.signal, frame);
    if (parsed.type === "ack") takeAck(db, caller, parsed);
    if (parsed.type === "read") {
      const seq = takeRead(db, caller, parsed);
      if (seq === undefined) return;
      const mark = JSON.stringify({ v: 1, type: "read", space_id: parsed.space_id, seq });
      for (const conn of connections.of(caller.participant.id)) connections.push(conn, mark);
    }
    if (parsed.type === "typing") {
      const who =
        isRecord(frame.actor) && typeof frame.actor.id === "string"
          ? typist(caller, frame.actor.id)
          : caller.participant.id;
      if (!typing.passes(db, caller, parsed, need.wall())) return;
      const text = JSON.stringify({ v: 1, type: "typing", space_id: parsed.space_id, participant_id: who });
      const here = new Set(staysIn(db, parsed.space_id).map((s) => s.participant_id));
      for (const conn of connections.all())
        if (conn.state.open && conn.state.caughtUp && here.has(conn.state.participantId))
          if (conn.state.participantId !== who && conn.state.participantId.startsWith("usr_"))
            connections.push(conn, text);
    }
  };

  /** A harness types as one of its agents, if that is what it says (ENV-5). */
  const typist = (caller: Caller, id: string): string =>
    participant(db, id)?.harness_id === caller.participant.id ? id : caller.participant.id;

  return {
    accept(ws, caller) {
      // One connection a harness: the newer one, made with a valid token, replaces the old (CONN-7).
      if (caller.participant.kind === "harness")
        for (const old of connections.all())
          if (old.state.participantId === caller.participant.id)
            end(old, 4409, "replaced by a newer connection");
      const { participant: who, tokenId, origin } = caller;
      connections.accept(ws, { participantId: who.id, tokenId, origin }, need.wall());
      connections.flush();
    },
    message(ws, data) {
      const conn = connections.get(ws);
      // What still arrives after we closed a connection changes nothing.
      if (!connections.all().includes(conn)) return;
      const caller = callerOf(conn);
      if (!caller) return end(conn, 4401, "the token was revoked or has expired");
      let frame: unknown;
      try {
        if (typeof data !== "string") refuse("malformed", "Frames are text. Send JSON in a text frame.");
        // A unit of UTF-16 is one to three bytes of UTF-8: most frames need no count.
        if (data.length > FRAME_BYTES || (data.length * 3 > FRAME_BYTES && byteLength(data) > FRAME_BYTES))
          refuse("too_large", "A frame is at most 1 MiB. Send less at once, or a file.");
        frame = parseJson(data);
        if (!conn.state.open) {
          helloFrom(conn, frame, caller);
          return;
        }
        take(conn, frame, caller);
      } catch (error) {
        const { error: refusal } = faultOf(error, need.fault);
        say(conn, errorOf(refusal, idOf(frame)));
        if (!conn.state.open && error instanceof Refused && isFatal(refusal))
          end(conn, 4400, "the first frame must be hello");
      }
    },
    closed(ws) {
      const conn = connections.get(ws);
      connections.forget(ws);
      gone(conn);
    },
    signal,
    officeChanged(change) {
      const told = tellWatchers(connections, db, change);
      connections.flush();
      return told;
    },
    typingAt: (spaceId) => typing.at(spaceId),
    apply(effect) {
      for (const conn of connections.all()) {
        if (effect.kind === "close" && conn.state.participantId === effect.participantId)
          end(conn, effect.code, effect.reason);
        if (effect.kind === "close-token" && conn.state.tokenId === effect.tokenId)
          end(conn, 4401, "the token was revoked");
      }
    },
    end,
  };
}

/** Before hello, everything that is no hello ends the connection; a hello with a mistake may be said again. */
function isFatal(refusal: Refusal): boolean {
  return refusal.code === "malformed" || refusal.code === "too_large";
}
