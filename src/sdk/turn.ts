/** One turn: what a handler is given. */
import type { MessageNew, MessageOverheard } from "../shared/wire/message.ts";
import type { Asks } from "./asks.ts";
import type { Client } from "./client.ts";
import { asError } from "./errors.ts";
import { promptFor } from "./prompt.ts";
import { LiveRun, type Run } from "./run.ts";
import { type Change, changed, type Plan } from "./turns.ts";

export type { ReplyOptions, Usage } from "./run.ts";

/** A message that was not for a turn's agent, said while it worked. */
export type Overheard = MessageOverheard | MessageNew;

/** A turn of one agent in one space (TURN-6). */
export interface Turn extends Run {
  /** The newest message it is for. */
  readonly message: MessageNew;
  /** What had waited as well, oldest first. */
  readonly earlier: readonly MessageNew[];
  /** The turn's whole text for a model (NOTE-4). */
  readonly prompt: string;
  /** Called with what is said to others meanwhile; the room is told that the run heard it (TURN-3). */
  onOverheard: ((message: Overheard) => unknown) | undefined;
  /** What was said to others since it was last asked for; the room is told that the run heard it. */
  heardSince(): Overheard[];
  /** Says that the run has read these messages, where neither of the above was used. */
  heard(messageIds: string[]): Promise<void>;
}

const HEARD_AT_ONCE = 100;

/** The turn as the harness holds it. */
export class LiveTurn extends LiveRun implements Turn {
  earlier: readonly MessageNew[] = [];

  readonly #lastSaid: (spaceId: string) => number;
  #message: MessageNew | undefined;
  #prompt: string | undefined;
  #overheard: Overheard[] = [];
  #listener: ((message: Overheard) => unknown) | undefined;

  constructor(
    client: Client,
    asks: Asks,
    plan: Plan,
    of: { name: string; lastSaid: (spaceId: string) => number },
  ) {
    super(client, asks, { agent: { id: plan.taker, name: of.name }, spaceId: plan.spaceId });
    this.#lastSaid = of.lastSaid;
  }

  get message(): MessageNew {
    if (!this.#message) throw new Error("The turn has not begun.");
    return this.#message;
  }

  get messageId(): string {
    return this.message.message_id;
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

  begin(messages: readonly MessageNew[]): void {
    this.#message = messages.at(-1);
    this.earlier = messages.slice(0, -1);
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
    const agent = this.isAgent ? { agent_id: this.agent.id } : {};
    await this.send("run.start", {
      run_id: runId,
      space_id: this.spaceId,
      message_ids: messageIds,
      ...agent,
    });
  }

  heardSince(): Overheard[] {
    const messages = this.#overheard.splice(0);
    this.heard(messages.map((message) => message.message_id)).catch((error) => this.client.report(error));
    return messages;
  }

  async heard(messageIds: string[]): Promise<void> {
    for (let from = 0; from < messageIds.length; from += HEARD_AT_ONCE)
      await this.send("message.heard", {
        run_id: this.runId,
        message_ids: messageIds.slice(from, from + HEARD_AT_ONCE),
      });
  }

  protected firstAnswer(): string | undefined {
    const { seq, message_id } = this.message;
    return seq !== undefined && this.#lastSaid(this.spaceId) > seq ? message_id : undefined;
  }

  async #tell(listener: (message: Overheard) => unknown, message: Overheard): Promise<void> {
    try {
      await listener(message);
      if (!this.over) await this.heard([message.message_id]);
    } catch (error) {
      this.client.report(asError(error));
    }
  }
}
