/**
 * The Office: one object a person of the team, with the queue and the agent's socket (SPEC: office.md). A thin
 * shell: it takes frames, letters and calls, hands them to functions, and sends what follows.
 */
import { DurableObject } from "cloudflare:workers";
import type { AppendEvent, PromptFormat } from "../../src/shared/wire/context/http.ts";
import type {
  AddItem,
  ItemAnswer,
  PatchItem,
  PausePerson,
  PersonAnswer,
  StatusAnswer,
} from "../../src/shared/wire/office.ts";
import { openAlarms } from "../kit/alarms.ts";
import { type Db, openDb, type RowCounts } from "../kit/db.ts";
import { migrate, openMade } from "../kit/migrations.ts";
import { type Letter, OUTBOX_ALARM, openOutbox, takeIn } from "../kit/outbox.ts";
import { faultOf, notFound, type Result, settle } from "../kit/result.ts";
import { boardOf, officeOf, roomOf } from "../objects.ts";
import { type Clock, openClock } from "../room/ids.ts";
import { CALLS } from "./calls.ts";
import { openSockets } from "./connect.ts";
import type { Connection, Desk, Look } from "./desk.ts";
import { houseConnection } from "./feed/house.ts";
import { hearAll } from "./feed/part.ts";
import type { Address, Identity, OfficeLetters } from "./letters.ts";
import { openOffering } from "./queue/offering.ts";
import * as people from "./queue/people.ts";
import { tellStatus } from "./queue/status.ts";
import { OFFICE_MIGRATIONS } from "./schema.ts";
import { makePerson, personRow, teamOf } from "./store/person.ts";
import { openRuns } from "./store/rounds.ts";
import { streamDue } from "./streams/drive.ts";
import { LIVE } from "./streams/live.ts";
import { openStreams } from "./streams/part.ts";
import { appendAs } from "./streams/rights.ts";
import { STREAM_HOOKS, STREAM_OUTSIDE } from "./streams/table.ts";
import { TAKERS } from "./takers.ts";
import { TIMED } from "./timed.ts";
import * as calls from "./tools/route.ts";
import { parts } from "./turns.ts";
import { connectionEnded } from "./welcome.ts";

/** How often a room is told that an agent is heard. */
const RUNS_HEARD_MS = 300_000;

export class Office extends DurableObject<Env> {
  /** Milliseconds as the world has them: tests put a clock of their own here. */
  wall: () => number = () => Date.now();
  readonly #db: Db;
  readonly #made: () => boolean;
  readonly #alarms;
  readonly #outbox;
  readonly #sockets;
  readonly #streams;
  #clock: Clock | undefined;
  readonly #offer;
  /** When the room was last told that the agent is heard, ms (TURN-5). */
  #runsHeard = 0;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#db = openDb(ctx.storage.sql);
    this.#made = openMade(this.#db);
    this.#alarms = openAlarms(ctx.storage, this.#db, (error) => this.#fault(error));
    this.#outbox = openOutbox({
      db: this.#db,
      alarms: this.#alarms,
      now: () => this.wall(),
      send: (target, letters) => this.#send(target as Address, letters),
      fault: (error) => this.#fault(error),
    });
    this.#sockets = openSockets({
      ctx,
      wall: () => this.wall(),
      counts: () => this.#person().connection ?? undefined,
      work: (work, then, as) => this.#work(work, then, as),
      look: () => this.#look(),
      identify: (credential) => CALLS.identify(env, this.#person().workspace, credential),
      failed: (address) => ctx.waitUntil(env.AUTH_LIMITER.limit({ key: address })),
      mint: () => this.#now().mint("evt"),
      fault: (error) => this.#fault(error),
    });
    this.#streams = openStreams({
      ctx,
      db: this.#db,
      wall: () => this.wall(),
      alarm: (name, at) => this.#alarms.by(name, at),
      hooks: STREAM_HOOKS,
      outside: STREAM_OUTSIDE,
      beside: {
        work: (work) => this.#work(work),
        look: () => this.#look(),
        waitUntil: (done) => ctx.waitUntil(done),
        fault: (error) => this.#fault(error),
      },
    });
    this.#offer = openOffering({
      look: () => this.#look(),
      current: () => this.#current(),
      ask: (ask) => CALLS.offer(env, this.#person().workspace, ask),
      work: (work) => this.#work(work),
      alarm: (at) => this.#alarms.by("offer", at),
      fault: (error) => this.#fault(error),
    });
    if (this.#made()) {
      migrate(ctx.storage, this.#db, OFFICE_MIGRATIONS);
      this.#alarms.rearm();
    }
  }

  // ---- what comes ----------------------------------------------------------------------------------

  /** Letters from the room, the board and other offices, each taken once; whether all were. */
  take(source: Address, letters: Letter[]): boolean {
    const first = letters[0];
    // Only the board makes an office: an unknown person's stays without tables (OFF-2).
    if (!this.#made()) {
      if (source !== "board" || first?.kind !== "team") return true;
      migrate(this.ctx.storage, this.#db, OFFICE_MIGRATIONS);
      this.ctx.storage.transactionSync(() => makePerson(this.#db, first.body as OfficeLetters["team"]));
    }
    return this.#work((desk, whole) =>
      takeIn(
        this.#inbox((letter) => whole(() => takeLetter(desk, letter, source))),
        source,
        letters,
      ),
    );
  }

  /** The agent's upgrade; who it is its hello says (OFF-2). Or that of who follows a stream (STREAM-2). */
  override fetch(request: Request): Response {
    if (!this.#made()) return new Response(null, { status: 404 });
    const live = request.headers.get("bullpen-live");
    if (live !== null) return this.#streams.follow(live, this.#look());
    const { 0: client, 1: server } = new WebSocketPair();
    const { headers } = request;
    this.#sockets.accept(
      server,
      headers.get("bullpen-origin") ?? new URL(request.url).origin,
      headers.get("bullpen-address") ?? undefined,
    );
    return new Response(null, { status: 101, webSocket: client });
  }

  override async webSocketMessage(ws: WebSocket, data: string | ArrayBuffer): Promise<void> {
    if (this.#streams.memory.live.owns(ws)) return this.#streams.memory.live.message(ws, data);
    await this.#sockets.message(ws, data);
    this.#keepRuns();
  }

  override webSocketClose(ws: WebSocket, code: number, reason: string): void {
    try {
      // 1005, 1006 and 1015 are never sent; unanswered, the client would wait ten seconds and see 1006.
      ws.close(code === 1005 || code === 1006 || code === 1015 ? 1000 : code, reason);
    } catch {
      // Both sides are closed already.
    }
    if (!this.#streams.memory.live.owns(ws)) this.#sockets.closed(ws);
  }

  override webSocketError(ws: WebSocket): void {
    if (!this.#streams.memory.live.owns(ws)) this.#sockets.closed(ws);
  }

  override async alarm(): Promise<void> {
    if (!this.#made()) return;
    await this.#alarms.fire(this.wall(), async (name) => {
      if (name === OUTBOX_ALARM) return this.#outbox.drain();
      if (name === "silent") {
        const again = this.#sockets.closeSilent();
        if (again !== undefined) this.#alarms.by(name, again);
        return;
      }
      if (name === LIVE) {
        const again = this.#streams.memory.live.closeSlow();
        if (again !== undefined) this.#alarms.by(name, again);
        return;
      }
      const work = TIMED[name] ?? streamDue(name);
      if (work) this.#work(work);
    });
  }

  // ---- people (QUEUE-4) ----------------------------------------------------------------------------

  person(identity: Identity): Result<PersonAnswer> {
    return this.#call(identity, people.mayRead, (desk) => people.personAnswer(desk));
  }
  addItem(identity: Identity, asked: AddItem): Result<ItemAnswer> {
    return this.#call(identity, people.mayWork, (desk) => people.addItem(desk, identity, asked));
  }
  patchItem(identity: Identity, id: string, asked: PatchItem): Result<ItemAnswer> {
    return this.#call(identity, people.mayWork, (desk) => people.patchItem(desk, identity, id, asked));
  }
  pause(identity: Identity, asked: PausePerson): Result<StatusAnswer> {
    return this.#call(identity, people.mayWork, (desk) => people.pause(desk, identity, asked));
  }
  resume(identity: Identity): Result<StatusAnswer> {
    return this.#call(identity, people.mayWork, (desk) => people.resume(desk));
  }

  /** A call of the person's own agent, which runs elsewhere (CTX-8). */
  async agentCall(identity: Identity, asked: calls.AgentCall): Promise<Result<calls.AgentCalled>> {
    try {
      if (!this.#made()) notFound("person");
      const need = { work: <T>(work: (desk: Desk) => T) => this.#work(work), look: () => this.#look() };
      return { ok: true, value: await calls.agentCall(need, identity, asked) };
    } catch (error) {
      return faultOf(error, (e) => this.#fault(e));
    }
  }

  #call<T>(identity: Identity, may: (identity: Identity) => void, work: (desk: Desk) => T): Result<T> {
    return settle(
      () => {
        may(identity);
        if (!this.#made()) notFound("person");
        return this.#work(work);
      },
      (error) => this.#fault(error),
    );
  }

  // ---- streams (STREAM-1, STREAM-2) ----------------------------------------------------------------

  appendEvents(identity: Identity, item: string, events: AppendEvent[]): Result<{ offsets: number[] }> {
    return this.#call(
      identity,
      () => {},
      (desk) => ({ offsets: appendAs(desk, identity, item, events) }),
    );
  }
  readStream(identity: Identity, item: string, asked: { after: number; limit: number }): Result<string> {
    return this.#read(() => this.#streams.page(identity, this.#look(), item, asked));
  }
  history(identity: Identity, item: string, at?: number): Result<ReadableStream> {
    return this.#read(() => this.#streams.history(identity, this.#look(), item, at));
  }
  prompt(identity: Identity, item: string, format: PromptFormat, at?: number): Result<ReadableStream> {
    return this.#read(() => this.#streams.prompt(identity, this.#look(), item, format, at));
  }

  #read<T>(work: () => T): Result<T> {
    return settle(
      () => (this.#made() ? work() : notFound("stream")),
      (error) => this.#fault(error),
    );
  }

  /** Rows read and written since the object woke: for the tests of QUEUE-5. */
  rowCounts(): RowCounts {
    return { ...this.#db.counts };
  }

  // ---- inside --------------------------------------------------------------------------------------

  /**
   * One piece of work in one transaction. What it has to say to the agent leaves after the commit: `then` first,
   * with the answer, then what was told, then a close.
   */
  #work<T>(work: (desk: Desk, whole: Whole) => T, then?: (value: T) => void, as?: Connection): T {
    const said: object[] = [];
    const changed = new Set<string>();
    let closing: { code: number; reason: string } | undefined;
    const whole: Whole = (part) => {
      const before = { said: said.length, closing };
      try {
        part();
      } catch (error) {
        said.length = before.said;
        closing = before.closing;
        this.#streams.forget();
        throw error;
      }
    };
    const value = this.#streams.guarded(() =>
      this.ctx.storage.transactionSync(() => {
        const current = this.#current();
        const desk: Desk = {
          ...this.#desk(as ?? current, said, changed, (code, reason) => (closing = { code, reason })),
          apart: (part) => this.#apart(() => whole(part)),
        };
        const { connection } = personRow(this.#db);
        // A crash or an eviction ended it and told nobody.
        if (connection !== null && connection !== current?.id) connectionEnded(desk, connection);
        const made = work(desk, whole);
        parts.after(desk);
        // What its own agent is told it does at once, and that may lead to more.
        while (hearAll(desk, said)) parts.after(desk);
        tellStatus(desk, changed);
        return made;
      }),
    );
    this.#streams.committed(this.#person().handle);
    then?.(value);
    this.#sockets.send(said);
    if (closing) this.#sockets.close(closing.code, closing.reason);
    this.ctx.waitUntil(this.#outbox.drain());
    this.ctx.waitUntil(this.#offer());
    return value;
  }

  /** The agent's connection: its own socket, or that of the office with itself (CTX-7). */
  #current(): Connection | undefined {
    return this.#sockets.current() ?? houseConnection(personRow(this.#db));
  }

  #apart(part: () => void): boolean {
    try {
      this.ctx.storage.transactionSync(part);
      return true;
    } catch (error) {
      this.#fault(error);
      return false;
    }
  }

  #desk(
    connection: Connection | undefined,
    said: object[],
    changed: Set<string>,
    close: (code: number, reason: string) => void,
  ): Omit<Desk, "apart"> {
    const clock = this.#now();
    const row = personRow(this.#db);
    return {
      db: this.#db,
      clock,
      now: clock.now(),
      workspace: row.workspace,
      handle: row.handle,
      team: teamOf(row),
      version: row.team_version,
      connection,
      signing: { current: this.env.SIGNING_KEY, previous: this.env.SIGNING_KEY_PREVIOUS },
      toBoard: (kind, body) => this.#outbox.post("board", kind, body),
      toRoom: (kind, body) => this.#outbox.post("room", kind, body),
      toOffice: (handle, kind, body) => this.#outbox.post(`office/${handle}`, kind, body),
      alarm: (name, at) => this.#alarms.by(name, at),
      tell: (type, payload) => {
        const id = clock.mint("evt");
        if (connection) said.push({ id, type, payload });
        return id;
      },
      close,
      changed: (item) => void changed.add(item),
      streams: this.#streams.memory,
    };
  }

  #look(): Look & { removed: boolean; version: number } {
    const row = this.#person();
    return {
      db: this.#db,
      env: this.env,
      now: this.#now().now(),
      workspace: row.workspace,
      handle: row.handle,
      team: teamOf(row),
      removed: row.removed_at !== null,
      version: row.team_version,
    };
  }

  #now(): Clock {
    this.#clock ??= openClock(
      this.#db.one<{ at: number }>("SELECT at FROM history ORDER BY n DESC LIMIT 1")?.at ?? 0,
      () => this.wall(),
    );
    return this.#clock;
  }

  /** The room's runs of an agent that is heard go on (CHAT-2, TURN-5). */
  #keepRuns(): void {
    const now = this.wall();
    if (now - this.#runsHeard < RUNS_HEARD_MS || !this.#sockets.current()) return;
    this.#runsHeard = now;
    const runs = openRuns(this.#db);
    if (runs.length === 0) return;
    this.ctx.waitUntil(
      CALLS.runHeard(this.env, this.#person().workspace, runs).catch((error: unknown) => this.#fault(error)),
    );
  }

  #inbox(take: (letter: Letter) => void) {
    const { storage } = this.ctx;
    return { db: this.#db, storage, now: () => this.wall(), take, fault: (e: unknown) => this.#fault(e) };
  }

  async #send(target: Address, letters: Letter[]): Promise<boolean> {
    const { workspace, handle } = this.#person();
    const from: Address = `office/${handle}`;
    if (target === "board") return boardOf(this.env, workspace).take(from, letters);
    if (target === "room") return roomOf(this.env, workspace).take(from, letters);
    return officeOf(this.env, workspace, target.slice("office/".length)).take(from, letters);
  }

  #person() {
    return personRow(this.#db);
  }

  /** A fault of ours: logged with its kind, never with words, and never shown (OPS-3). */
  #fault(error: unknown): void {
    const { name, stack } = error instanceof Error ? error : { name: "unknown", stack: undefined };
    console.error(
      JSON.stringify({
        at: new Date().toISOString(),
        event: "fault",
        name,
        stack: stack?.split("\n").slice(1, 5),
      }),
    );
  }
}

/** Runs a part of a piece of work that may be undone alone: then nothing that it said leaves. */
type Whole = (part: () => void) => void;

function takeLetter(desk: Desk, letter: Letter, source: Address): void {
  const taker = TAKERS[letter.kind as keyof typeof TAKERS] as
    | ((desk: Desk, body: unknown, from: Address) => void)
    | undefined;
  taker?.(desk, letter.body, source);
}
