/** What turns ask of people: promises that resolve live, after a reconnect, or days later (APR-6, ASK-1). */
import type { Receipt } from "../shared/wire/connection.ts";
import type { ApprovalState, Fact, VerbType } from "../shared/wire/index.ts";
import type { Client, VerbFields } from "./client.ts";
import { asError, BullpenError } from "./errors.ts";
import { newId } from "./ids.ts";

type AskFields = VerbFields<"approval.request">;

/** What is to be done, and how a person is asked about it. The fields are those of `approval.request`. */
export interface ApproveOptions
  extends Omit<AskFields, "approval_id" | "risk" | "resume_token" | "run_id" | "space_id"> {
  /** Chosen by who must be able to ask the same again after a crash; minted otherwise. */
  approval_id?: string;
  /** What the policy does not know of the action by itself. */
  risk?: AskFields["risk"];
  /** Comes back to `resume` as it is: what the next process needs to go on. Up to some 3,000 characters. */
  state?: string;
}

/** How an ask ended. */
export interface Decision {
  approvalId: string;
  decision: "allow" | "deny";
  /** Whether `decision` is `allow`. */
  allowed: boolean;
  /** The action's input as it was decided on; the approver may have changed it (APR-5). */
  input: unknown;
  edited: boolean;
  via: "person" | "policy" | "grant" | "expiry";
  /** Who decided, where somebody did. */
  by?: string;
  grantId?: string;
}

export interface AskOptions {
  options?: string[];
  /** The people it is put to; without them, anyone of the space but guests. */
  to?: string | string[];
  question_id?: string;
}

export interface Answer {
  questionId: string;
  text: string;
  /** Which of the options it is, from 0, where it is one. */
  option?: number;
  by: string;
}

/** A run as it asks. */
export interface Asker {
  readonly runId: string;
  readonly agent: { readonly id: string };
  readonly messageId: string | undefined;
  readonly signal: AbortSignal;
  send<T extends VerbType>(type: T, fields: VerbFields<T>): Promise<Receipt>;
}

/** What the SDK's own `resume_token` says: whose ask it was, for a process that knows nothing of it. */
interface Token {
  run_id: string;
  agent_id: string;
  message_id?: string | undefined;
  state?: string | undefined;
}
const MARK = "bullpen-sdk:";

function tokenOf(run: Asker, state: string | undefined): string {
  const token: Token = { run_id: run.runId, agent_id: run.agent.id, message_id: run.messageId, state };
  return MARK + JSON.stringify(token);
}

/** Reads a token that this SDK has minted; any other is none of its business. */
export function readToken(text: string | undefined): Token | undefined {
  if (text?.startsWith(MARK) !== true) return undefined;
  try {
    return JSON.parse(text.slice(MARK.length)) as Token;
  } catch {
    return undefined;
  }
}

/** Which ask or question it is the end of. */
export function askOf(event: Fact<"approval.decided"> | Fact<"question.answered">): string {
  return event.type === "approval.decided" ? event.approval_id : event.question_id;
}

export function decisionOf(event: Fact<"approval.decided">): Decision {
  return decided(event.approval_id, event);
}

export function answerOf({ question_id, text, by, option }: Fact<"question.answered">): Answer {
  return { questionId: question_id, text, by, ...(option === undefined ? {} : { option }) };
}

type Told = Pick<Fact<"approval.decided">, "decision" | "via" | "by" | "input" | "edited" | "grant_id">;

function decided(approvalId: string, told: Told): Decision {
  const { decision, via, by, input, edited = false, grant_id } = told;
  return {
    approvalId,
    decision,
    allowed: decision === "allow",
    input,
    edited,
    via,
    ...(by === undefined ? {} : { by }),
    ...(grant_id === undefined ? {} : { grantId: grant_id }),
  };
}

/** How an ask ends that nobody decides any more. */
function cancelled(why: string): BullpenError {
  return new BullpenError("gone", `Nobody decides this any more: ${why}.`);
}

interface Open {
  readonly promise: Promise<unknown>;
  readonly settle: (outcome: Decision | Answer) => void;
  readonly fail: (error: Error) => void;
  /** Asks again, to be told how it stands. */
  readonly again: () => void;
}

/** The asks and questions of this process that wait for people. */
export class Asks {
  readonly #client: Client;
  readonly #open = new Map<string, Open & { runId: string; kind: "approval" | "question" }>();
  /** Decided on the receipt; that it was decided is still to come as an event. */
  readonly #early = new Set<string>();

  constructor(client: Client) {
    this.#client = client;
  }

  /** Whether the ask or the question is of this process. */
  knows(id: string): boolean {
    return this.#open.has(id) || this.#early.has(id);
  }

  /** What a run waits for. */
  kindsOf(runId: string): Set<"approval" | "question"> {
    return new Set([...this.#open.values()].flatMap((one) => (one.runId === runId ? [one.kind] : [])));
  }

  approve(run: Asker, options: ApproveOptions): Promise<Decision> {
    const { state, approval_id = newId("apr", this.#client.clock.now()), risk = [], ...asked } = options;
    const fields = { ...asked, risk, approval_id, run_id: run.runId, resume_token: tokenOf(run, state) };
    return this.#wait<Decision>("approval", approval_id, run, async () => {
      const { approval, seq } = await run.send("approval.request", fields);
      if (!approval || approval.state === "pending") return undefined;
      if (approval.state === "cancelled") throw cancelled("the ask was cancelled");
      const { decision, via } = approval;
      // Asked again, it may have been decided with another input, which a receipt does not tell.
      if (seq === undefined || decision === undefined || via === undefined)
        return await this.#lookUp(approval_id);
      this.#early.add(approval_id);
      return decided(approval_id, { ...approval, decision, via, input: options.action.input });
    });
  }

  ask(run: Asker, text: string, options: AskOptions): Promise<Answer> {
    const { question_id = newId("qst", this.#client.clock.now()), ...asked } = options;
    return this.#wait<Answer>("question", question_id, run, async () => {
      const fields = { ...asked, text, question_id, run_id: run.runId };
      const { question } = await run.send("question.ask", fields);
      if (question?.state === "cancelled") throw cancelled("its run is over");
      if (question?.by === undefined || question.text === undefined) return undefined;
      const option = options.options?.indexOf(question.text) ?? -1;
      const { by, text: said } = question;
      return { questionId: question_id, text: said, by, ...(option < 0 ? {} : { option }) };
    });
  }

  /** Gives a decision or an answer to who waits for it; resolves once they have it. */
  async settle(outcome: Decision | Answer): Promise<void> {
    const id = "approvalId" in outcome ? outcome.approvalId : outcome.questionId;
    this.#early.delete(id);
    const open = this.#open.get(id);
    open?.settle(outcome);
    await open?.promise;
  }

  cancel(approvalId: string, why: string): void {
    this.#open.get(approvalId)?.fail(cancelled(why));
  }

  /** What was decided while too much was missed to be replayed is asked for (CONN-4). */
  again(): void {
    for (const open of this.#open.values()) open.again();
  }

  #wait<T extends Decision | Answer>(
    kind: "approval" | "question",
    id: string,
    run: Asker,
    put: () => Promise<T | undefined>,
  ): Promise<T> {
    const why = () => cancelled((run.signal.reason as Error).message);
    if (run.signal.aborted) return Promise.reject(why());
    const known = this.#open.get(id);
    if (known) return known.promise as Promise<T>;
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const stop = () => fail(why());
    const close = () => {
      this.#open.delete(id);
      run.signal.removeEventListener("abort", stop);
    };
    const fail = (error: Error) => {
      close();
      reject(error);
    };
    const settle = (outcome: T) => {
      close();
      resolve(outcome);
    };
    const again = () =>
      void put().then(
        (outcome) => outcome && settle(outcome),
        (error: unknown) => fail(asError(error)),
      );
    run.signal.addEventListener("abort", stop);
    const waits = { promise, settle: settle as Open["settle"], fail, again };
    this.#open.set(id, { ...waits, runId: run.runId, kind });
    again();
    // Who looks at it only later must not end the process now.
    promise.catch(() => {});
    return promise;
  }

  async #lookUp(approvalId: string): Promise<Decision | undefined> {
    interface Item {
      approval_id: string;
      state: ApprovalState;
      decided?: Told;
    }
    let cursor: string | undefined;
    do {
      const query = { limit: 200, cursor };
      const page = await this.#client.http.get<{ items: Item[]; next?: string }>("/v1/approvals", query);
      const item = page.items.find((one) => one.approval_id === approvalId);
      if (item) return item.decided && decided(approvalId, item.decided);
      cursor = page.next;
    } while (cursor !== undefined);
    return undefined;
  }
}
