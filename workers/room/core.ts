/**
 * What the Room's calls stand on: its rows, its clock, who calls, and what follows a committed write. The class
 * in room.ts is the surface that other objects see.
 */
import { type Alarms, openAlarms } from "../kit/alarms.ts";
import { type Db, openDb } from "../kit/db.ts";
import { type GroupCommit, openGroupCommit } from "../kit/group-commit.ts";
import { migrate, openMade } from "../kit/migrations.ts";
import { type Letter, OUTBOX_ALARM, openOutbox } from "../kit/outbox.ts";
import { faultOf, type Result } from "../kit/result.ts";
import { authenticate, mustConnect, mustSpeak, unauthenticated } from "./access/authenticate.ts";
import { type Connections, openConnections } from "./connect/connections.ts";
import { openSockets, type Sockets } from "./connect/sockets.ts";
import { openRound, type Round, viewerOf } from "./deliver/viewer.ts";
import { type Clock, openClock } from "./ids.ts";
import { passOnOverdue } from "./judge/pickups.ts";
import { handUnclaimed } from "./judge/stillness.ts";
import { endOverdueRuns } from "./judge/watch.ts";
import { openLimits } from "./limits.ts";
import { idOf } from "./parse.ts";
import { type ReadAnswer, type ReadArgs, type ReadName, read } from "./reads/index.ts";
import { ROOM_MIGRATIONS } from "./schema.ts";
import { workspaceOf } from "./store/participants.ts";
import type { Caller, Credential } from "./types.ts";
import { sweepBucket, urlTtlS } from "./uploads.ts";
import { expireAsks } from "./verbs/settle.ts";
import { openWaiting, type Waiting } from "./waiting.ts";
import { writeAsRoom } from "./write.ts";
import type { Ledger, Writer, Written } from "./writer.ts";

export interface CoreNeeds {
  ctx: DurableObjectState;
  /** Looked at anew at each use: keys are rotated. */
  env: () => Env;
  /** Milliseconds as the world has them. */
  wall: () => number;
  /** Hands letters to another object of the workspace. */
  send: (workspaceId: string, target: string, letters: Letter[]) => Promise<boolean>;
  /** Tells the board that somebody begins to watch it (QUEUE-4). */
  watched: (workspaceId: string) => Promise<void>;
}

export interface Core {
  readonly db: Db;
  readonly alarms: Alarms;
  readonly connections: Connections;
  readonly sockets: Sockets;
  readonly commits: GroupCommit;
  readonly waiting: Waiting;
  /** Whether the workspace was ever made (AUTH-4). */
  made(): boolean;
  /** Makes the tables, or brings them up to date. */
  migrate(): void;
  ledger(): Ledger;
  round(): Round;
  /** Forgets how late it is by the log: an import has just brought one (ENV-1). */
  forgetClock(): void;
  caller(credential: Credential): Caller;
  /** A caller who may speak in rooms. */
  speaker(credential: Credential): Caller;
  /** One who may also say hello, and mark what was read. */
  connected(credential: Credential): Caller;
  read<N extends ReadName>(caller: Caller, name: N, args: ReadArgs<N>): ReadAnswer<N>;
  /** Answers with what the work made, or with its refusal, which names the frame that it was about (ERR-1). */
  settle<T>(work: () => T, frame?: unknown): Result<T>;
  /** What follows a committed write: effects, deliveries, and those who wait (NEW-1, CONN-5). */
  settled(written: Written): void;
  flush(): void;
  armSockets(): void;
  /** What is due by time. */
  alarm(): Promise<void>;
  fault(error: unknown): void;
}

export function openCore({ ctx, env, wall, send, watched }: CoreNeeds): Core {
  const db = openDb(ctx.storage.sql);
  const made = openMade(db);
  const alarms = openAlarms(ctx.storage, db, fault);
  const connections = openConnections(ctx, db, fault);
  const limits = openLimits();
  const waiting = openWaiting();
  let known: Clock | undefined;
  /** Whether letters were written that nobody has sent yet; after a restart the alarm knows. */
  let letters = false;
  const outbox = openOutbox({
    db,
    alarms,
    now: wall,
    send: (target, batch) => send(workspaceOf(db).id, target, batch),
    fault,
  });
  const sockets = openSockets({
    db,
    connections,
    ledger,
    round,
    wall,
    settled,
    watched: () => ctx.waitUntil(watched(workspaceOf(db).id).catch(fault)),
    fault,
  });
  const commits = openGroupCommit({
    written: () => db.counts.written,
    durable: () => ctx.storage.sync(),
    flush,
    hold: (until) => ctx.waitUntil(until),
  });

  function clock(): Clock {
    known ??= openClock(
      db.one<{ at: number }>("SELECT at FROM log ORDER BY seq DESC LIMIT 1")?.at ?? 0,
      wall,
    );
    return known;
  }

  const post: Ledger["post"] = (target, kind, body) => {
    letters = true;
    outbox.post(target, kind, body);
  };

  function ledger(): Ledger {
    // Where no workspace was made there is no log to look at, and no token is of it (AUTH-4).
    if (!made()) unauthenticated();
    return { storage: ctx.storage, db, clock: clock(), limits, post };
  }

  function round(): Round {
    const workspace = workspaceOf(db);
    const { SIGNING_KEY, SIGNING_KEY_PREVIOUS, ATTACHMENT_URL_TTL_S } = env();
    const keys = { current: SIGNING_KEY, previous: SIGNING_KEY_PREVIOUS };
    const ttl = urlTtlS(workspace.settings.attachments.url_ttl_s, ATTACHMENT_URL_TTL_S);
    return openRound(db, ledger().clock.now(), workspace.id, keys, ttl);
  }

  function settled({ rows, effects }: Written): void {
    for (const effect of effects) {
      if (effect.kind === "alarm") alarms.by(effect.name, effect.at);
      else sockets.apply(effect);
    }
    if (rows.length > 0) {
      if (rows.some((r) => /^(participant|agent|settings|space)\./.test(r.type))) connections.forgetViewers();
      connections.deliver(round(), rows);
    }
    // Inside a group everything leaves at its end, batched (BATCH-2).
    if (!commits.running) flush();
    if (rows.length > 0) waiting.wake();
  }

  function flush(): void {
    connections.flush();
    armSockets();
    if (!letters) return;
    letters = false;
    ctx.waitUntil(outbox.drain());
  }

  function armSockets(): void {
    if (!connections.dueChanged()) return;
    const { next, late } = connections.overdue(wall());
    const due = late.length > 0 ? wall() : next;
    if (due !== undefined) alarms.by("sockets", due);
  }

  function caller(credential: Credential): Caller {
    if (!made()) unauthenticated();
    return authenticate(db, credential, wall());
  }

  const online = (id: string): boolean => connections.of(id).length > 0;
  /** What the room does of its own accord, by the name of its alarm. */
  const timed: Record<string, (w: Writer) => void> = {
    runs: (w) => endOverdueRuns(w),
    pickups: (w) => passOnOverdue(w, online),
    approvals: (w) => expireAsks(w),
    still: (w) => handUnclaimed(w, (spaceId) => sockets.typingAt(spaceId)),
  };

  /** Closes who was too slow to say hello or to read (CONN-2, CONN-10). */
  function closeOverdue(): void {
    const now = wall();
    const { late, next } = connections.overdue(now);
    for (const conn of late)
      sockets.end(conn, 4408, conn.state.open ? "too slow to read" : "said no hello in time");
    if (next !== undefined) alarms.by("sockets", Math.max(next, now + 1));
    connections.flush();
  }

  return {
    db,
    alarms,
    connections,
    sockets,
    commits,
    waiting,
    made,
    migrate: () => migrate(ctx.storage, db, ROOM_MIGRATIONS),
    ledger,
    round,
    forgetClock: () => {
      known = undefined;
    },
    caller,
    speaker(credential) {
      const found = caller(credential);
      mustSpeak(found);
      return found;
    },
    connected(credential) {
      const found = caller(credential);
      mustConnect(found);
      return found;
    },
    read(by, name, args) {
      const viewer = viewerOf(db, by.participant, by.tokenId, by.origin);
      return read({ db, ledger: ledger(), caller: by, viewer, round: round(), online }, name, args);
    },
    settle(work, frame) {
      try {
        return { ok: true, value: work() };
      } catch (error) {
        return { ...faultOf(error, fault), of: idOf(frame) };
      }
    },
    settled,
    flush,
    armSockets,
    async alarm() {
      if (!made()) return;
      await alarms.fire(wall(), async (name) => {
        if (name === "sockets") return closeOverdue();
        if (name === "bucket") return sweepBucket({ db, clock: ledger().clock, bucket: env().FILES, alarms });
        // Not awaited: an object that is slow to answer holds up nothing else that is due.
        if (name === OUTBOX_ALARM) return ctx.waitUntil(outbox.drain());
        const work = timed[name];
        if (work) settled(writeAsRoom(ledger(), work));
      });
    },
    fault,
  };
}

/** A fault of ours: logged with its kind, never with words, and never shown (ERR-1, OPS-3). */
function fault(error: unknown): void {
  const { name, stack } = error instanceof Error ? error : { name: "unknown", stack: undefined };
  const at = new Date().toISOString();
  console.error(JSON.stringify({ at, event: "fault", name, stack: stack?.split("\n").slice(1, 5) }));
}
