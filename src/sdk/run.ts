/** A run as a handler holds it: what is said under it goes to the room as its agent's (TURN-1, TURN-2). */
import type { Receipt } from "../shared/wire/connection.ts";
import type { VerbType } from "../shared/wire/index.ts";
import type { Outcome } from "../shared/wire/run.ts";
import type { Answer, ApproveOptions, Asker, AskOptions, Asks, Decision } from "./asks.ts";
import type { Client, VerbFields } from "./client.ts";
import { asError, BullpenError } from "./errors.ts";
import type { Content, Uploaded, UploadOptions } from "./files.ts";

export interface ReplyOptions {
  attachments?: { attachment_id: string; replaces?: string }[];
  /** Which message it answers; null for none. Without it: see `reply`. */
  reply_to?: string | null;
}
export interface Usage {
  cost_usd?: number;
  input_tokens?: number;
  output_tokens?: number;
}

/** What a handler may return: the reply, or more to say about how the turn went. */
export interface TurnResult {
  /** Posted as the reply. */
  text?: string | undefined;
  outcome?: Outcome | undefined;
  cost_usd?: number | undefined;
}
export type Handled = TurnResult | string | void;

/** What can be done under a run of one agent in one space. */
export interface Run {
  /** Whose it is: one of the harness's agents, or the harness itself. */
  readonly agent: { readonly id: string; readonly name: string };
  readonly spaceId: string;
  readonly runId: string;
  /** Aborted when a person stops the run, when it has ended without us, and when the harness closes. */
  readonly signal: AbortSignal;
  /** Whether it was asked to pause (TURN-4). Only a harness that says it can `pause` is asked. */
  readonly paused: boolean;
  /** Called when it is asked to pause, with true, and to go on, with false. */
  onPause: ((paused: boolean) => unknown) | undefined;
  /** Resolves at once, or when it may go on; rejects when it is stopped meanwhile. */
  whenRunning(): Promise<void>;
  /** Says in a few words what it is doing now. */
  step(text: string, options?: { step_id?: string }): Promise<Receipt>;
  /** Reports what it has cost so far: totals. */
  usage(totals: Usage): Promise<Receipt>;
  /**
   * Posts in the space. The first post answers its message by name when others have spoken since, so that it
   * is seen what it answers. `NO_REPLY` ends the turn without a word (ADDR-6).
   */
  reply(text: string, options?: ReplyOptions): Promise<Receipt>;
  /** Uploads a file; the next reply carries it. `replaces` names the version it was made from (FILE-1). */
  attach(content: Content, options: UploadOptions & { replaces?: string }): Promise<Uploaded>;
  /**
   * Asks before acting, and resolves when a person, the policy, a grant or the clock has decided: live or after
   * reconnects, minutes or weeks later (APR-6). A denial is no error. Rejects with a `BullpenError`: `gone` when
   * nobody decides it any more, because the run was stopped or has ended. When this process is gone by then, the
   * decision goes to the next one's `resume`.
   */
  approve(ask: ApproveOptions): Promise<Decision>;
  /** Puts a question to people and resolves with the answer (ASK-1); rejects as `approve` does. */
  ask(text: string, options?: AskOptions): Promise<Answer>;
  /** Ends the run before the handler returns; by itself it ends `done`, or `failed` when the handler throws. */
  end(outcome: Outcome, options?: { cost_usd?: number | undefined }): Promise<void>;
}

/** The run as the harness holds it. */
export abstract class LiveRun implements Run, Asker {
  readonly agent: { readonly id: string; readonly name: string };
  readonly spaceId: string;
  readonly signal: AbortSignal;
  runId = "";
  onPause: ((paused: boolean) => unknown) | undefined;
  /** Given up by a harness that closes while people are asked: the run stays open for the next process. */
  left = false;

  protected readonly client: Client;
  readonly #asks: Asks;
  readonly #abort = new AbortController();
  #attached: NonNullable<ReplyOptions["attachments"]> = [];
  #replied = false;
  #ended: Promise<void> | undefined;
  #running: PromiseWithResolvers<void> | undefined;

  constructor(client: Client, asks: Asks, of: Pick<Run, "agent" | "spaceId">) {
    this.client = client;
    this.#asks = asks;
    this.agent = of.agent;
    this.spaceId = of.spaceId;
    this.signal = this.#abort.signal;
  }

  /** The newest message it is for. */
  abstract readonly messageId: string | undefined;
  /** Which message its first post answers, if that is not plain to see. */
  protected abstract firstAnswer(): string | undefined;

  /** Whether the run is over, or ending. */
  get over(): boolean {
    return this.#ended !== undefined;
  }

  /** Whether files were attached that no reply has carried. */
  get carries(): boolean {
    return this.#attached.length > 0;
  }

  get paused(): boolean {
    return this.#running !== undefined;
  }

  pause(paused: boolean): void {
    if (paused === this.paused || this.over) return;
    this.#running?.resolve();
    this.#running = paused ? Promise.withResolvers<void>() : undefined;
    // Nobody may be waiting when it is stopped.
    this.#running?.promise.catch(() => {});
    try {
      this.onPause?.(paused);
    } catch (error) {
      this.client.report(asError(error));
    }
  }

  whenRunning(): Promise<void> {
    if (this.signal.aborted) return Promise.reject(asError(this.signal.reason));
    return this.#running?.promise ?? Promise.resolve();
  }

  abort(reason: string): void {
    this.#abort.abort(new DOMException(reason, "AbortError"));
    this.#running?.reject(asError(this.signal.reason));
  }

  /** Nothing more is said under it here, and it is not ended. */
  leave(reason: string): void {
    this.left = true;
    this.abort(reason);
  }

  step(text: string, options: { step_id?: string } = {}): Promise<Receipt> {
    return unawaited(this.send("run.step", { run_id: this.runId, text, ...options }));
  }

  usage(totals: Usage): Promise<Receipt> {
    return unawaited(this.send("run.usage", { run_id: this.runId, ...totals }));
  }

  async reply(text: string, options: ReplyOptions = {}): Promise<Receipt> {
    const attached = this.#attached.splice(0);
    const attachments = [...attached, ...(options.attachments ?? [])];
    const first = this.#replied ? undefined : this.firstAnswer();
    const answers = options.reply_to === undefined ? first : (options.reply_to ?? undefined);
    this.#replied = true;
    const silent = attachments.length === 0 && /^\s*NO_REPLY\s*$/i.test(text);
    const post = this.send("message.post", {
      space_id: this.spaceId,
      run_id: this.runId,
      text,
      ...(attachments.length > 0 ? { attachments } : {}),
      ...(answers === undefined ? {} : { reply_to: answers }),
    });
    // The server ends the run itself (ADDR-6).
    if (silent) this.#ended ??= post.then(() => {});
    try {
      return await post;
    } catch (error) {
      this.#attached.unshift(...attached);
      throw error;
    }
  }

  async attach(content: Content, options: UploadOptions & { replaces?: string }): Promise<Uploaded> {
    const { replaces, ...upload } = options;
    const uploaded = await this.client.upload(content, { signal: this.signal, ...upload });
    const { attachment_id } = uploaded;
    this.#attached.push({ attachment_id, ...(replaces === undefined ? {} : { replaces }) });
    return uploaded;
  }

  approve(ask: ApproveOptions): Promise<Decision> {
    return this.#asks.approve(this, ask);
  }

  ask(text: string, options: AskOptions = {}): Promise<Answer> {
    return this.#asks.ask(this, text, options);
  }

  end(outcome: Outcome, options: { cost_usd?: number | undefined } = {}): Promise<void> {
    if (this.left) return Promise.resolve();
    this.#ended ??= this.send("run.end", { run_id: this.runId, outcome, ...options }).then(
      () => {},
      (error: unknown) => {
        // The room has ended it first: stopped, or silent for too long (TURN-5).
        if (!(error instanceof BullpenError && error.code === "unknown_run")) throw error;
      },
    );
    return this.#ended;
  }

  /** The run's start is the only thing that names its agent beside the actor. */
  protected get isAgent(): boolean {
    return this.agent.id.startsWith("agt_");
  }

  /** Sends as the agent whose turn it is; a run that is gone aborts the turn. */
  async send<T extends VerbType>(type: T, fields: VerbFields<T>): Promise<Receipt> {
    if (this.left) throw new BullpenError("unavailable", "The harness is closing; the run stays open.");
    const actor = this.isAgent ? { kind: "agent" as const, id: this.agent.id } : undefined;
    try {
      return await this.client.send(type, fields, { actor });
    } catch (error) {
      if (error instanceof BullpenError && error.code === "unknown_run") this.abort("the run has ended");
      throw error;
    }
  }
}

/**
 * Lets a handler take its turn, posts what it returns and files that nothing has carried yet, and answers how
 * the run is to end.
 */
export async function conduct(
  run: LiveRun,
  handle: () => Handled | Promise<Handled>,
  report: (error: Error) => void,
): Promise<{ outcome: Outcome; cost_usd?: number | undefined }> {
  let outcome: Outcome = "done";
  let cost_usd: number | undefined;
  try {
    if (!run.signal.aborted) {
      const result = await handle();
      const said: TurnResult = typeof result === "string" ? { text: result } : (result ?? {});
      cost_usd = said.cost_usd;
      const { text } = said;
      const silent = (text ?? "").trim() === "";
      if (!run.over && !run.signal.aborted && (!silent || run.carries)) await run.reply(text ?? "");
      outcome = said.outcome ?? (text !== undefined && silent ? "no_reply" : "done");
    }
  } catch (error) {
    outcome = "failed";
    if (!run.signal.aborted) report(asError(error));
  }
  return {
    outcome: run.signal.aborted ? "stopped" : outcome,
    ...(cost_usd === undefined ? {} : { cost_usd }),
  };
}

/** A step or a cost is told in passing: that it failed is no reason to end the process. */
function unawaited<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}
