/** A harness: a program that takes its agents' turns in the rooms. */
import type { Hello, Receipt, Welcome } from "../shared/wire/connection.ts";
import type { ServerEvent, VerbType } from "../shared/wire/index.ts";
import type { MessageNew, MessageOverheard } from "../shared/wire/message.ts";
import { Asks, answerOf, askOf, decisionOf } from "./asks.ts";
import { Client, type ClientOptions, type SendOptions, type VerbFields } from "./client.ts";
import { within } from "./clock.ts";
import { asError, BullpenError } from "./errors.ts";
import {
  type Content,
  type Downloadable,
  type Uploaded,
  type UploadOptions,
  withFreshUrls,
} from "./files.ts";
import type { BullpenHttp } from "./http.ts";
import { newId } from "./ids.ts";
import { type ResumeHandlers, Resumptions, type Settling } from "./resume.ts";
import { conduct, type Handled, type LiveRun } from "./run.ts";
import { LiveTurn, type Turn } from "./turn.ts";
import { type Dropped, type Plan, TurnQueue } from "./turns.ts";

export type { TurnResult } from "./run.ts";

export interface HarnessOptions extends ClientOptions, ResumeHandlers {
  /** The agents it speaks for; without any it speaks as itself. */
  agents?: { name: string; agent_id?: string }[] | undefined;
  /** How much of a room's history comes with a turn. */
  context?: { lines: number; chars: number } | undefined;
  /** `pause`: its turns heed `turn.paused`, so that people are offered to pause them. */
  can?: "pause"[] | undefined;
  /** Takes a turn. What it returns is the reply; one turn at a time for an agent in a space. */
  onTurn(turn: Turn): Handled | Promise<Handled>;
  /** Told what is said to others; `workingTurns` are the turns that were handed the words as well. */
  onOverheard?: ((message: MessageOverheard, at: { workingTurns: Turn[] }) => unknown) | undefined;
}

/** A live harness. It resumes and reconnects by itself until closed or refused. */
export interface Harness {
  readonly http: BullpenHttp;
  /** The first welcome. */
  readonly ready: Promise<Welcome>;
  /** Resolves when it has ended for good, with the reason unless it was `close`. */
  readonly closed: Promise<BullpenError | undefined>;
  readonly welcome: Welcome | undefined;
  readonly agents: { agent_id: string; name: string }[];
  readonly lastSeq: number;
  /** The turns going now. */
  readonly turns: readonly Turn[];
  /** Writes any event. As one of its agents with `{actor: {kind: "agent", id}}`. */
  send<T extends VerbType>(type: T, fields: VerbFields<T>, options?: SendOptions): Promise<Receipt>;
  upload(content: Content, options: UploadOptions): Promise<Uploaded>;
  download(file: Downloadable, options?: { signal?: AbortSignal }): Promise<Response>;
  /**
   * Aborts the turns going, waits a while for them and for what is unanswered, and ends the connection. Runs
   * that wait for people stay open where the next process can go on with them, by `resume`.
   */
  close(options?: { timeoutMs?: number }): Promise<void>;
}

/** Connects a harness. It returns at once; `ready` tells when the server has welcomed it. */
export function connectHarness(options: HarnessOptions): Harness {
  return new LiveHarness(options);
}

class LiveHarness implements Harness {
  readonly #options: HarnessOptions;
  readonly #client: Client;
  readonly #asks: Asks;
  readonly #queue = new TurnQueue();
  readonly #resumptions: Resumptions;
  readonly #turns = new Map<LiveTurn, Promise<void>>();
  /** The newest word said in each space. */
  readonly #said = new Map<string, number>();
  #closing = false;

  constructor(options: HarnessOptions) {
    this.#options = options;
    this.#client = new Client(options, {
      acks: true,
      hello: (first) => this.#hello(first),
      parties: (event) => this.#parties(event),
      event: (event) => this.#event(event),
      caughtUp: () => {
        if (this.#client.welcome?.resume === "reset") this.#asks.again();
        this.#pump();
      },
    });
    this.#asks = new Asks(this.#client);
    this.#resumptions = new Resumptions(this.#client, this.#asks, this.#queue, options, () => this.#pump());
    void this.#client.closed.then(() => this.#leave("the connection has ended"));
  }

  get http(): BullpenHttp {
    return this.#client.http;
  }
  get ready(): Promise<Welcome> {
    return this.#client.ready;
  }
  get closed(): Promise<BullpenError | undefined> {
    return this.#client.closed;
  }
  get welcome(): Welcome | undefined {
    return this.#client.welcome;
  }
  get agents(): { agent_id: string; name: string }[] {
    return this.#client.welcome?.agents ?? [];
  }
  get lastSeq(): number {
    return this.#client.lastSeq;
  }
  get turns(): readonly Turn[] {
    return [...this.#turns.keys()];
  }
  send<T extends VerbType>(type: T, fields: VerbFields<T>, options?: SendOptions): Promise<Receipt> {
    return this.#client.send(type, fields, options);
  }
  upload(content: Content, options: UploadOptions): Promise<Uploaded> {
    return this.#client.upload(content, options);
  }
  download(file: Downloadable, options?: { signal?: AbortSignal }): Promise<Response> {
    return this.#client.download(file, options);
  }

  async close({ timeoutMs = 5000 }: { timeoutMs?: number } = {}): Promise<void> {
    this.#closing = true;
    const rest = this.#leave("the harness is closing").then(() => this.#client.idle());
    await within(this.#client.clock, timeoutMs, rest);
    this.#client.close();
  }

  #hello(first: boolean): Omit<Hello, "v" | "type" | "id"> {
    const { agents, context, can = [] } = this.#options;
    return {
      can: ["batch", ...can],
      ...(context ? { context } : {}),
      // Said once: an agent that was renamed meanwhile would be declared anew under its old name.
      ...(first && agents ? { agents } : {}),
    };
  }

  /** Each taker settles a message once its run has started; before that a crash would lose the turn. */
  #parties(event: ServerEvent): string[] {
    if (event.type === "message.new") return this.#takers(event);
    if (event.type === "approval.decided" || event.type === "question.answered")
      return this.#asks.knows(askOf(event)) || this.#resumptions.takes(event) ? ["ask"] : [];
    return event.type === "message.overheard" && this.#options.onOverheard ? ["overheard"] : [];
  }

  /** Without agents of its own a harness is told no `for`: the turn is its own (NEW-2, SPACE-5). */
  #takers(event: MessageNew): string[] {
    return event.for ?? [this.#client.welcome?.participant.participant_id ?? ""];
  }

  #event(event: ServerEvent): void {
    switch (event.type) {
      case "message.new":
        this.#heard(event);
        for (const taker of this.#takers(event)) this.#settle(this.#queue.add(taker, event));
        return this.#pump();
      case "message.overheard":
        return void this.#overheard(event, this.#heard(event));
      case "message.edited":
      case "message.deleted":
      case "file.transcribed":
        this.#settle(this.#queue.apply(event));
        for (const turn of this.#turns.keys()) turn.change(event);
        break;
      case "run.stop":
        for (const run of this.#runsOf(event.run_id)) run.abort("the run was stopped");
        break;
      case "run.pause":
      case "run.resume":
        for (const run of this.#runsOf(event.run_id)) run.pause(event.type === "run.pause");
        break;
      case "approval.decided":
      case "question.answered":
        return void this.#decided(event);
      case "approval.cancelled":
        if (event.reason === "run_ended")
          for (const run of this.#runsOf(event.run_id)) run.abort("the run has ended");
        this.#asks.cancel(event.approval_id, "the ask was taken back");
        break;
      default:
    }
  }

  #runsOf(runId: string | undefined): LiveRun[] {
    return [...this.#turns.keys(), ...this.#resumptions.runs].filter((run) => run.runId === runId);
  }

  /** It is acknowledged once whoever waits for it has it; for a run of an earlier process see `resume`. */
  async #decided(event: Settling): Promise<void> {
    if (this.#asks.knows(askOf(event)))
      await this.#asks.settle(event.type === "approval.decided" ? decisionOf(event) : answerOf(event));
    else if (this.#closing) return;
    else if (![...this.#turns.keys()].some((turn) => turn.runId === event.run_id))
      return this.#resumptions.add(event);
    this.#client.settle(event.id, "ask");
  }

  /** Hands words to the turns that they were said beside. */
  #heard(event: MessageNew | MessageOverheard): LiveTurn[] {
    if (event.space_id && event.seq !== undefined) this.#said.set(event.space_id, event.seq);
    const runs = new Set(event.working_turns?.map((turn) => turn.run_id));
    const beside = [...this.#turns.keys()].filter((turn) => runs.has(turn.runId));
    for (const turn of beside) turn.overhear(event);
    return beside;
  }

  async #overheard(event: MessageOverheard, workingTurns: Turn[]): Promise<void> {
    try {
      await this.#options.onOverheard?.(event, { workingTurns });
    } catch (error) {
      this.#client.report(asError(error));
    }
    this.#client.settle(event.id, "overheard");
  }

  #settle(dropped: Dropped[]): void {
    for (const { event, taker } of dropped) this.#client.settle(event.id, taker);
  }

  /** Begins what may begin. What a replay brings waits for its end, and becomes one turn. */
  #pump(): void {
    if (this.#closing || !this.#client.live) return;
    this.#resumptions.pump();
    for (const plan of this.#queue.take()) {
      const agent = this.agents.find(({ agent_id }) => agent_id === plan.taker);
      const turn = new LiveTurn(this.#client, this.#asks, plan, {
        name: agent?.name ?? this.welcome?.participant.name ?? "",
        lastSaid: (id) => this.#said.get(id) ?? 0,
      });
      this.#turns.set(turn, this.#run(plan, turn));
    }
  }

  async #run(plan: Plan, turn: LiveTurn): Promise<void> {
    try {
      if (await this.#start(plan, turn)) await this.#handle(plan, turn);
    } catch (error) {
      // Of a harness that has ended `closed` tells, once.
      if (!this.#closing) this.#client.report(asError(error));
    }
    this.#turns.delete(turn);
    this.#queue.finish(plan);
    this.#pump();
  }

  /** Starts the run on the server; true when there is something to handle. */
  async #start(plan: Plan, turn: LiveTurn): Promise<boolean> {
    for (;;) {
      const taken = [...this.#queue.taken(plan)];
      if (taken.length === 0) return false;
      try {
        await turn.start(newId("run", this.#client.clock.now()), [
          ...new Set(taken.map((event) => event.message_id)),
        ]);
      } catch (error) {
        const { taker } = plan;
        if (!(error instanceof BullpenError && error.code === "conflict")) {
          this.#settle(this.#queue.begin(plan).map((event) => ({ taker, event })));
          throw error;
        }
        // A life of this harness before a crash took it. What it took is the oldest part of what waits.
        const event = this.#queue.giveUpOldest(plan);
        if (event) this.#settle([{ taker, event }]);
        continue;
      }
      if (this.#closing) {
        // Nobody will handle it here; unacknowledged, it is delivered again.
        await turn.end("stopped");
        return false;
      }
      this.#settle(taken.map((event) => ({ taker: plan.taker, event })));
      return true;
    }
  }

  async #handle(plan: Plan, turn: LiveTurn): Promise<void> {
    const { http, clock } = this.#client;
    const messages = this.#queue.begin(plan);
    turn.begin(await Promise.all(messages.map((event) => withFreshUrls(http, event, clock.now()))));
    // Every message was taken back while the run was starting.
    if (messages.length === 0) return await turn.end("no_reply");
    const report = (error: Error) => this.#client.report(error);
    const { outcome, ...costs } = await conduct(turn, () => this.#options.onTurn(turn), report);
    await turn.end(outcome, costs);
  }

  /** Ends the turns going; a run whose ask the next process can go on with stays open. */
  async #leave(reason: string): Promise<void> {
    for (const turn of this.#turns.keys())
      if (this.#resumptions.canTake(turn.runId)) turn.leave(reason);
      else turn.abort(reason);
    await Promise.all([...this.#turns.values(), this.#resumptions.close(reason)]);
  }
}
