/**
 * A stand-in for a person's office, in this process: what it does of offers, endings, reports and acts follows
 * `spec/office.md`, so that an agent's client can be killed against it at any step.
 */
import type { SocketConstructor, SocketEvent, SocketLike } from "../../src/sdk/connection.ts";

export interface Frame {
  id: string;
  replyTo?: string;
  type: string;
  payload: Record<string, unknown>;
}
type Payload = Record<string, unknown>;

interface FakeItem {
  id: string;
  state: "queued" | "active" | "ended";
  offer: Payload;
  offered: boolean;
  /** A person has stopped it: the agent has yet to hear of it. */
  stopped?: string;
  outcomes: { type: string; payload: Payload }[];
  journal: { id: string; text: string }[];
  progress: string[];
  /** An ending that the agent has not asked to report yet. */
  unreported?: { kind: string; text: string };
}

export const WORKSPACE = "ws_01K4ZQPX000000000000000001";
export const TOKEN = `bp_${WORKSPACE.slice(3)}_01K4ZQPX000000000000000002_${"a".repeat(43)}`;
export const SPACE = "spc_01K4ZQPX000000000000000003";
export const ROOT = "msg_01K4ZQPX000000000000000004";
export const ANNA = "usr_01K4ZQPX000000000000000005";

const thread = {
  channel: SPACE,
  thread: ROOT,
  requester: { id: ANNA, name: "Anna" },
  direct: false,
  participant: true,
};

/** One socket as the office sees it. */
export class OfficeSocket implements SocketLike {
  readonly #listeners = new Map<string, ((event: SocketEvent) => void)[]>();
  readonly sent: Frame[] = [];
  readonly url: string;
  readonly #office: FakeOffice;
  open = true;
  closedByClient: number | undefined;

  constructor(office: FakeOffice, url: string) {
    this.#office = office;
    this.url = url;
  }
  addEventListener(type: string, listener: (event: SocketEvent) => void): void {
    this.#listeners.set(type, [...(this.#listeners.get(type) ?? []), listener]);
  }
  send(text: string): void {
    if (!this.open) return;
    const frame = JSON.parse(text) as Frame;
    this.sent.push(frame);
    this.#office.receive(this, frame);
  }
  close(code?: number): void {
    this.closedByClient = code;
    this.#office.gone(this);
    this.emit("close", { code: code ?? 1005, reason: "" });
  }
  emit(type: string, event: SocketEvent = {}): void {
    for (const listener of this.#listeners.get(type) ?? []) listener(event);
  }
  /** The office's end of it: as a network that goes, or with a code. */
  drop(code = 1006, reason = ""): void {
    this.#office.gone(this);
    this.emit("close", { code, reason });
  }
  of(type: string): Frame[] {
    return this.sent.filter((frame) => frame.type === type);
  }
}

/** How an answer is given: as the office would, by a refusal, or not at all. */
export type Answer = { type: string; payload: Payload } | "lost" | undefined;

export class FakeOffice {
  readonly sockets: OfficeSocket[] = [];
  readonly items = new Map<string, FakeItem>();
  /** Reports that wait to be confirmed, by id. */
  readonly reports = new Map<string, Payload>();
  readonly confirmed: string[] = [];
  readonly acts = new Map<string, { id: string; ops: unknown[] }>();
  readonly actResults: Payload[] = [];
  readonly answers: Payload[] = [];
  readonly WebSocket: SocketConstructor;
  heartbeatMs = 30_000;
  team: Payload = {};
  /** `open`, or refused with this close code after an error. */
  refuse: { code: string; close: number } | undefined;
  greets = true;
  /** Answers a frame in another way than usual. */
  onFrame: (frame: Frame) => Answer = () => undefined;
  #granted: { socket: OfficeSocket; report: Payload } | undefined;
  #quiet = new WeakSet<OfficeSocket>();
  #n = 0;

  constructor() {
    this.WebSocket = socketsOf(this);
  }

  get socket(): OfficeSocket {
    const socket = this.sockets.at(-1);
    if (!socket) throw new Error("no socket was opened");
    return socket;
  }

  #live(): OfficeSocket | undefined {
    const socket = this.sockets.at(-1);
    return socket?.open && socket.of("hello").length > 0 ? socket : undefined;
  }

  /** Queues an item, which is offered as soon as the agent is free. */
  queue(id: string, more: { origin?: boolean; kind?: string } = {}): FakeItem {
    const { origin = true, kind = "chat" } = more;
    const workItem = {
      id,
      kind,
      title: `Title of ${id}`,
      priority: 10,
      trigger: "human",
      ...(origin ? { origin: thread } : {}),
    };
    const offer = { workItem, context: { journal: [], subjects: [], links: [] } };
    const item: FakeItem = {
      id,
      state: "queued",
      offer,
      offered: false,
      outcomes: [],
      journal: [],
      progress: [],
    };
    this.items.set(id, item);
    this.offerNext();
    return item;
  }

  /** Another round of an item that has ended. */
  again(id: string): void {
    const item = this.#item(id);
    item.state = "queued";
    item.offered = false;
    this.offerNext();
  }

  /** A person stops it; the agent hears of it with the next thing that it says. */
  stop(id: string, by: string): void {
    const item = this.#item(id);
    item.state = "ended";
    item.stopped = `stopped by ${by}`;
  }

  act(id: string, ops: unknown[]): void {
    this.acts.set(id, { id, ops });
    this.push("act", { id, ops });
  }

  push(type: string, payload: Payload, id = `o${++this.#n}`): void {
    const socket = this.#live();
    if (socket) this.#send(socket, { id, type, payload });
  }

  offerNext(): void {
    const socket = this.#live();
    if (!socket || this.#quiet.has(socket)) return;
    const all = [...this.items.values()];
    if (all.some(({ state, offered }) => state === "active" || (state === "queued" && offered))) return;
    const next = all.find(({ state }) => state === "queued");
    if (!next) return;
    next.offered = true;
    this.#send(socket, { id: `o${++this.#n}`, type: "offer", payload: next.offer });
  }

  /** The socket is no more: what the agent has not spoken after is not taken for posted (REPORT-2). */
  gone(socket: OfficeSocket): void {
    if (!socket.open) return;
    socket.open = false;
    if (this.#granted?.socket === socket) {
      this.reports.set(String(this.#granted.report["id"]), this.#granted.report);
      this.#granted = undefined;
    }
    for (const item of this.items.values()) {
      item.offered = false;
      if (item.unreported) this.#queueReport(item, `rpt_${item.id}_${item.outcomes.length}`);
    }
  }

  receive(socket: OfficeSocket, frame: Frame): void {
    if (!socket.open) return;
    const answer = this.onFrame(frame);
    if (answer === "lost") return;
    if (answer) {
      this.#reply(socket, frame, answer.type, answer.payload);
      return;
    }
    if (frame.type === "hello") this.#hello(socket, frame);
    else {
      if (this.#granted?.socket === socket) this.#granted = undefined;
      this.#request(socket, frame);
      this.offerNext();
    }
  }

  #hello(socket: OfficeSocket, frame: Frame): void {
    if (!this.greets) return;
    if (this.refuse) {
      const { code, close } = this.refuse;
      this.#reply(socket, frame, "error", { code, message: "No." });
      queueMicrotask(() => socket.drop(close));
      return;
    }
    for (const other of this.sockets) if (other !== socket && other.open) other.drop(4409, "replaced");
    const resume = [...this.items.values()].filter(({ state }) => state === "active").map(({ id }) => id);
    this.#reply(socket, frame, "welcome", {
      protocolVersion: 3,
      heartbeatMs: this.heartbeatMs,
      team: this.team,
      resume,
      ...(this.reports.size > 0 ? { reports: [...this.reports.values()] } : {}),
      ...(this.acts.size > 0 ? { acts: [...this.acts.values()] } : {}),
    });
    this.offerNext();
  }

  #request(socket: OfficeSocket, frame: Frame): void {
    const { type, payload } = frame;
    const ack = (): void => this.#reply(socket, frame, "ack", {});
    const refuse = (code: string, message: string): void =>
      this.#reply(socket, frame, "error", { code, message });
    const id = textOf(payload["workItemId"]);
    const item = this.items.get(id);
    if (item?.stopped !== undefined && !["handback", "fail", "accept"].includes(type)) {
      refuse("unknown_item", item.stopped);
      return;
    }
    switch (type) {
      case "pong":
      case "error":
        return;
      case "accept":
        if (!item) return refuse("unknown_item", "There is no such item of yours.");
        if (item.state === "active") return ack();
        if (!item.offered) return refuse("invalid", "It is not offered.");
        item.state = "active";
        item.offered = false;
        delete item.stopped;
        return ack();
      case "decline":
        if (item) item.offered = true;
        return ack();
      case "handback":
      case "fail":
        return this.#end(socket, frame, item, ack, refuse);
      case "journal": {
        const text = String(payload["text"]);
        const known = item?.journal.some((line) => line.id === frame.id && line.text === text);
        if (!known) item?.journal.push({ id: frame.id, text });
        return ack();
      }
      case "progress":
        item?.progress.push(String(payload["text"]));
        return ack();
      case "chat_report":
        return this.#grant(socket, frame, item);
      case "report_posted":
        this.reports.delete(String(payload["id"]));
        this.confirmed.push(String(payload["id"]));
        return ack();
      case "act_result":
        if (this.acts.delete(String(payload["id"]))) this.actResults.push(payload);
        return ack();
      case "answer":
        this.answers.push(payload);
        return ack();
      case "ask":
        return this.#reply(socket, frame, "ask_result", { id: "q1", to: payload["to"], status: "pending" });
      case "work_list":
        return this.#reply(socket, frame, "work_list_result", { items: [] });
      default:
        return ack();
    }
  }

  #end(
    socket: OfficeSocket,
    { type, payload }: Frame,
    item: FakeItem | undefined,
    ack: () => void,
    refuse: (code: string, message: string) => void,
  ): void {
    if (!item) return refuse("unknown_item", "There is no such item of yours.");
    if (item.stopped !== undefined) {
      delete item.stopped;
      return ack();
    }
    const last = item.outcomes.at(-1);
    if (item.state !== "active") {
      const same = JSON.stringify(last) === JSON.stringify({ type, payload });
      return same ? ack() : refuse("invalid", "It is not active, and ended in another way.");
    }
    item.outcomes.push({ type, payload });
    item.state = "ended";
    const { status } = payload;
    if (status === "interrupted") {
      item.state = "queued";
      item.offer = { ...item.offer, interrupted: true };
      this.#quiet.add(socket);
    } else if (status !== "silent" && "origin" in (item.offer["workItem"] as object))
      item.unreported = { kind: "result", text: String(payload["summary"] ?? payload["reason"]) };
    ack();
  }

  #grant(socket: OfficeSocket, frame: Frame, item: FakeItem | undefined): void {
    const links: unknown[] = [];
    if (!item?.unreported) return this.#reply(socket, frame, "chat_report_result", { post: false, links });
    const grant = { requester: ANNA, links, threads: [thread] };
    const report = { id: frame.id, workItemId: item.id, ...item.unreported, ...grant };
    delete item.unreported;
    this.#granted = { socket, report };
    this.#reply(socket, frame, "chat_report_result", { post: true, ...grant });
  }

  #queueReport(item: FakeItem, id: string): void {
    const report = { requester: ANNA, links: [], threads: [thread] };
    this.reports.set(id, { id, workItemId: item.id, ...item.unreported, ...report });
    delete item.unreported;
  }

  #item(id: string): FakeItem {
    const item = this.items.get(id);
    if (!item) throw new Error(`no item ${id}`);
    return item;
  }

  #reply(socket: OfficeSocket, to: Frame, type: string, payload: Payload, id = `o${++this.#n}`): void {
    this.#send(socket, { id, replyTo: to.id, type, payload });
  }

  /** Arrives a moment later, in order, and only while the socket is open. */
  #send(socket: OfficeSocket, frame: Frame): void {
    queueMicrotask(() => {
      if (socket.open) socket.emit("message", { data: JSON.stringify(frame) });
    });
  }
}

/** A `WebSocket` whose every instance is the office's newest socket. */
function socketsOf(office: FakeOffice): SocketConstructor {
  return class extends OfficeSocket {
    constructor(url: string) {
      super(office, url);
      office.sockets.push(this);
      queueMicrotask(() => this.emit("open"));
    }
  };
}

/** Text of a payload, or none. */
function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** A room that takes each key once (ENV-4), and what stands in it. */
export class FakeRoom {
  readonly said: { space_id: string; text: string; reply_to?: string; key: string }[] = [];
  /** Fails a post instead of taking it. */
  onPost: (event: Payload) => Response | undefined = () => undefined;

  fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    const { pathname } = new URL(request.url);
    if (request.method === "GET" && pathname.endsWith("/members"))
      return Response.json({ items: [{ participant_id: ANNA, handle: "Anna" }] });
    if (pathname !== "/v1/events") return new Response("", { status: 404 });
    const event = (await request.json()) as Payload;
    const refused = this.onPost(event);
    if (refused) return refused;
    if (event["type"] === "space.create") return Response.json({ receipts: [{ space_id: SPACE }] });
    const key = String(event["idempotency_key"]);
    if (!this.said.some((one) => one.key === key))
      this.said.push({
        key,
        space_id: String(event["space_id"]),
        text: String(event["text"]),
        ...(event["reply_to"] === undefined ? {} : { reply_to: textOf(event["reply_to"]) }),
      });
    return Response.json({ receipts: [{}] });
  };
}
