/**
 * The Board: one object a workspace, with what a team shares (SPEC: office.md). A thin shell: it takes letters
 * and calls, hands them to functions, and sends what follows.
 */
import { DurableObject } from "cloudflare:workers";
import type { AgentPayload } from "../../../src/shared/wire/agent/index.ts";
import type { Refusal } from "../../../src/shared/wire/errors.ts";
import type * as wire from "../../../src/shared/wire/office.ts";
import { type Team, team as teamSchema } from "../../../src/shared/wire/team.ts";
import type { WorkEventGiven } from "../../../src/shared/wire/work.ts";
import { openAlarms } from "../../kit/alarms.ts";
import { type Db, openDb } from "../../kit/db.ts";
import { migrate, openMade } from "../../kit/migrations.ts";
import { type Letter, OUTBOX_ALARM, openOutbox, takeIn } from "../../kit/outbox.ts";
import { faultOf, type Result } from "../../kit/result.ts";
import { type Clock, openClock } from "../../room/ids.ts";
import type {
  Address,
  AskAnswer,
  AskAsk,
  BoardLetters,
  Found,
  Identity,
  LiveChange,
  OfferAnswer,
  OfferAsk,
} from "../letters.ts";
import { CALLS } from "./calls.ts";
import type { Fetch } from "./host/api.ts";
import { type CiLog, jobAsked, keptLog, readLog } from "./host/ci-log.ts";
import { type Delivery, takeDelivery } from "./host/deliveries.ts";
import { openHost } from "./host/host.ts";
import { TOKEN, wantWaiting } from "./host/wants.ts";
import type { BoardLedger } from "./ledger.ts";
import { openLive } from "./live.ts";
import { offer, unreadFor } from "./offer/offer.ts";
import { mustAdminister, mustOwn } from "./rights.ts";
import { BOARD_MIGRATIONS } from "./schema.ts";
import { TAKERS } from "./takers.ts";
import { ask } from "./team/asks.ts";
import * as config from "./team/config.ts";
import { pauseSubscription, resumeSubscription } from "./team/holds.ts";
import { itemsOfOthers, knows, people, roster } from "./team/people.ts";
import * as secrets from "./team/secrets.ts";
import * as reads from "./tickets/read.ts";
import { ticketUsage } from "./tickets/used.ts";
import * as writes from "./tickets/write.ts";
import { TIMED } from "./timed.ts";
import { HOST_ALARM } from "./work/derive.ts";
import { find } from "./work/find.ts";
import { workEvent } from "./work/given.ts";
import * as work from "./work/reads.ts";
import { traceFor, workEvents } from "./work/trace.ts";

/** The longest that a merge's offer waits for what the code host says of it (WORK-5). */
const HOST_WAIT_MS = 2500;
/** The config before there is one: nobody is in the team. */
const NO_TEAM = teamSchema.parse({});

/** Takes a transaction back and keeps what it answered. */
class Undone<T> extends Error {
  answer: Result<T> | undefined;
}

export class Board extends DurableObject<Env> {
  /** Milliseconds as the world has them: tests put a clock of their own here. */
  wall: () => number = () => Date.now();
  /** How the code host is reached: tests put a host of their own here. */
  hostFetch: Fetch = (url, init) => fetch(url, init);
  readonly #db: Db;
  readonly #made: () => boolean;
  readonly #alarms;
  readonly #outbox;
  readonly #live = openLive((change) => CALLS.live(this.env, this.#workspace(), change));
  readonly #host = openHost({
    work: (work) => this.#work(work),
    api: () => this.#hostApi(),
    fetch: (url, init) => this.hostFetch(url, init),
    now: () => this.wall(),
    secrets: () => this.everySecret(),
    fault: (error) => this.#fault(error),
  });
  #clock: Clock | undefined;
  /** The config as it was parsed last: a cache of its row. */
  #team: { version: number; team: Team } | undefined;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#db = openDb(ctx.storage.sql);
    this.#made = openMade(this.#db);
    this.#alarms = openAlarms(ctx.storage, this.#db, (error) => this.#fault(error));
    this.#outbox = openOutbox({
      db: this.#db,
      alarms: this.#alarms,
      now: () => this.wall(),
      send: (target, letters) => CALLS.deliver(this.env, this.#workspace(), target as Address, letters),
      fault: (error) => this.#fault(error),
    });
    if (this.#made()) {
      migrate(ctx.storage, this.#db, BOARD_MIGRATIONS);
      this.#alarms.rearm();
    }
  }

  // ---- the team ------------------------------------------------------------------------------------

  /** Puts a new config (TEAM-1). The first makes the board. */
  async putTeam(by: Identity, asked: config.TeamDocument): Promise<Result<wire.TeamAnswer>> {
    try {
      mustAdminister(by);
      const { team, names } = config.readTeam(asked);
      config.mustKnow(asked, await CALLS.known(this.env, asked.workspace, names));
      // What was read before that wait is nothing that this rests on: the version is looked at now.
      const put = this.#do((ledger) => config.storeTeam(ledger, by, team, asked.ifMatch), asked.workspace);
      // A token for somebody new may be asked for at once: their agent is made by then, if the room is in reach.
      if (put.ok) await this.#outbox.drain();
      return put;
    } catch (error) {
      return this.#refused(error);
    }
  }

  getTeam(by: Identity): Result<wire.TeamAnswer> {
    return this.#do((ledger) => config.getTeam(ledger, by));
  }

  /** Whether a handle is or was somebody's (OFF-2): asking makes nothing. */
  knows(handle: string): boolean {
    return this.#made() && knows(this.#db, handle);
  }

  people(by: Identity): Result<{ items: wire.PersonItem[] }> {
    return this.#do((ledger) => people(ledger, by));
  }

  /** The team as its agents see it (ITEM-3). */
  roster(_handle: string): Result<AgentPayload<"roster_result">> {
    return this.#do(roster);
  }

  /** Which of these items are in somebody else's office (ITEM-4). */
  itemsOfOthers(handle: string, ids: string[]): string[] {
    return this.#made() ? this.#work((ledger) => itemsOfOthers(ledger, handle, ids)) : [];
  }

  /** Whether an item still stands, and what it is offered with (OFFER-2, OFFER-4). */
  async offer(asked: OfferAsk): Promise<Result<OfferAnswer>> {
    const unread = this.#do((ledger) => unreadFor(ledger, asked));
    // What is read meanwhile may change everything: the answer is made afterwards, of what then stands.
    if (unread.ok) await this.#host.soon(unread.value, HOST_WAIT_MS);
    const all = this.everySecret();
    return this.#do((ledger) => offer(ledger, asked, all));
  }

  /** Whom a question is for; it is on its way when this answers (ITEM-2). */
  ask(asked: AskAsk): Result<AskAnswer> {
    return this.#do((ledger) => ask(ledger, asked));
  }

  pauseSubscription(by: Identity, name: string, asked: wire.PausePerson): Result<wire.SubscriptionAnswer> {
    return this.#do((ledger) => pauseSubscription(ledger, by, name, asked));
  }

  resumeSubscription(by: Identity, name: string): Result<wire.SubscriptionAnswer> {
    return this.#do((ledger) => resumeSubscription(ledger, by, name));
  }

  // ---- secrets (SECRET-1) --------------------------------------------------------------------------

  /** An owner may put GitHub's secrets before there is a team. */
  putSecret(by: Identity, name: string, value: string): Result<null> {
    return this.#do((ledger) => {
      mustOwn(by);
      secrets.putSecret(ledger, this.#box(), by, name, value);
      if (name === TOKEN) wantWaiting(ledger);
      return null;
    }, this.ctx.id.name);
  }

  /** A secret's values, the newest first: for those inside the deployment who use it. */
  secretValues(name: string): string[] {
    return this.#made() ? secrets.secretValues(this.#db, this.#box(), name) : [];
  }

  /** Every value that logs are masked of (WORK-5). */
  everySecret(): string[] {
    return this.#made() ? secrets.everySecret(this.#db, this.#box()) : [];
  }

  // ---- tickets (WORK-3) ----------------------------------------------------------------------------

  tickets(by: Identity, asked: wire.TicketsQuery): Result<{ items: wire.TicketItem[]; next?: string }> {
    return this.#do((ledger) => reads.tickets(ledger, by, asked));
  }

  ticket(by: Identity, key: string): Result<wire.TicketAnswer> {
    return this.#do((ledger) => reads.ticket(ledger, by, key));
  }

  createTicket(by: Identity, asked: wire.CreateTicket): Result<wire.TicketAnswer> {
    return this.#do((ledger) => writes.createTicket(ledger, by, asked));
  }

  patchTicket(by: Identity, key: string, asked: wire.PatchTicket): Result<wire.TicketAnswer> {
    return this.#do((ledger) => writes.patchTicket(ledger, by, key, asked));
  }

  commentTicket(by: Identity, key: string, asked: wire.CommentTicket): Result<wire.TicketComment> {
    return this.#do((ledger) => writes.commentTicket(ledger, by, key, asked));
  }

  /** What a ticket's work used (USE-2). */
  ticketUsage(key: string): Result<AgentPayload<"ticket_usage_result">> {
    return this.#do((ledger) => ticketUsage(ledger, key));
  }

  // ---- the work (WORK, PIPE) -----------------------------------------------------------------------

  /** An event of another tool, with a hook's token (WORK-4). */
  workEvent(by: Identity, given: WorkEventGiven): Result<wire.EventTaken> {
    return this.#do((ledger) => workEvent(ledger, by, given));
  }

  workEvents(
    by: Identity,
    asked: wire.WorkEventsQuery,
  ): Result<{ items: wire.WorkEventItem[]; next?: string }> {
    return this.#do((ledger) => workEvents(ledger, by, asked));
  }

  /** A verified delivery of a webhook, taken once (WORK-2). */
  hooked(delivery: Delivery): Result<{ taken: boolean; events: string[] }> {
    return this.#do((ledger) => takeDelivery(ledger, delivery));
  }

  /** An event and what was decided of it (PIPE-1). `trace` is a name that the platform keeps for itself. */
  traceOf(by: Identity, eventId: string): Result<wire.TraceAnswer> {
    return this.#do((ledger) => traceFor(ledger, by, eventId));
  }

  /** What a target names (CHAT-4). */
  find(handle: string, target: string): Result<Found> {
    return this.#do((ledger) => find(ledger, handle, target));
  }

  ticketPrs(asked: AgentPayload<"ticket_prs">): Result<AgentPayload<"ticket_prs_result">> {
    return this.#do((ledger) => work.ticketPrs(ledger, asked));
  }

  prList(asked: AgentPayload<"pr_list">): Result<AgentPayload<"pr_list_result">> {
    return this.#do((ledger) => work.prList(ledger, asked));
  }

  currentWork(handle: string): Result<AgentPayload<"current_work_result">> {
    return this.#do((ledger) => work.currentWork(ledger, handle));
  }

  /** The end of a failed check's log, read at the code host (WORK-5). */
  async ciLog(asked: AgentPayload<"ci_log">): Promise<Result<CiLog>> {
    const all = this.everySecret();
    const job = this.#do((ledger) => jobAsked(ledger, asked.url));
    if (!job.ok) return job;
    const kept = this.#do((ledger) => keptLog(ledger, job.value, asked.lines, all));
    if (!kept.ok) return kept;
    if (kept.value) return { ok: true, value: kept.value };
    try {
      const value = await readLog(this.#host.open(), job.value, asked.lines, all, (work) => this.#work(work));
      return { ok: true, value };
    } catch (error) {
      return this.#refused(error);
    }
  }

  // ---- letters and time ----------------------------------------------------------------------------

  /** Letters from the room and the offices, each taken once. */
  take(source: Address, letters: Letter[]): boolean {
    if (!this.#made()) return true;
    return this.#work((ledger) => {
      const take = (letter: Letter) => {
        const taker = TAKERS[letter.kind as keyof BoardLetters] as
          | ((l: BoardLedger, body: unknown, from: Address) => void)
          | undefined;
        taker?.(ledger, letter.body, source);
      };
      const { storage } = this.ctx;
      const fault = (error: unknown) => this.#fault(error);
      return takeIn({ db: this.#db, storage, now: () => this.wall(), take, fault }, source, letters);
    });
  }

  override async alarm(): Promise<void> {
    if (!this.#made()) return;
    await this.#alarms.fire(this.wall(), async (name) => {
      if (name === OUTBOX_ALARM) return this.#outbox.drain();
      // Not awaited: a host that is slow must not hold up what else is due.
      if (name === HOST_ALARM) return this.ctx.waitUntil(this.#host.run());
      const work = TIMED[name];
      if (work) this.#work(work);
    });
  }

  /** Somebody begins to watch: from now on the room is told what changes (QUEUE-4). */
  watched(): void {
    this.#live.watched();
  }

  // ---- inside --------------------------------------------------------------------------------------

  /**
   * One piece of work of a caller's, with what it answers or why it is refused.
   * @param workspace with it the board is made, if it is not there yet
   */
  #do<T>(work: (ledger: BoardLedger) => T, workspace?: string): Result<T> {
    try {
      if (this.#made()) return { ok: true, value: this.#work(work) };
      if (workspace !== undefined)
        return {
          ok: true,
          value: this.#work((ledger) => {
            this.#db.run("INSERT INTO board (one, workspace) VALUES (1, ?)", workspace);
            return work({ ...ledger, workspace });
          }, true),
        };
      return this.#asIf(work);
    } catch (error) {
      return this.#refused(error);
    }
  }

  /** The answer of a board that was never made: its tables are there for as long as it takes to look (AUTH-4). */
  #asIf<T>(work: (ledger: BoardLedger) => T): Result<T> {
    const undo = new Undone<T>();
    try {
      this.ctx.storage.transactionSync(() => {
        migrate(this.ctx.storage, this.#db, BOARD_MIGRATIONS);
        undo.answer = { ok: true, value: work(this.#ledger([])) };
        throw undo;
      });
    } catch (error) {
      if (error !== undo) throw error;
    }
    return undo.answer as Result<T>;
  }

  #refused(error: unknown): { ok: false; error: Refusal } {
    return faultOf(error, (fault) => this.#fault(fault));
  }

  /** One piece of work in one transaction; what it wrote letters about leaves after the commit. */
  #work<T>(work: (ledger: BoardLedger) => T, make = false): T {
    const changes: LiveChange[] = [];
    const answer = this.ctx.storage.transactionSync(() => {
      if (make) migrate(this.ctx.storage, this.#db, BOARD_MIGRATIONS);
      return work(this.#ledger(changes));
    });
    this.ctx.waitUntil(this.#outbox.drain());
    if (changes.length > 0)
      this.ctx.waitUntil(this.#live.tell(changes).catch((error: unknown) => this.#fault(error)));
    return answer;
  }

  /** @param changes where the names of what changes are noted */
  #ledger(changes: LiveChange[]): BoardLedger {
    this.#clock ??= openClock(
      this.#db.one<{ at: number }>("SELECT taken_at AS at FROM events ORDER BY n DESC LIMIT 1")?.at ?? 0,
      () => this.wall(),
    );
    const { version, team } = this.#standing();
    return {
      db: this.#db,
      clock: this.#clock,
      now: this.#clock.now(),
      workspace: this.#workspace(),
      team,
      version,
      toOffice: (handle, kind, body) => this.#outbox.post(`office/${handle}`, kind, body),
      toRoom: (kind, body) => this.#outbox.post("room", kind, body),
      alarm: (name, at) => this.#alarms.by(name, at),
      changed: (what) => void changes.push(what),
      secret: (name) => secrets.secretValues(this.#db, this.#box(), name),
      hostApi: this.#hostApi(),
    };
  }

  /** The config as it stands. A version is one config for ever, so that it is read once. */
  #standing(): { version: number; team: Team } {
    const version = this.#db.one<{ v: number | null }>("SELECT max(version) AS v FROM teams")?.v ?? 0;
    if (version === 0) return { version, team: NO_TEAM };
    if (this.#team?.version !== version) {
      const row = this.#db.one<{ team: string }>("SELECT team FROM teams WHERE version = ?", version);
      this.#team = { version, team: teamSchema.parse(JSON.parse(row?.team ?? "{}")) };
    }
    return this.#team;
  }

  #hostApi(): string {
    return this.env.GITHUB_API_URL || "https://api.github.com";
  }

  #workspace(): string {
    return this.#db.one<{ workspace: string }>("SELECT workspace FROM board")?.workspace ?? "";
  }

  #box(): secrets.SecretBox | undefined {
    return secrets.openBox(this.env.SECRETS_KEY, this.#workspace());
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
