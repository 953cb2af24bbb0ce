/** An agent of the office: one connection, its items one after the other, and nothing lost over a crash (OFF). */

import { type Clock, systemClock } from "../sdk/clock.ts";
import type { SocketConstructor } from "../sdk/connection.ts";
import { BullpenHttp, type Fetch } from "../sdk/http.ts";
import { parseToken } from "../shared/token.ts";
import {
  type AgentPayload,
  type AgentRequest,
  ANSWERS,
  type AnswerTo,
  type AnyFrame,
  PROTOCOL_VERSION,
} from "../shared/wire/agent/index.ts";
import { handle as handleSchema, type Team, team as teamSchema } from "../shared/wire/team.ts";
import { Acts, type OnAct } from "./acts.ts";
import { asError, OfficeError } from "./errors.ts";
import { fileStore } from "./file-store.ts";
import { frameId, readPayload } from "./frames.ts";
import { Items, type OnItem, type OnOffer } from "./items.ts";
import { Ledger } from "./ledger.ts";
import { type AgentStatus, type AgentWelcome, Link } from "./link.ts";
import { type Kept, Outbox } from "./outbox.ts";
import { Pulse } from "./pulse.ts";
import { type OnReport, Reports } from "./reports.ts";
import { type AskOptions, Requests } from "./requests.ts";
import type { AgentStore } from "./store.ts";
import { Timers } from "./timers.ts";

export interface AgentOptions {
  /** The server's origin, http or https. */
  url: string;
  /** Whose agent it is: the handle of a person of the team. */
  handle: string;
  /** That person's agent token. The workspace is in it. */
  token: string;
  /** The workspace's id, where the token does not say it. */
  workspace?: string | undefined;
  /** A folder for what must survive a crash; one for each agent. */
  stateDir?: string | undefined;
  /** Another place for it. One of `stateDir` and `store` is needed. */
  store?: AgentStore | undefined;
  /** Does an item; what it returns is the hand-back, what it throws a failure. */
  onItem: OnItem;
  /** Looks at an offer before it is accepted; may decline it. */
  onOffer?: OnOffer | undefined;
  /** Makes one change of an act, once a key (ACT-1). Without it every act is answered as failed. */
  onAct?: OnAct | undefined;
  /** Posts a report; without it reports are posted in rooms, as this agent. */
  onReport?: OnReport | undefined;
  /** The team's config, at first and whenever another one comes. */
  onTeam?: ((team: Team) => unknown) | undefined;
  onStatus?: ((status: AgentStatus) => void) | undefined;
  /** What nobody awaits. Default: `console.error`. */
  onError?: ((error: Error) => void) | undefined;
  /** What the items run on, told with each `accept`. Default: what the team's config says of this person. */
  runtime?: string | undefined;
  model?: string | undefined;
  agentVersion?: string | undefined;
  clock?: Clock | undefined;
  fetch?: Fetch | undefined;
  webSocket?: SocketConstructor | undefined;
}

type CamelCase<T extends string> = T extends `${infer A}_${infer B}` ? `${A}${Capitalize<CamelCase<B>>}` : T;
type Helped = Exclude<AgentRequest, "hello" | "ping">;
/** Requests that may be asked without saying anything. */
type Bare = {
  [K in Helped]: string extends keyof AgentPayload<K>
    ? K
    : Partial<AgentPayload<K>> extends AgentPayload<K>
      ? K
      : never;
}[Helped];
/** A method for each request of the protocol: `workMade` sends `work_made`. */
export type AgentHelpers = {
  [T in Helped as CamelCase<T>]: T extends Bare
    ? (payload?: AgentPayload<T>, options?: AskOptions) => Promise<AgentPayload<AnswerTo<T>>>
    : (payload: AgentPayload<T>, options?: AskOptions) => Promise<AgentPayload<AnswerTo<T>>>;
};

/** A connected agent. The methods of `AgentHelpers` speak for it outside of any item's object. */
export interface Agent extends AgentHelpers {
  readonly http: BullpenHttp;
  /** The first welcome; rejects when the office refuses for good before it. */
  readonly ready: Promise<AgentWelcome>;
  /** Resolves when it has ended for good, with the reason unless it was `close`. */
  readonly closed: Promise<OfficeError | undefined>;
  readonly welcome: AgentWelcome | undefined;
  /** The items that it is on. */
  readonly active: readonly string[];
  /** Any request. Sent again after a reconnect, until it is answered. */
  request<T extends Helped>(
    type: T,
    payload: AgentPayload<T>,
    options?: AskOptions,
  ): Promise<AgentPayload<AnswerTo<T>>>;
  /** Hands back what runs as interrupted, and leaves. */
  close(options?: { timeoutMs?: number }): Promise<void>;
}

const CLOSE_MS = 10_000;
const KEPT: ReadonlySet<string> = new Set<Kept>([
  "handback",
  "fail",
  "answer",
  "journal",
  "act_result",
  "report_posted",
]);

const ENDING: ReadonlySet<string> = new Set([
  "unauthenticated",
  "auth_failed",
  "version_mismatch",
  "replaced",
]);

/** Connects as a person's agent. It resumes and reconnects by itself until closed or refused (OFF-2, OFF-3). */
export function connectAgent(options: AgentOptions): Agent {
  return new AgentClient(options) as unknown as Agent;
}

interface Parts {
  ledger: Ledger;
  outbox: Outbox;
  reports: Reports;
  acts: Acts;
  items: Items;
}

class AgentClient {
  readonly http: BullpenHttp;
  readonly ready: Promise<AgentWelcome>;
  readonly closed: Promise<OfficeError | undefined>;
  welcome: AgentWelcome | undefined;
  readonly #options: AgentOptions;
  readonly #clock: Timers;
  readonly #ready = Promise.withResolvers<AgentWelcome>();
  readonly #closed = Promise.withResolvers<OfficeError | undefined>();
  readonly #link: Link;
  readonly #requests: Requests;
  readonly #pulse: Pulse;
  readonly #leaving = new AbortController();
  /** What works on the state; there once the state was read. */
  readonly #opened: Promise<Parts | undefined>;
  #parts: Parts | undefined;
  #team: string | undefined;

  constructor(options: AgentOptions) {
    const { url, token, handle, fetch } = options;
    this.#options = options;
    this.#clock = new Timers(options.clock ?? systemClock);
    this.http = new BullpenHttp({ url, token, fetch });
    this.ready = this.#ready.promise;
    this.closed = this.#closed.promise;
    // Whoever does not await it has `closed` and `onStatus`.
    this.ready.catch(() => {});
    const workspace = workspaceOf(options);
    const path = `/v1/workspaces/${workspace}/people/${handle}/agent`;
    this.#link = new Link({
      address: this.http.url(path).href.replace(/^http/, "ws"),
      hello: {
        person: handle,
        token,
        protocolVersion: PROTOCOL_VERSION,
        agentVersion: options.agentVersion ?? "bullpen/agent",
      },
      clock: this.#clock,
      WebSocket: options.webSocket ?? globalThis.WebSocket,
      onWelcome: (welcome) => this.#welcomed(welcome),
      onFrame: (frame) => this.#receive(frame),
      onLost: () => this.#lost(),
      onStatus: (status) => this.#changed(status),
    });
    this.#requests = new Requests(
      (frame) => this.#link.send(frame),
      this.#clock,
      (_, payload, error) => this.#refused(payload, error),
    );
    this.#pulse = new Pulse({
      link: this.#link,
      requests: this.#requests,
      clock: this.#clock,
      active: () => this.active,
    });
    this.#opened = this.#open(`${workspace}/${handle}`);
  }

  get active(): readonly string[] {
    return this.#parts?.items.active ?? [];
  }

  async request<T extends Helped>(
    type: T,
    payload: AgentPayload<T>,
    options: AskOptions = {},
  ): Promise<AgentPayload<AnswerTo<T>>> {
    if (!isKept(type)) return await this.#requests.ask(type, payload, options);
    const parts = await this.#opened;
    if (!parts) throw (await this.closed) ?? new OfficeError("closed", "The agent has left.");
    const { lane } = laneOf(type, payload);
    await parts.outbox.add(type, payload as AgentPayload<Kept>, lane).answered;
    return {};
  }

  async close({ timeoutMs = CLOSE_MS }: { timeoutMs?: number } = {}): Promise<void> {
    const parts = await this.#opened;
    this.#leaving.abort();
    // Refused or replaced meanwhile, there is nothing more to wait for.
    await Promise.race([parts?.items.close(timeoutMs), this.closed]);
    this.#link.close();
  }

  async #open(of: string): Promise<Parts | undefined> {
    const { onItem, onOffer, onAct, onReport, stateDir, store, handle } = this.#options;
    const link = this.#link;
    const requests = this.#requests;
    const clock = this.#clock;
    const onError = (error: Error): void => this.#fault(error);
    try {
      if (!store && stateDir === undefined)
        throw new OfficeError("invalid", "Give connectAgent a stateDir (a folder of its own), or a store.");
      const ledger = await Ledger.open(store ?? fileStore(stateDir ?? ""), of, (error) => link.close(error));
      const outbox = new Outbox(ledger, requests, clock, {
        onError,
        onDone: (entry, refusal) => {
          items.done(entry, refusal);
          reports.next();
        },
      });
      const reports = new Reports({
        ledger,
        link,
        requests,
        outbox,
        http: this.http,
        clock,
        onReport,
        onError,
      });
      const acts = new Acts({ ledger, outbox, onAct, signal: this.#leaving.signal, onError });
      const runtime = () => this.#runtime();
      const parts = { handle, link, ledger, requests, outbox, reports, clock };
      const items: Items = new Items({ ...parts, onItem, onOffer, onError, runtime });
      this.#parts = { ledger, outbox, reports, acts, items };
      if (!this.#leaving.signal.aborted) link.connect();
      return this.#parts;
    } catch (error) {
      const known = error instanceof OfficeError;
      link.close(known ? error : new OfficeError("failed", `The agent's state: ${asError(error).message}`));
      return undefined;
    }
  }

  #welcomed(welcome: AgentWelcome): void {
    const parts = this.#parts;
    if (!parts) return;
    this.welcome = welcome;
    this.#ready.resolve(welcome);
    this.#pulse.start(welcome.heartbeatMs);
    this.#tellTeam(welcome);
    this.#requests.online();
    parts.outbox.online();
    parts.reports.online();
    const fault = (error: unknown): void => this.#fault(asError(error));
    parts.items.welcome(welcome.resume).catch(fault);
    parts.reports.take(welcome.reports ?? []).catch(fault);
    for (const act of welcome.acts ?? []) parts.acts.take(act);
  }

  #lost(): void {
    this.#pulse.stop();
    this.#parts?.outbox.offline();
    this.#parts?.reports.offline();
    this.#parts?.items.offline();
    this.#requests.offline();
  }

  #receive(frame: AnyFrame): void {
    if (this.#requests.answer(frame)) return;
    const { type, payload } = frame;
    if (type === "ping") this.#link.send({ id: frameId(), replyTo: frame.id, type: "pong", payload: {} });
    else if (type === "offer") this.#parts?.items.offered(frame);
    else if (type === "act" || type === "reports" || type === "error") this.#told(type, payload);
  }

  #told(type: "act" | "reports" | "error", payload: unknown): void {
    const fault = (said: string): void => this.#fault(new OfficeError("failed", said));
    if (type === "error") {
      const read = readPayload("error", payload);
      // What ends the connection is told by its end.
      if (read.ok && !ENDING.has(read.payload.code))
        this.#fault(new OfficeError(read.payload.code, read.payload.message));
    } else if (type === "act") {
      const read = readPayload("act", payload);
      if (read.ok) this.#parts?.acts.take(read.payload);
      else fault(`An act is not understood: ${read.fault}.`);
    } else {
      const read = readPayload("reports", payload);
      if (read.ok)
        this.#parts?.reports
          .take(read.payload.reports)
          .catch((error: unknown) => this.#fault(asError(error)));
      else fault(`Reports are not understood: ${read.fault}.`);
    }
  }

  /** Whatever was asked: an item that is said to be not ours any more is ended (OFFER-7). */
  #refused(payload: object, error: OfficeError): void {
    if (error.code !== "unknown_item" || !("workItemId" in payload)) return;
    this.#parts?.items.stopped(String(payload.workItemId), error.message);
  }

  #changed(status: AgentStatus): void {
    if (status.state === "stopped") this.#stopped(status.error);
    this.#options.onStatus?.(status);
  }

  #stopped(error: OfficeError | undefined): void {
    const why = error ?? new OfficeError("closed", "The agent has left.");
    this.#leaving.abort();
    this.#pulse.stop();
    this.#parts?.outbox.stop();
    this.#parts?.reports.stop();
    this.#parts?.items.stop(why);
    if (why.code === "replaced") this.#parts?.outbox.disown();
    this.#requests.fail(why);
    this.#ready.reject(why);
    this.#clock.end();
    this.#closed.resolve(error);
  }

  #tellTeam(welcome: AgentWelcome): void {
    const text = JSON.stringify(welcome.team);
    if (text === this.#team) return;
    this.#team = text;
    const parsed = teamSchema.safeParse(welcome.team);
    if (!parsed.success) {
      this.#fault(new OfficeError("failed", "The team's config is not understood: update this agent."));
      return;
    }
    try {
      Promise.resolve(this.#options.onTeam?.(parsed.data)).catch((error: unknown) =>
        this.#fault(asError(error)),
      );
    } catch (error) {
      this.#fault(asError(error));
    }
  }

  #runtime(): { runtime: string; model: string } {
    const { handle, runtime, model } = this.#options;
    const parsed = teamSchema.safeParse(this.welcome?.team);
    const person = parsed.success ? parsed.data.people.find((one) => one.handle === handle) : undefined;
    return {
      runtime: runtime ?? person?.runtime ?? "custom",
      model: model ?? person?.model ?? "unknown",
    };
  }

  #fault(error: Error): void {
    (this.#options.onError ?? ((one: Error) => console.error(one)))(error);
  }
}

// A helper for each request, by the table of the protocol itself: none can be forgotten.
for (const type of Object.keys(ANSWERS) as AgentRequest[]) {
  if (type === "hello" || type === "ping") continue;
  const name = type.replace(/_(\w)/gu, (_, letter: string) => letter.toUpperCase());
  Object.defineProperty(AgentClient.prototype, name, {
    value(this: AgentClient, payload: AgentPayload<typeof type> = {}, options?: AskOptions) {
      return this.request(type, payload, options);
    },
  });
}

function isKept(type: AgentRequest): type is Kept {
  return KEPT.has(type);
}

function laneOf(type: Kept, payload: object): { lane: string } {
  const field =
    { answer: "questionId", act_result: "id", report_posted: "id" }[type as string] ?? "workItemId";
  return { lane: String((payload as Record<string, unknown>)[field]) };
}

/** The workspace of a token; a handle that could lead elsewhere is refused before it is part of an address. */
function workspaceOf({ token, workspace, handle }: AgentOptions): string {
  if (!handleSchema.safeParse(handle).success)
    throw new OfficeError("invalid", `${JSON.stringify(handle)} is no handle of a person.`);
  const id = workspace ?? parseToken(token)?.workspaceId;
  if (id === undefined)
    throw new OfficeError(
      "invalid",
      "This is no token of Bullpen: it begins with bp_ and names its workspace.",
    );
  return encodeURIComponent(id);
}
