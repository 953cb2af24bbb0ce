/** Random work in two real offices, step by step beside a simple model: what people and agents do to items. */
import { abortAllDurableObjects, evictDurableObject, runDurableObjectAlarm } from "cloudflare:test";
import { vi } from "vitest";
import { possible } from "../../src/shared/rules/item-states.ts";
import { type Any, newId } from "./client.ts";
import {
  type Agent,
  anOffice,
  connected,
  type Desk,
  delivered,
  eventually,
  handbackOf,
  patch,
  queue,
  seen,
  wakeOf,
} from "./office.ts";
import { check, type Known, offeredOf, same } from "./office-check.ts";
import { HANDLES, type Handle, type Item, type Op, type Said } from "./office-steps.ts";

/** No step takes so long, and no end. */
const STEP_MS = 30_000;
const END_MS = 60_000;
const other = (who: Handle): Handle => (who === "scout" ? "bob" : "scout");

export class OfficeWorld implements Known {
  readonly faults: string[] = [];
  readonly items: Item[] = [];
  readonly desks: Record<Handle, Desk>;
  readonly agents: Partial<Record<Handle, Agent>> = {};
  /** The connection on which nothing is offered any more. */
  readonly quiet = new Set<Agent>();
  readonly said: Said[] = [];
  #count = 0;

  constructor(desks: Record<Handle, Desk>) {
    this.desks = desks;
  }
  static async open(): Promise<OfficeWorld> {
    const scout = await anOffice();
    return new OfficeWorld({ scout, bob: await anOffice({}, scout.workspace, "bob") });
  }

  /** Half of the time one that an agent is on: most of what can go wrong goes wrong there. */
  #pick(n: number): Item | undefined {
    const on = this.items.filter((i) => i.state === "active" || i.held);
    const among = n % 2 === 0 && on.length > 0 ? on : this.items;
    return among[Math.floor(n / 2) % Math.max(1, among.length)];
  }
  #active(who: Handle): Item | undefined {
    return this.items.find((i) => i.at === who && i.state === "active");
  }

  /** Sends a request of a person's agent; what it was answered. */
  async #ask(
    who: Handle,
    type: string,
    payload: { workItemId: string } & Record<string, unknown>,
  ): Promise<Any> {
    const agent = this.agents[who];
    if (!agent) return undefined;
    const frame = { id: newId("evt"), type, payload };
    const said: Said = { who, item: payload.workItemId, frame, connection: agent };
    this.said.push(said);
    said.answer = await this.#send(agent, frame);
    return said.answer;
  }
  async #send(agent: Agent, frame: { id: string }): Promise<Any> {
    const from = agent.frames.length;
    agent.ws.send(JSON.stringify(frame));
    return agent.next((f) => f.replyTo === frame.id, from);
  }

  /** Takes a step; one that never ends is a fault like any other. */
  async run(step: Op): Promise<void> {
    await this.#within(STEP_MS, JSON.stringify(step), this.#run(step));
  }
  async #within(ms: number, what: string, work: Promise<void>): Promise<void> {
    let clock: ReturnType<typeof setTimeout> | undefined;
    const hangs = new Promise<never>((_, reject) => {
      clock = setTimeout(() => reject(new Error("does not end")), ms);
    });
    try {
      await Promise.race([work, hangs]);
    } catch (error) {
      this.faults.push(`${what}: ${error instanceof Error ? error.message : String(error)}`);
    } finally {
      clearTimeout(clock ?? null);
    }
  }
  async #run(step: Op): Promise<void> {
    if (step.op === "add") await this.#add(step.who);
    else if (step.op === "connect") await this.#connect(step.who);
    else if (step.op === "drop") await this.#drop(step.who);
    else if (step.op === "accept") await this.#either(step.who, (who) => this.#accept(who));
    else if (step.op === "decline") await this.#either(step.who, (who) => this.#decline(who));
    else if (step.op === "tell") await this.#either(step.who, (who) => this.#tell(who));
    else if (step.op === "late") await this.#either(step.who, (who) => this.#late(who));
    else if (step.op === "handback") await this.#either(step.who, (who) => this.#handback(who, step.status));
    else if (step.op === "feedback") await this.#feedback(this.#pick(step.n));
    else if (step.op === "move") await this.#move(this.#pick(step.n));
    else if (step.op === "place") await this.#place(this.#pick(step.n), step.n);
    else if (step.op === "stray") await this.#stray(this.#pick(step.n));
    else if (step.op === "patch") await this.#patch(this.#pick(step.n), step.to);
    else if (step.op === "repeat") await this.#repeat(step.n, step.sameId);
    else if (step.op === "jump") await this.#jump(step.minutes * 60_000, step.silent);
    else await this.#evict(step.op);
    await check(this, JSON.stringify(step));
  }

  /** Does something as one of the two, or as the other when there is nothing that the one could do. */
  async #either(who: Handle, act: (who: Handle) => Promise<boolean>): Promise<void> {
    if (!(await act(who))) await act(other(who));
  }

  async #add(who: Handle): Promise<void> {
    const ticket = `T-${this.items.length}`;
    const id = await queue(this.desks[who], ticket, { ticket, priority: (this.items.length * 7) % 4 });
    this.items.push({
      id,
      ticket,
      at: who,
      state: "queued",
      pending: 0,
      declines: 0,
      held: false,
      moving: false,
      accepted: 0,
    });
  }

  async #connect(who: Handle): Promise<void> {
    const agent = await connected(this.desks[who]);
    same(
      this,
      "resume",
      agent.frames[0].payload.resume,
      this.items.filter((i) => i.at === who && i.state === "active").map((i) => i.id),
    );
    const old = this.agents[who];
    if (old) same(this, "replaced", (await old.closed).code, 4409);
    this.agents[who] = agent;
    for (const item of this.items) if (item.at === who) this.#letGo(item);
  }
  async #drop(who: Handle): Promise<void> {
    const agent = this.agents[who];
    if (!agent) return;
    agent.ws.close(1000, "bye");
    delete this.agents[who];
    await eventually(async () => {
      if ((await seen(this.desks[who])).connected) throw new Error("still connected");
    });
  }

  #letGo(item: Item): void {
    item.held = false;
    if (!item.moving) return;
    item.moving = false;
    item.at = other(item.at);
  }

  async #accept(who: Handle): Promise<boolean> {
    const item = await offeredOf(this, who);
    if (!item || !this.agents[who]) return false;
    const answer = await this.#ask(who, "accept", { workItemId: item.id, runtime: "r", model: "m" });
    same(this, "accept", answer.type, "ack");
    item.state = "active";
    item.pending = 0;
    item.declines = 0;
    item.accepted += 1;
    delete item.outcome;
    return true;
  }
  async #decline(who: Handle): Promise<boolean> {
    const item = await offeredOf(this, who);
    if (!item || !this.agents[who]) return false;
    const answer = await this.#ask(who, "decline", { workItemId: item.id, reason: `no ${++this.#count}` });
    same(this, "decline", answer.type, "ack");
    item.declines += 1;
    if (item.declines < 5) return true;
    item.state = "blocked";
    item.declines = 0;
    return true;
  }

  async #handback(who: Handle, status: (Op & { op: "handback" })["status"]): Promise<boolean> {
    const item = this.#active(who);
    const agent = this.agents[who];
    if (!item || !agent) return false;
    const summary = `so ${++this.#count}`;
    const answer =
      status === "fail"
        ? await this.#ask(who, "fail", { workItemId: item.id, reason: summary })
        : await this.#ask(who, "handback", {
            ...handbackOf(item.id, { status, summary }),
            workItemId: item.id,
          });
    same(this, "handback", answer.type, "ack");
    this.#ended(item);
    const touched = this.said.some(
      (s) => s.connection === agent && s.item === item.id && ["accept", "progress"].includes(s.frame.type),
    );
    if (status === "interrupted" && touched) this.quiet.add(agent);
    const after = {
      done: "done",
      silent: "done",
      waiting: "waiting",
      blocked: "blocked",
      fail: "blocked",
    } as const;
    item.state = status === "interrupted" || item.pending > 0 ? "queued" : after[status];
    return true;
  }

  /** By what was said last. */
  #ended(item: Item): void {
    const last = this.said.at(-1);
    if (last) item.outcome = last.frame;
  }

  /** The agent speaks of something that was taken from it. */
  async #tell(who: Handle): Promise<boolean> {
    const item = this.items.find((i) => i.at === who && i.held) ?? this.#active(who);
    if (!item || !this.agents[who]) return false;
    const answer = await this.#ask(who, "progress", { workItemId: item.id, text: `at ${++this.#count}` });
    same(this, "progress", answer.payload.code, item.held ? "unknown_item" : undefined);
    if (item.held) this.#letGo(item);
    return true;
  }
  /** The agent hands back what was taken from it. */
  async #late(who: Handle): Promise<boolean> {
    const item = this.items.find((i) => i.at === who && i.held && i.state !== "active");
    if (!item || !this.agents[who]) return false;
    const answer = await this.#ask(who, "handback", {
      ...handbackOf(item.id, { summary: `late ${++this.#count}` }),
      workItemId: item.id,
    });
    same(this, "late", answer.type, "ack");
    this.#ended(item);
    this.#letGo(item);
    return true;
  }

  async #feedback(item: Item | undefined): Promise<void> {
    if (!item || item.moving || item.state === "canceled") return;
    const key = `c${++this.#count}`;
    await this.desks[item.at].letter(
      "wake",
      wakeOf({
        kind: "review_feedback",
        subject: { type: "ticket", ref: item.ticket },
        feedback: { key, actor: "anna", kind: "ticket_comment", body: key },
      }),
    );
    item.pending += 1;
    if (item.state !== "active") item.state = "queued";
  }

  async #move(item: Item | undefined): Promise<void> {
    if (!item || item.moving) return;
    const answer = await patch(this.desks[item.at], item.id, { person: other(item.at) });
    same(this, "move", answer.ok, item.state !== "done" && item.state !== "canceled");
    if (!answer.ok) return;
    item.held ||= item.state === "active";
    item.state = "queued";
    item.declines = 0;
    item.moving = item.held;
    if (!item.moving) item.at = other(item.at);
  }

  async #place(item: Item | undefined, n: number): Promise<void> {
    if (!item || item.moving) return;
    const position = n % 3 === 0 ? "next" : "last";
    const answer = await patch(this.desks[item.at], item.id, { position });
    same(this, "place", answer.ok, item.state === "queued");
  }

  async #patch(item: Item | undefined, to: (Op & { op: "patch" })["to"]): Promise<void> {
    if (!item || item.moving) return;
    const answer = await patch(this.desks[item.at], item.id, { status: to });
    same(this, "patch", answer.ok, item.state === to || possible(item.state, "person").includes(to));
    if (!answer.ok || item.state === to) return;
    if (item.state === "active") item.held = true;
    item.state = to;
    item.declines = 0;
  }

  /** Both agents speak of an item that they may not have: nothing changes by it. */
  async #stray(item: Item | undefined): Promise<void> {
    if (!item) return;
    for (const who of HANDLES) {
      const mine = item.at === who && (item.state === "active" || item.held);
      if (!this.agents[who] || mine || (await offeredOf(this, who)) === item) continue;
      await this.#ask(who, "accept", { workItemId: item.id, runtime: "r", model: "m" });
      await this.#ask(who, "progress", { workItemId: item.id, text: "?" });
    }
  }

  /** A frame once more, on the same connection with its id or on whatever there is now: nothing changes by it. */
  async #repeat(n: number, sameId: boolean): Promise<void> {
    const ended = this.said.filter(({ frame }) => this.items.some(({ outcome }) => outcome === frame));
    const among = n % 2 === 0 && ended.length > 0 ? ended : this.said;
    const earlier = among[Math.floor(n / 2) % Math.max(1, among.length)];
    const agent = earlier && this.agents[earlier.who];
    const item = earlier && this.items.find((i) => i.id === earlier.item);
    if (!agent || !item) return;
    if (sameId && agent === earlier.connection) {
      const { type, payload } = await this.#send(agent, earlier.frame);
      same(this, "repeat", [type, payload], [earlier.answer.type, earlier.answer.payload]);
      return;
    }
    // What says the same of a later round is no repeat.
    if (item.state === "active" || item.held || (await offeredOf(this, earlier.who)) === item) return;
    const { type } = await this.#send(agent, { ...earlier.frame, id: newId("evt") });
    if (item.outcome === earlier.frame && item.at === earlier.who && !item.moving)
      same(this, "repeated outcome", type, "ack");
  }

  async #evict(how: "hibernate" | "close" | "abort"): Promise<void> {
    for (const who of HANDLES) await this.desks[who].stub.rowCounts();
    if (how === "abort") await abortAllDurableObjects();
    else for (const who of HANDLES) await evictDurableObject(this.desks[who].stub, { webSockets: how });
    if (how !== "hibernate") for (const who of HANDLES) delete this.agents[who];
  }

  /** Time goes by: agents are heard, or so silent that the office closes their connections (OFF-6). */
  async #jump(ms: number, silent: boolean): Promise<void> {
    vi.setSystemTime(Date.now() + ms);
    for (const who of HANDLES) {
      const agent = this.agents[who];
      if (!agent) continue;
      // An alarm of the office's own that comes before the ping closes it as silent.
      if (silent) await runDurableObjectAlarm(this.desks[who].stub);
      if (await agent.ask("ping").catch(() => undefined)) continue;
      same(this, "silent", (await agent.closed).code, 4408);
      delete this.agents[who];
    }
    for (const who of HANDLES) await runDurableObjectAlarm(this.desks[who].stub);
    if (ms >= 120_000) for (const item of this.items) if (item.moving) this.#letGo(item);
  }

  /** Everybody comes back and works: then nothing is left that is queued or under way. */
  async finish(): Promise<void> {
    await this.#within(END_MS, "the end", this.#finish());
  }
  async #finish(): Promise<void> {
    for (const who of HANDLES) {
      await this.#connect(who);
      for (const item of this.items) if (item.at === who) item.declines = 0;
    }
    await this.#jump(16 * 60_000, false);
    for (const who of HANDLES) if (!this.agents[who]) await this.#connect(who);
    for (const who of HANDLES) await delivered(this.desks[who]);
    for (let rounds = 0; rounds < 20 * (this.items.length + 1); rounds++) {
      const open = this.items.filter((i) => i.state === "queued" || i.state === "active");
      if (open.length === 0) break;
      for (const who of HANDLES) {
        if (!open.some((i) => i.at === who)) continue;
        if (!this.#active(who)) {
          await eventually(async () => {
            if (!(await offeredOf(this, who))) throw new Error(`${who} is offered nothing`);
          });
          await this.#accept(who);
          if (!this.#active(who)) {
            const { connected: here, items } = await seen(this.desks[who]);
            this.faults.push(
              `${who} took nothing: ${JSON.stringify([here, Object.keys(this.agents), items])}`,
            );
            return;
          }
        }
        await this.#handback(who, "done");
      }
    }
    await check(this, "at the end");
    same(
      this,
      "left over",
      this.items.filter((i) => i.state === "queued" || i.state === "active"),
      [],
    );
  }
}
