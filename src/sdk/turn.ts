/** One turn: what a handler is given, and what it says goes to the room under the turn's run. */
import type { Receipt } from "../shared/wire/connection.ts";
import type { VerbType } from "../shared/wire/index.ts";
import type { MessageNew, MessageOverheard } from "../shared/wire/message.ts";
import type { Outcome } from "../shared/wire/run.ts";
import type { Client, VerbFields } from "./client.ts";
import { BullpenError } from "./errors.ts";
import type { Content, Uploaded, UploadOptions } from "./files.ts";
import { promptFor } from "./prompt.ts";
import { type Change, changed, type Plan } from "./turns.ts";

/** A message that was not for a turn's agent, said while it worked. */
export type Overheard = MessageOverheard | MessageNew;
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

/** A turn of one agent in one space (TURN-6). */
export interface Turn {
  /** Who takes it: one of the harness's agents, or the harness itself. */
  readonly agent: { readonly id: string; readonly name: string };
  readonly spaceId: string;
  /** The newest message it is for. */
  readonly message: MessageNew;
  /** What had waited as well, oldest first. */
  readonly earlier: readonly MessageNew[];
  readonly runId: string;
  /** The turn's whole text for a model (NOTE-4). */
  readonly prompt: string;
  /** Aborted when a person stops the run, when it has ended without us, and when the harness closes. */
  readonly signal: AbortSignal;
  /** Called with what is said to others meanwhile; the room is told that the run heard it (TURN-3). */
  onOverheard: ((message: Overheard) => unknown) | undefined;
  /** What was said to others since it was last asked for; the room is told that the run heard it. */
  heardSince(): Overheard[];
  /** Says that the run has read these messages, where neither of the above was used. */
  heard(messageIds: string[]): Promise<void>;
  /** Says in a few words what it is doing now. */
  step(text: string, options?: { step_id?: string }): Promise<Receipt>;
  /** Reports what it has cost so far: totals. */
  usage(totals: Usage): Promise<Receipt>;
  /**
   * Posts in the space. The turn's first post answers its message by name when others have spoken since,
   * so that it is seen what it answers. `NO_REPLY` ends the turn without a word (ADDR-6).
   */
  reply(text: string, options?: ReplyOptions): Promise<Receipt>;
  /** Uploads a file; the next reply carries it. `replaces` names the version it was made from (FILE-1). */
  attach(content: Content, options: UploadOptions & { replaces?: string }): Promise<Uploaded>;
  /** Ends the run before the handler returns; by itself it ends `done`, or `failed` when the handler throws. */
  end(outcome: Outcome, options?: { cost_usd?: number | undefined }): Promise<void>;
}

const HEARD_AT_ONCE = 100;

/** The turn as the harness holds it. */
export class LiveTurn implements Turn {
  readonly agent: { readonly id: string; readonly name: string };
  readonly spaceId: string;
  readonly signal: AbortSignal;
  runId = "";
  earlier: readonly MessageNew[] = [];

  readonly #client: Client;
  readonly #lastSaid: (spaceId: string) => number;
  readonly #abort = new AbortController();
  #message: MessageNew | undefined;
  #prompt: string | undefined;
  #overheard: Overheard[] = [];
  #listener: ((message: Overheard) => unknown) | undefined;
  #attached: NonNullable<ReplyOptions["attachments"]> = [];
  #replied = false;
  #ended: Promise<void> | undefined;

  constructor(client: Client, plan: Plan, name: string, lastSaid: (spaceId: string) => number) {
    this.#client = client;
    this.#lastSaid = lastSaid;
    this.agent = { id: plan.taker, name };
    this.spaceId = plan.spaceId;
    this.signal = this.#abort.signal;
  }

  get message(): MessageNew {
    if (!this.#message) throw new Error("The turn has not begun.");
    return this.#message;
  }

  get prompt(): string {
    this.#prompt ??= promptFor(this.message, this.agent.id, { earlier: this.earlier });
    return this.#prompt;
  }

  get onOverheard(): ((message: Overheard) => unknown) | undefined {
    return this.#listener;
  }

  set onOverheard(listener: ((message: Overheard) => unknown) | undefined) {
    this.#listener = listener;
    if (listener) for (const message of this.#overheard.splice(0)) void this.#tell(listener, message);
  }

  /** Whether the run is over, or ending. */
  get over(): boolean {
    return this.#ended !== undefined;
  }

  /** Whether files were attached that no reply has carried. */
  get carries(): boolean {
    return this.#attached.length > 0;
  }

  begin(messages: readonly MessageNew[]): void {
    this.#message = messages.at(-1);
    this.earlier = messages.slice(0, -1);
  }

  abort(reason: string): void {
    this.#abort.abort(new DOMException(reason, "AbortError"));
  }

  overhear(message: Overheard): void {
    if (this.over) return;
    if (this.#listener) void this.#tell(this.#listener, message);
    else this.#overheard.push(message);
  }

  /** Words not yet handed to the turn are handed as they read now. */
  change(change: Change): void {
    this.#overheard = this.#overheard.flatMap((message) => changed(message, change) ?? []);
  }

  /** Starts the run; its messages are safe once this has resolved. */
  async start(runId: string, messageIds: string[]): Promise<void> {
    this.runId = runId;
    const agent = this.#isAgent ? { agent_id: this.agent.id } : {};
    await this.#send("run.start", {
      run_id: runId,
      space_id: this.spaceId,
      message_ids: messageIds,
      ...agent,
    });
  }

  heardSince(): Overheard[] {
    const messages = this.#overheard.splice(0);
    this.heard(messages.map((message) => message.message_id)).catch((error) => this.#client.report(error));
    return messages;
  }

  async heard(messageIds: string[]): Promise<void> {
    for (let from = 0; from < messageIds.length; from += HEARD_AT_ONCE)
      await this.#send("message.heard", {
        run_id: this.runId,
        message_ids: messageIds.slice(from, from + HEARD_AT_ONCE),
      });
  }

  step(text: string, options: { step_id?: string } = {}): Promise<Receipt> {
    return unawaited(this.#send("run.step", { run_id: this.runId, text, ...options }));
  }

  usage(totals: Usage): Promise<Receipt> {
    return unawaited(this.#send("run.usage", { run_id: this.runId, ...totals }));
  }

  async reply(text: string, options: ReplyOptions = {}): Promise<Receipt> {
    const attached = this.#attached.splice(0);
    const attachments = [...attached, ...(options.attachments ?? [])];
    const answers = options.reply_to === undefined ? this.#defaultAnswer() : options.reply_to;
    this.#replied = true;
    const silent = attachments.length === 0 && /^\s*NO_REPLY\s*$/i.test(text);
    const post = this.#send("message.post", {
      space_id: this.spaceId,
      run_id: this.runId,
      text,
      ...(attachments.length > 0 ? { attachments } : {}),
      ...(answers === null ? {} : { reply_to: answers }),
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
    const uploaded = await this.#client.upload(content, { signal: this.signal, ...upload });
    const { attachment_id } = uploaded;
    this.#attached.push({ attachment_id, ...(replaces === undefined ? {} : { replaces }) });
    return uploaded;
  }

  end(outcome: Outcome, options: { cost_usd?: number | undefined } = {}): Promise<void> {
    this.#ended ??= this.#send("run.end", { run_id: this.runId, outcome, ...options }).then(
      () => {},
      (error: unknown) => {
        // The room has ended it first: stopped, or silent for too long (TURN-5).
        if (!(error instanceof BullpenError && error.code === "unknown_run")) throw error;
      },
    );
    return this.#ended;
  }

  get #isAgent(): boolean {
    return this.agent.id.startsWith("agt_");
  }

  #defaultAnswer(): string | null {
    if (this.#replied) return null;
    const { seq, message_id } = this.message;
    return seq !== undefined && this.#lastSaid(this.spaceId) > seq ? message_id : null;
  }

  async #tell(listener: (message: Overheard) => unknown, message: Overheard): Promise<void> {
    try {
      await listener(message);
      if (!this.over) await this.heard([message.message_id]);
    } catch (error) {
      this.#client.report(error as Error);
    }
  }

  /** Sends as the agent whose turn it is; a run that is gone aborts the turn. */
  async #send<T extends VerbType>(type: T, fields: VerbFields<T>): Promise<Receipt> {
    const actor = this.#isAgent ? { kind: "agent" as const, id: this.agent.id } : undefined;
    try {
      return await this.#client.send(type, fields, { actor });
    } catch (error) {
      if (error instanceof BullpenError && error.code === "unknown_run") this.abort("the run has ended");
      throw error;
    }
  }
}

/** A step or a cost is told in passing: that it failed is no reason to end the process. */
function unawaited<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}
