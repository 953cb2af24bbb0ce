/**
 * The Office: one object a person of the team, with the queue and the agent's socket (SPEC: office.md). A thin
 * shell: it takes frames, letters and calls, hands them to functions, and sends what follows.
 */
import { DurableObject } from "cloudflare:workers";
import { openAlarms } from "../kit/alarms.ts";
import { type Db, openDb } from "../kit/db.ts";
import { isMade, migrate } from "../kit/migrations.ts";
import { type Letter, OUTBOX_ALARM, openOutbox, takeIn } from "../kit/outbox.ts";
import { boardOf, officeOf, roomOf } from "../objects.ts";
import type { Address } from "./letters.ts";
import { OFFICE_MIGRATIONS } from "./schema.ts";

export class Office extends DurableObject<Env> {
  /** Milliseconds as the world has them: tests put a clock of their own here. */
  wall: () => number = () => Date.now();
  readonly #db: Db;
  readonly #alarms;
  readonly #outbox;

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
      migrate(ctx.storage, this.#db, OFFICE_MIGRATIONS);
      this.#alarms.rearm();
    }
  }

  /** Letters from the room, the board and other offices, each taken once. */
  take(source: Address, letters: Letter[]): void {
    const first = letters[0];
    // Only the board makes an office: an unknown person's stays without tables (OFF-2).
    if (!isMade(this.#db) && !(source === "board" && first?.kind === "team")) return;
    migrate(this.ctx.storage, this.#db, OFFICE_MIGRATIONS);
    this.ctx.storage.transactionSync(() => takeIn(this.#db, source, letters, (_letter) => {}));
    this.ctx.waitUntil(this.#outbox.drain());
  }

  override async alarm(): Promise<void> {
    if (!isMade(this.#db)) return;
    await this.#alarms.fire(this.wall(), async (name) => {
      if (name === OUTBOX_ALARM) await this.#outbox.drain();
    });
  }

  async #send(target: Address, letters: Letter[]): Promise<void> {
    const { workspace, handle } = this.#person();
    const from: Address = `office/${handle}`;
    if (target === "board") return boardOf(this.env, workspace).take(from, letters);
    if (target === "room") return roomOf(this.env, workspace).take(from, letters);
    return officeOf(this.env, workspace, target.slice("office/".length)).take(from, letters);
  }

  #person(): { workspace: string; handle: string } {
    const row = this.#db.one<{ workspace: string; handle: string }>("SELECT workspace, handle FROM person");
    if (!row) throw new Error("this office has no person");
    return row;
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
