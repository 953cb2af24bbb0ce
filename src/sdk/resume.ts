/** Decisions and answers for runs of a process that is gone: the next process goes on with them (APR-6). */
import type * as z from "zod";
import type { runItem } from "../shared/wire/http.ts";
import type { Fact } from "../shared/wire/index.ts";
import { type Answer, type Asks, answerOf, type Decision, decisionOf, readToken } from "./asks.ts";
import { fullJitter } from "./backoff.ts";
import type { Client } from "./client.ts";
import { asError, BullpenError } from "./errors.ts";
import { conduct, type Handled, LiveRun, type Run } from "./run.ts";
import type { Plan, TurnQueue } from "./turns.ts";

/** A run that an earlier process began, open still. Its words are the room's: `GET /v1/spaces/:id/context`. */
export interface ResumedTurn extends Run {
  /** The newest message that the run is for. */
  readonly messageId: string | undefined;
  /** The ask that was decided; undefined in `resumeAnswer`. */
  readonly approvalId: string | undefined;
  readonly resumeToken: string | undefined;
  /** What `turn.approve` was given to be kept. */
  readonly state: string | undefined;
}

export interface ResumeHandlers {
  /**
   * Takes a decision whose process is gone, with the run that waited for it. What it returns is the reply, and
   * ends the run unless another ask of it is open. The decision is acknowledged once it has finished: a process
   * that dies before is not the last to be given it. Without it such a run ends `failed`.
   */
  resume?: ((decision: Decision, turn: ResumedTurn) => Handled | Promise<Handled>) | undefined;
  /** The same for the answer to a question. */
  resumeAnswer?: ((answer: Answer, turn: ResumedTurn) => Handled | Promise<Handled>) | undefined;
}

type RunItem = z.infer<typeof runItem>;
export type Settling = Fact<"approval.decided"> | Fact<"question.answered">;
interface Item {
  readonly event: Settling;
  readonly runId: string;
  readonly spaceId: string;
  /** As the server knows the run; looked up before its turn can begin. */
  run?: RunItem;
}

class Resumed extends LiveRun implements ResumedTurn {
  readonly messageId: string | undefined;
  readonly approvalId: string | undefined;
  readonly resumeToken: string | undefined;
  readonly state: string | undefined;

  constructor(client: Client, asks: Asks, of: { event: Settling; spaceId: string; run: RunItem }) {
    const { event, spaceId, run } = of;
    const { participant, agents = [] } = client.welcome ?? {};
    const name = agents.find((agent) => agent.agent_id === run.agent_id)?.name ?? participant?.name ?? "";
    super(client, asks, { agent: { id: run.agent_id, name }, spaceId });
    this.runId = run.run_id;
    if (event.type === "approval.decided") {
      this.approvalId = event.approval_id;
      this.resumeToken = event.resume_token;
      this.state = readToken(event.resume_token)?.state;
    }
    this.messageId = readToken(this.resumeToken)?.message_id ?? run.message_ids.at(-1);
    if (run.state === "paused") this.pause(true);
  }

  /** Much may have been said since. */
  protected firstAnswer(): string | undefined {
    return this.messageId;
  }
}

/** What waits to be gone on with, and the runs that are. One at a time for an agent in a space, as turns are. */
export class Resumptions {
  readonly #client: Client;
  readonly #asks: Asks;
  readonly #queue: TurnQueue;
  readonly #handlers: ResumeHandlers;
  /** Told when a run's place is free again. */
  readonly #freed: () => void;
  #waiting: Item[] = [];
  readonly #going = new Map<Resumed, Promise<void>>();
  #closing = false;

  constructor(client: Client, asks: Asks, queue: TurnQueue, handlers: ResumeHandlers, freed: () => void) {
    this.#client = client;
    this.#asks = asks;
    this.#queue = queue;
    this.#handlers = handlers;
    this.#freed = freed;
  }

  /** Whether there is something to do about the end of an ask that this process does not know. */
  takes(event: Settling): boolean {
    if (event.type === "question.answered") return this.#handlers.resumeAnswer !== undefined;
    // What was asked otherwise than by a turn's `approve` is its sender's business.
    return readToken(event.resume_token) !== undefined;
  }

  /** Whether a run waits for people, and the next process could go on with all that it waits for. */
  canTake(runId: string): boolean {
    const { resume, resumeAnswer } = this.#handlers;
    const kinds = [...this.#asks.kindsOf(runId)];
    return kinds.length > 0 && kinds.every((kind) => (kind === "approval" ? resume : resumeAnswer));
  }

  add(event: Settling): void {
    const { run_id: runId, space_id: spaceId } = event;
    if (this.#closing || runId === undefined || spaceId === undefined || !this.takes(event)) return;
    const item = { event, runId, spaceId };
    this.#waiting.push(item);
    void this.#look(item, 0);
  }

  get runs(): readonly LiveRun[] {
    return [...this.#going.keys()];
  }

  /** Begins what may begin. */
  pump(): void {
    this.#waiting = this.#waiting.filter((item) => {
      const { run } = item;
      const plan = run && !this.#closing && this.#queue.reserve(run.agent_id, item.spaceId);
      if (!run || !plan) return true;
      const turn = new Resumed(this.#client, this.#asks, { ...item, run });
      this.#going.set(turn, this.#take(item, plan, turn));
      return false;
    });
  }

  /** Gives up what is going and what waits: unacknowledged, the next process is given it. */
  async close(reason: string): Promise<void> {
    this.#closing = true;
    this.#waiting = [];
    for (const turn of this.#going.keys()) turn.leave(reason);
    await Promise.all(this.#going.values());
  }

  /** Finds the run on the server. One that is over by now needs nobody to go on. */
  async #look(item: Item, attempt: number): Promise<void> {
    const { http, clock } = this.#client;
    try {
      let cursor: string | undefined;
      let found: RunItem | undefined;
      do {
        const path = `/v1/spaces/${item.spaceId}/runs`;
        const page = await http.get<{ items: RunItem[]; next?: string }>(path, { limit: 200, cursor });
        found = page.items.find((run) => run.run_id === item.runId);
        cursor = page.next;
      } while (!found && cursor !== undefined);
      if (!found || found.state === "ended") return this.#drop(item);
      item.run = found;
      this.#freed();
    } catch (error) {
      const passing = error instanceof BullpenError && error.retryable;
      if (passing && !this.#closing) {
        clock.setTimeout(() => void this.#look(item, attempt + 1), fullJitter(attempt, clock.random));
        return;
      }
      // Its agents are not in that space any more, and their runs there have ended.
      if (!passing) this.#drop(item);
    }
  }

  #drop(item: Item): void {
    this.#waiting = this.#waiting.filter((other) => other !== item);
    this.#client.settle(item.event.id, "ask");
  }

  async #take(item: Item, plan: Plan, turn: Resumed): Promise<void> {
    let failed = false;
    try {
      const end = await conduct(
        turn,
        () => this.#handle(item.event, turn),
        (error) => {
          failed = true;
          this.#client.report(error);
        },
      );
      const goesOn = !turn.over && !failed && !turn.signal.aborted && (await this.#waitsOn(item, turn));
      if (!goesOn) await turn.end(end.outcome, end);
    } catch (error) {
      if (!this.#closing) this.#client.report(asError(error));
    }
    if (!turn.left || turn.over) this.#client.settle(item.event.id, "ask");
    this.#going.delete(turn);
    this.#queue.finish(plan);
    this.#freed();
  }

  #handle(event: Settling, turn: Resumed): Handled | Promise<Handled> {
    const { resume, resumeAnswer } = this.#handlers;
    if (event.type === "question.answered") return resumeAnswer?.(answerOf(event), turn);
    if (resume) return resume(decisionOf(event), turn);
    throw new Error("A decision came for a turn of an earlier process, and this harness has no `resume`.");
  }

  /** Whether another ask of the run is open, or was decided just now: ending the run would take it back. */
  async #waitsOn(item: Item, turn: Resumed): Promise<boolean> {
    let cursor: string | undefined;
    do {
      const query = { state: "pending", limit: 200, cursor };
      interface Page {
        items: { run_id: string }[];
        next?: string;
      }
      const page: Page = await this.#client.http.get<Page>("/v1/approvals", query);
      if (page.items.some((ask) => ask.run_id === item.runId)) return true;
      cursor = page.next;
    } while (cursor !== undefined);
    // The same run again changes nothing; what was decided before its receipt has arrived once that has.
    const agent = turn.agent.id.startsWith("agt_") ? { agent_id: turn.agent.id } : {};
    await turn.send("run.start", { run_id: turn.runId, space_id: turn.spaceId, message_ids: [], ...agent });
    return this.#waiting.some((other) => other.runId === item.runId);
  }
}
