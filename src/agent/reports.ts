/**
 * Reports to who asked (REPORT-1 to REPORT-3). A report that is granted is noted before any other frame of ours
 * leaves, since the office takes the next frame for the sign that it was posted; one that comes again is posted
 * only where it does not stand yet, and confirmed.
 */

import { fullJitter } from "../sdk/backoff.ts";
import type { Clock } from "../sdk/clock.ts";
import { BullpenError } from "../sdk/errors.ts";
import type { BullpenHttp } from "../sdk/http.ts";
import type { AgentPayload } from "../shared/wire/agent/index.ts";
import { asError, OfficeError } from "./errors.ts";
import { type Frame, frameId } from "./frames.ts";
import type { Ledger } from "./ledger.ts";
import type { Link } from "./link.ts";
import type { Outbox } from "./outbox.ts";
import type { Requests } from "./requests.ts";
import { type AgentReport, isRoom, postInRoom, type Target, targetsOf } from "./rooms.ts";
import type { AgentState, Ending, ReportNote } from "./store.ts";

/** Posts a report in another chat than the rooms; `post` posts it where it is a room's. It must do it once an id. */
export type OnReport = (report: AgentReport, post: () => Promise<void>) => unknown;

/** So many ids of posted reports are remembered: far more than a connection's end can leave open. */
const REMEMBERED = 1000;
/** So often a request for a report is tried; then the office queues it by itself (REPORT-2). */
const ASK_ATTEMPTS = 4;
const POST_ATTEMPTS = 8;

export interface ReportsParts {
  ledger: Ledger;
  link: Link;
  requests: Requests;
  outbox: Outbox;
  http: BullpenHttp;
  clock: Clock;
  onReport: OnReport | undefined;
  onError: (error: Error) => void;
}

export class Reports {
  readonly #parts: ReportsParts;
  readonly #posting = new Set<string>();
  #asking: Promise<void> | undefined;
  #online = false;
  #stopped = false;

  constructor(parts: ReportsParts) {
    this.#parts = parts;
  }

  /** The connection is up: what was left over is asked for and posted. */
  online(): void {
    this.#online = true;
    this.next();
    for (const note of this.#parts.ledger.state.reports) this.#post(note);
  }

  offline(): void {
    this.#online = false;
  }

  stop(): void {
    this.#stopped = true;
    this.#online = false;
  }

  /** Asks for every ending that was taken, one after the other. */
  next(): void {
    if (this.#asking || !this.#online) return;
    const [ending] = this.#parts.ledger.state.endings;
    if (!ending) return;
    this.#asking = this.#ask(ending)
      .catch((error: unknown) => this.#fault(asError(error)))
      .finally(() => {
        this.#asking = undefined;
        this.next();
      });
  }

  /** Resolves when nothing is left to ask for: what is accepted next would be taken for it. */
  async asked(): Promise<void> {
    while (this.#online && this.#parts.ledger.state.endings.length > 0) {
      this.next();
      await this.#asking;
    }
  }

  /** Reports of a welcome or of `reports`: new ones are noted and posted, known ones confirmed. */
  async take(reports: AgentPayload<"reports">["reports"]): Promise<void> {
    const { ledger, outbox } = this.#parts;
    for (const report of reports) {
      const { id, workItemId } = report;
      if (ledger.state.posted.includes(id)) {
        if (!outbox.has(id, "report_posted"))
          await outbox.add("report_posted", { workItemId, id }, id).written;
        continue;
      }
      const note = await ledger.change((state) => noted(state, report));
      this.#post(note);
    }
  }

  async #ask(ending: Ending): Promise<void> {
    const { requests, ledger, clock, link } = this.#parts;
    // The office grants once: the same frame again is answered the same (REPORT-1).
    const { workItemId, kind, frame: id } = ending;
    for (let attempt = 0; this.#online; attempt++) {
      let release: (() => void) | undefined;
      const send = (frame: Frame): boolean => {
        release = link.sendLast(frame);
        return release !== undefined;
      };
      try {
        const answer = await requests.exchange(
          "chat_report",
          { workItemId, kind },
          { id, once: true, send, timeoutMs: 2 ** 31 - 1 },
        );
        const note = await ledger.change((state) => granted(state, ending, answer));
        release?.();
        if (note) this.#post(note);
        return;
      } catch (error) {
        release?.();
        if (!(error instanceof OfficeError)) throw error;
        // Asked again on the next connection; what was granted meanwhile comes as a report of the office's.
        if (error.code === "closed" || this.#stopped) return;
        if (error.code !== "failed" || attempt + 1 >= ASK_ATTEMPTS) {
          await ledger.change((state) => without(state, ending));
          // Silent where nobody is waiting for a report of this kind.
          if (error.code !== "unknown_item") this.#fault(error);
          return;
        }
        await this.#pause(fullJitter(attempt, clock.random));
      }
    }
  }

  #post(note: ReportNote): void {
    const key = note.report.id;
    if (this.#posting.has(key) || this.#stopped) return;
    this.#posting.add(key);
    this.#deliver(key)
      .catch((error: unknown) => this.#fault(asError(error)))
      .finally(() => this.#posting.delete(key));
  }

  /** Posts a noted report wherever it does not stand yet; what fails in passing is tried again. */
  async #deliver(id: string): Promise<void> {
    const { clock, ledger } = this.#parts;
    for (let attempt = 0; !this.#stopped; attempt++) {
      const note = ledger.state.reports.find(({ report }) => report.id === id);
      if (!note) return;
      const failures = await this.#tryAll(note);
      if (failures.every((error) => !isPassing(error))) {
        await this.#finish(id, failures);
        return;
      }
      if (attempt + 1 >= POST_ATTEMPTS) {
        // It stays noted, and is tried again with the next connection or when the office sends it again.
        for (const error of failures) this.#fault(error);
        return;
      }
      await this.#pause(fullJitter(attempt, clock.random, { baseMs: 1000 }));
    }
  }

  async #tryAll(note: ReportNote): Promise<Error[]> {
    const { onReport, ledger } = this.#parts;
    const { report } = note;
    const failures: Error[] = [];
    const targets = targetsOf(report).filter(({ key }) => !note.done.includes(key));
    const rooms = targets.filter(isRoom);
    const post = async (): Promise<void> => {
      for (const target of rooms) await this.#postOne(report, target);
    };
    if (onReport) {
      try {
        await onReport(report, post);
      } catch (error) {
        failures.push(asError(error));
      }
      return failures;
    }
    for (const target of rooms)
      try {
        await this.#postOne(report, target);
        await ledger.change((state) => done(state, report.id, target.key));
      } catch (error) {
        failures.push(asError(error));
      }
    if (rooms.length < targets.length)
      failures.push(
        new OfficeError(
          "unsupported",
          `A report of ${report.workItemId} is for a chat that is no room: give onReport.`,
        ),
      );
    return failures;
  }

  #postOne(report: AgentReport, target: Target): Promise<void> {
    return postInRoom(this.#parts.http, report, target);
  }

  /** Posted, or refused for good where it was not: then the office is not told that it was. */
  async #finish(id: string, failures: Error[]): Promise<void> {
    const { ledger, outbox } = this.#parts;
    for (const error of failures) this.#fault(error);
    const note = await ledger.change((state) => struck(state, id, failures.length === 0));
    if (!note?.confirm || failures.length > 0) return;
    const { confirm, report } = note;
    await outbox.add("report_posted", { workItemId: report.workItemId, id: confirm }, confirm).written;
  }

  #fault(error: Error): void {
    if (!this.#stopped) this.#parts.onError(error);
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#parts.clock.setTimeout(resolve, ms));
  }
}

/** Notes a report of the office's; one that is being posted already is only to be confirmed then. */
function noted(state: AgentState, report: AgentReport): ReportNote {
  const there = state.reports.find(({ ids }) => ids.includes(report.id));
  const note = there ?? { ids: [report.id], report, done: [] };
  note.confirm = report.id;
  if (!there) state.reports.push(note);
  return structuredClone(note);
}

/** Strikes a note out; its ids are remembered when it was posted. */
function struck(state: AgentState, id: string, posted: boolean): ReportNote | undefined {
  const note = state.reports.find(({ report }) => report.id === id);
  state.reports = state.reports.filter((one) => one !== note);
  if (note && posted) state.posted = [...state.posted, ...note.ids].slice(-REMEMBERED);
  return note;
}

/** Strikes the ending out and notes the report that was granted for it, in one write. */
function granted(
  state: AgentState,
  ending: Ending,
  answer: { payload: AgentPayload<"chat_report_result">; frameId: string },
): ReportNote | undefined {
  without(state, ending);
  const { post, ...where } = answer.payload;
  if (!post) {
    // A hand-back as done may have been taken as blocked, and that is told as well (OFFER-6).
    if (ending.kind === "result") state.endings.unshift(takenAsBlocked(ending));
    return undefined;
  }
  const { workItemId, kind, text, frame: id } = ending;
  const report = { id, workItemId, kind, text, ...where };
  const note = { ids: [id, answer.frameId], report, done: [] };
  state.reports.push(note);
  return structuredClone(note);
}

function takenAsBlocked({ workItemId, text }: Ending): Ending {
  const why = "(Taken as blocked: there was nothing to review.)";
  return { workItemId, kind: "blocked", text: `${text}\n\n${why}`, frame: frameId() };
}

function without(state: AgentState, ending: Ending): void {
  state.endings = state.endings.filter(({ frame }) => frame !== ending.frame);
}

function done(state: AgentState, id: string, key: string): void {
  state.reports.find(({ report }) => report.id === id)?.done.push(key);
}

/** Whether trying again may help: not where the rooms refuse it for good. */
function isPassing(error: Error): boolean {
  if (error instanceof BullpenError) return error.retryable;
  return !(error instanceof OfficeError && error.code === "unsupported");
}
