/**
 * The Board: one object a workspace, with what a team shares (SPEC: office.md). A thin shell: it takes letters
 * and calls, hands them to functions, and sends what follows.
 */
import { DurableObject } from "cloudflare:workers";
import { team as teamSchema } from "../../../src/shared/wire/team.ts";
import { openAlarms } from "../../kit/alarms.ts";
import { type Db, openDb } from "../../kit/db.ts";
import { isMade, migrate } from "../../kit/migrations.ts";
import { type Letter, OUTBOX_ALARM, openOutbox, takeIn } from "../../kit/outbox.ts";
import { officeOf, roomOf } from "../../objects.ts";
import { type Clock, openClock } from "../../room/ids.ts";
import type { Address, BoardLetters } from "../letters.ts";
import type { BoardLedger } from "./ledger.ts";
import { BOARD_MIGRATIONS } from "./schema.ts";

/** What each kind of letter does, by the part of the board that it concerns. */
type Takers = {
  [K in keyof BoardLetters]?: (ledger: BoardLedger, body: BoardLetters[K], from: Address) => void;
};
const TAKERS: Takers = {};

export class Board extends DurableObject<Env> {
  /** Milliseconds as the world has them: tests put a clock of their own here. */
  wall: () => number = () => Date.now();
  readonly #db: Db;
  readonly #alarms;
  readonly #outbox;
  #clock: Clock | undefined;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#db = openDb(ctx.storage.sql);
    this.#alarms = openAlarms(ctx.storage, this.#db);
    this.#outbox = openOutbox({
      db: this.#db,
      alarms: this.#alarms,
      now: () => this.wall(),
      send: (target, letters) => this.#send(target as Address, letters),
      fault: (error) => this.#fault(error),
    });
    if (isMade(this.#db)) {
      migrate(ctx.storage, this.#db, BOARD_MIGRATIONS);
      this.#alarms.rearm();
    }
  }

  /** Letters from the room and the offices, each taken once. */
  take(source: Address, letters: Letter[]): void {
    if (!isMade(this.#db)) return;
    this.#work((ledger) =>
      takeIn(this.#db, source, letters, (letter) => {
        const taker = TAKERS[letter.kind as keyof BoardLetters] as
          | ((l: BoardLedger, body: unknown, from: Address) => void)
          | undefined;
        taker?.(ledger, letter.body, source);
      }),
    );
  }

  override async alarm(): Promise<void> {
    if (!isMade(this.#db)) return;
    await this.#alarms.fire(this.wall(), async (name) => {
      if (name === OUTBOX_ALARM) await this.#outbox.drain();
    });
  }

  /** One piece of work in one transaction; what it wrote letters about leaves after the commit. */
  #work<T>(work: (ledger: BoardLedger) => T): T {
    const answer = this.ctx.storage.transactionSync(() => work(this.#ledger()));
    this.ctx.waitUntil(this.#outbox.drain());
    return answer;
  }

  #ledger(): BoardLedger {
    this.#clock ??= openClock(
      this.#db.one<{ at: number }>("SELECT taken_at AS at FROM events ORDER BY n DESC LIMIT 1")?.at ?? 0,
      () => this.wall(),
    );
    const stands = this.#db.one<{ version: number; team: string }>(
      "SELECT version, team FROM teams ORDER BY version DESC LIMIT 1",
    );
    return {
      db: this.#db,
      clock: this.#clock,
      now: this.#clock.now(),
      workspace: this.#workspace(),
      team: stands ? JSON.parse(stands.team) : teamSchema.parse({}),
      version: stands?.version ?? 0,
      toOffice: (handle, kind, body) => this.#outbox.post(`office/${handle}`, kind, body),
      toRoom: (kind, body) => this.#outbox.post("room", kind, body),
      alarm: (name, at) => this.#alarms.by(name, at),
      changed: () => {},
    };
  }

  #workspace(): string {
    return this.#db.one<{ workspace: string }>("SELECT workspace FROM board")?.workspace ?? "";
  }

  async #send(target: Address, letters: Letter[]): Promise<void> {
    const workspace = this.#workspace();
    if (target === "room") return roomOf(this.env, workspace).take("board", letters);
    return officeOf(this.env, workspace, target.slice("office/".length)).take("board", letters);
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
