/**
 * The items of this agent, from offer to hand-back (OFFER-1, OFFER-5, OFFER-7). What an earlier life left is
 * sent before anything new is accepted (OFF-8); one handler at a time an item, whatever the office offers.
 */

import { type Clock, within } from "../sdk/clock.ts";
import type { AgentPayload, AnyFrame } from "../shared/wire/agent/index.ts";
import { asError, OfficeError } from "./errors.ts";
import { fitted, frameId, readPayload } from "./frames.ts";
import {
  type Ended,
  type HandBack,
  type Item,
  type ItemResult,
  LIMITS,
  makeItem,
  type Offer,
} from "./item.ts";
import type { Ledger } from "./ledger.ts";
import type { Link } from "./link.ts";
import type { Added, Outbox } from "./outbox.ts";
import type { Reports } from "./reports.ts";
import type { Requests } from "./requests.ts";
import type { Ending, OutboxEntry } from "./store.ts";

export type OnItem = (item: Item) => ItemResult | Promise<ItemResult>;
/** Looks at an offer before it is taken: a reason is a decline. */
export type OnOffer = (offer: Offer) => { decline: string } | void | Promise<{ decline: string } | void>;

export interface ItemsParts {
  handle: string;
  link: Link;
  ledger: Ledger;
  requests: Requests;
  outbox: Outbox;
  reports: Reports;
  clock: Clock;
  onItem: OnItem;
  onOffer: OnOffer | undefined;
  onError: (error: Error) => void;
  /** What the agent runs on, for `accept`. */
  runtime: () => { runtime: string; model: string };
}

interface Run {
  readonly id: string;
  /** The newest one: an offer that is out is sent anew when something joins it (PIPE-2). */
  offer: Offer;
  state: "accepting" | "running" | "ended" | "stopped";
  readonly controller: AbortController;
  /** The office has answered the ending. */
  acked: boolean;
  /** Resolves when the handler is done, or has been given up. */
  readonly gone: PromiseWithResolvers<void>;
  settled: boolean;
}

/** How long a handler that was told to end may take before the next item is accepted beside it. */
const GRACE_MS = 30_000;
const LOST_CONTEXT = "The agent was started anew and had lost what it knew of this round.";

export class Items {
  readonly #parts: ItemsParts;
  readonly #runs = new Map<string, Run>();
  /** Counts connections: what was begun on an earlier one is not gone on with. */
  #connection = 0;
  #closing = false;
  #stopped: OfficeError | undefined;

  constructor(parts: ItemsParts) {
    this.#parts = parts;
  }

  /** Ids of the items that heartbeats speak for: until the hand-back is acknowledged (OFF-6). */
  get active(): string[] {
    return [...this.#runs.values()]
      .filter(({ state, acked }) => state === "running" || (state === "ended" && !acked))
      .map(({ id }) => id);
  }

  /** A welcome: what the office counts as ours, and what it has taken back meanwhile. */
  async welcome(resume: readonly string[]): Promise<void> {
    this.#connection += 1;
    const { outbox } = this.#parts;
    for (const run of this.#runs.values()) {
      // Whether it was taken, and with what, is not known: it comes again, or stands in `resume`.
      if (run.state === "accepting") this.#forget(run);
      else if (run.state === "running" && !resume.includes(run.id))
        this.stopped(run.id, "The office has taken the item back while there was no connection.");
    }
    const lost = resume.filter((id) => {
      const run = this.#runs.get(id);
      const known = run && (run.state === "running" || (run.state === "ended" && !run.acked));
      return !known && !outbox.has(id, "handback") && !outbox.has(id, "fail");
    });
    // They come again whole, on a connection of their own (OFFER-5).
    await Promise.all(lost.map((id) => this.#handInterrupted(id, LOST_CONTEXT).written));
  }

  offline(): void {
    this.#connection += 1;
  }

  /** An offer; one that is not understood is declined by an error (OFF-4). */
  offered(frame: AnyFrame): void {
    const read = readPayload("offer", frame.payload);
    if (!read.ok) {
      const payload = { code: "invalid_message", message: `The offer is not understood: ${read.fault}.` };
      this.#parts.link.send({
        id: `re_${frame.id}`.slice(0, 200),
        replyTo: frame.id,
        type: "error",
        payload,
      });
      return;
    }
    if (this.#closing) return;
    const offer = read.payload;
    const { id } = offer.workItem;
    const there = this.#runs.get(id);
    if (there?.state === "accepting") {
      there.offer = offer;
      return;
    }
    if (there?.state === "running") this.stopped(id, "The office has offered the item anew.");
    const run = newRun(id, offer);
    // The item's earlier handler is waited for, so that two never work on one item.
    const before = there?.gone.promise;
    this.#runs.set(id, run);
    this.#take(run, before).catch((error: unknown) => {
      this.#forget(run);
      this.#parts.onError(asError(error));
    });
  }

  /** The office says that an item is not ours any more: a person has stopped or moved it (OFFER-7). */
  stopped(id: string, why: string): void {
    const run = this.#runs.get(id);
    if (run?.state !== "running") return;
    run.state = "stopped";
    run.controller.abort(new OfficeError("unknown_item", why));
    this.#giveUpLater(run);
  }

  /** An entry of the outbox is done. */
  done(entry: OutboxEntry, refusal: OfficeError | undefined): void {
    const isEnding = entry.type === "handback" || entry.type === "fail";
    if (isEnding && refusal && refusal.code !== "unknown_item") this.#refused(entry, refusal);
    if (!isInterrupted(entry) || this.#closing) return;
    // Nothing is offered any more on this connection (OFFER-5), whichever life wrote it down.
    if (!this.#parts.ledger.state.outbox.some(isInterrupted)) this.#parts.link.restart();
  }

  /** Hands back what runs, `interrupted`, once its handlers have ended or `timeoutMs` is over. */
  async close(timeoutMs: number): Promise<void> {
    const { clock, outbox } = this.#parts;
    this.#closing = true;
    const runs = [...this.#runs.values()].filter(({ state }) => state === "running");
    for (const run of runs) run.controller.abort(new OfficeError("closed", "The agent is leaving."));
    await within(clock, timeoutMs, Promise.all(runs.map(({ gone }) => gone.promise)));
    for (const run of runs) if (run.state === "running") await this.#interrupt(run);
    await within(clock, timeoutMs, outbox.idle());
  }

  /** Ends every handler: nothing that they say can be sent any more. */
  stop(error: OfficeError): void {
    this.#closing = true;
    this.#stopped = error;
    for (const { controller } of this.#runs.values()) controller.abort(error);
  }

  async #take(run: Run, before: Promise<void> | undefined): Promise<void> {
    const { outbox, reports, requests, onOffer, runtime } = this.#parts;
    const connection = this.#connection;
    const isOver = (): boolean =>
      connection !== this.#connection || this.#closing || this.#runs.get(run.id) !== run;
    await before;
    await outbox.settled(run.id);
    await reports.asked();
    await Promise.all(this.#windingDown(run));
    if (isOver()) return;
    const verdict = await onOffer?.(run.offer);
    if (isOver()) return;
    const workItemId = run.id;
    try {
      if (verdict) {
        const reason = fitted(verdict.decline, LIMITS.reason);
        await requests.ask("decline", { workItemId, reason }, { once: true });
        this.#forget(run);
        return;
      }
      await requests.ask("accept", { workItemId, ...runtime() }, { once: true });
    } catch (error) {
      this.#forget(run);
      // Withdrawn meanwhile, or the connection is gone and it comes again: neither is a fault (OFFER-1).
      const { code } = error instanceof OfficeError ? error : { code: undefined };
      // It may have been taken all the same: the next welcome says so.
      if (code === "timeout") this.#parts.link.drop("no answer to accept");
      if (code !== "closed" && code !== "unknown_item" && code !== "invalid") throw error;
      return;
    }
    // A welcome came in between: there the item was forgotten, and is handed back.
    if (this.#runs.get(run.id) !== run) return;
    run.state = "running";
    await this.#work(run);
  }

  async #work(run: Run): Promise<void> {
    const { handle, requests, outbox, onItem } = this.#parts;
    const { offer, controller } = run;
    const item = makeItem({
      offer,
      handle,
      signal: controller.signal,
      requests,
      outbox,
      end: (ended) => this.#end(run, ended),
      acknowledge: (text) => this.#acknowledge(run.id, text),
    });
    if (this.#closing) controller.abort(new OfficeError("closed", "The agent is leaving."));
    let ended: Ended | undefined;
    try {
      const result = await onItem(item);
      ended = this.#ending(run, (of) => item.ending(of), result);
    } catch (error) {
      if (run.state === "running" && !this.#closing)
        ended = {
          type: "fail",
          payload: {
            workItemId: run.id,
            reason: fitted(asError(error).message || "It failed.", LIMITS.reason),
          },
        };
    }
    if (ended) this.#end(run, ended).catch(() => {});
    else if (run.state === "running" && this.#closing) await this.#interrupt(run);
    run.settled = true;
    run.gone.resolve();
    if (run.state === "stopped" || run.acked) this.#forget(run);
  }

  /** What a handler's result says; nothing where the round has ended, or ends because the agent leaves. */
  #ending(run: Run, make: (result: HandBack) => Ended, result: ItemResult): Ended | undefined {
    if (run.state === "ended") return undefined;
    if (typeof result === "string") return make({ summary: result });
    if (result) return make(result);
    return run.state === "stopped" || this.#closing ? undefined : make({ summary: "", status: "silent" });
  }

  /** Writes the ending down; of a stopped item it only brings usage and a note (OFFER-7). */
  #end(run: Run, { type, payload }: Ended): Promise<void> {
    if (run.state === "ended")
      return Promise.reject(new OfficeError("invalid", "This round was handed back already."));
    // The item may be another agent's by now: what is written down here would end its round.
    if (this.#stopped) return Promise.reject(this.#stopped);
    if (run.state === "stopped") return this.#parts.outbox.add(type, payload, run.id).answered;
    run.state = "ended";
    return this.#send(run, this.#parts.outbox.add(type, payload, run.id, reportOf(type, payload))).answered;
  }

  #send(run: Run, added: Added): Added {
    const acked = (): void => {
      run.acked = true;
      if (run.settled) this.#forget(run);
      else this.#endLater(run);
    };
    added.answered.then(acked, acked);
    return added;
  }

  async #interrupt(run: Run): Promise<void> {
    if (run.state !== "running" || this.#stopped) return;
    run.state = "ended";
    await this.#send(run, this.#handInterrupted(run.id, "The agent left in the middle of this round."))
      .written;
  }

  #handInterrupted(workItemId: string, summary: string): Added {
    const payload = { workItemId, summary, links: [], status: "interrupted" as const };
    return this.#parts.outbox.add("handback", payload, workItemId);
  }

  /** An ending that the office does not take would leave the item without a holder: it is failed instead. */
  #refused(entry: OutboxEntry, refusal: OfficeError): void {
    const { outbox, onError } = this.#parts;
    const workItemId = entry.lane;
    const said = `The office refused the ${entry.type} of ${workItemId}: ${refusal.message} (${refusal.code})`;
    onError(new OfficeError(refusal.code, said));
    if (entry.type === "fail") return;
    // What was done is not lost by it, as far as there is room.
    const reason = fitted([said, entry.payload["summary"]].filter(Boolean).join("\n\n"), LIMITS.reason);
    const payload = { workItemId, reason };
    outbox.add("fail", payload, workItemId, reportOf("fail", payload)).written.catch(() => {});
  }

  async #acknowledge(workItemId: string, text: string): Promise<void> {
    const { ledger, reports } = this.#parts;
    await ledger.change(
      (state) => void state.endings.push({ workItemId, kind: "ack", text, frame: frameId() }),
    );
    reports.next();
  }

  /** Handlers that were told to end, and have not: two items at a time only where the office offers two. */
  #windingDown(but: Run): Promise<void>[] {
    return [...this.#runs.values()]
      .filter((run) => run !== but && !run.settled && (run.state === "stopped" || run.state === "ended"))
      .map(({ gone }) => gone.promise);
  }

  #endLater(run: Run): void {
    this.#parts.clock.setTimeout(() => {
      if (run.settled) return;
      run.controller.abort(new OfficeError("closed", "This round was handed back."));
      this.#giveUpLater(run);
    }, GRACE_MS);
  }

  #giveUpLater(run: Run): void {
    this.#parts.clock.setTimeout(() => run.gone.resolve(), GRACE_MS);
  }

  #forget(run: Run): void {
    run.gone.resolve();
    if (this.#runs.get(run.id) === run) this.#runs.delete(run.id);
  }
}

function isInterrupted({ type, payload }: OutboxEntry): boolean {
  return type === "handback" && payload["status"] === "interrupted";
}

function newRun(id: string, offer: Offer): Run {
  return {
    id,
    offer,
    state: "accepting",
    controller: new AbortController(),
    acked: false,
    gone: Promise.withResolvers(),
    settled: false,
  };
}

/** What the requester is told of an ending, if anything (REPORT-1). */
function reportOf(type: Ended["type"], payload: Ended["payload"]): Ending | undefined {
  const { workItemId } = payload;
  if (type === "fail" || !("status" in payload))
    return { workItemId, kind: "failed", text: (payload as AgentPayload<"fail">).reason, frame: frameId() };
  const { status, summary: text } = payload;
  // A round that waits is told too: who asked learns what for.
  if (status === "silent" || status === "interrupted") return undefined;
  return { workItemId, kind: status === "blocked" ? "blocked" : "result", text, frame: frameId() };
}
