/** Random conversations in a real room, step by step beside a model in memory. */
import { abortAllDurableObjects, evictDurableObject } from "cloudflare:test";
import {
  type Any,
  call,
  connect,
  newHarness,
  newPerson,
  newSpace,
  newWorkspace,
  type Party,
  roomStub,
  type Socket,
  verb,
} from "./client.ts";
import { type Actor, type Fact, Model } from "./model.ts";
import { as, declare, eventsOf, lasting, pulled, replay, settled, sql } from "./room.ts";

export const WHO = ["Ada", "Max", "Pat", "Gus", "Alpha", "Beta", "Plain"] as const;
export type Name = (typeof WHO)[number];

/** One step of a conversation; numbers choose among what there is, so that steps can be left out in shrinking. */
export type Op =
  | { op: "post"; by: Name; space: number; mention: Name | null; socket: boolean }
  | { op: "burst"; by: Name[]; space: number }
  | { op: "edit" | "delete"; by: Name; n: number }
  | { op: "join" | "leave"; who: Name; space: number }
  | { op: "rename"; by: Name }
  | { op: "title"; by: Name; space: number }
  | { op: "repeat"; n: number; changed: boolean }
  | { op: "drop" | "back"; who: Name }
  | { op: "sleep" | "close" | "abort" };

interface Viewer {
  party: Party;
  socket: Socket | undefined;
  /** What it was sent on all its connections. */
  got: Any[];
  /** What the model says it should have been sent. */
  due: { seq: number; type: string }[];
}

function anActor(handle: Name, kind: Actor["kind"], id: string, viewer = id): [Name, Actor] {
  return [handle, { id, kind, viewer, handle }];
}

/** A real room and its model, side by side; what differs is noted in `faults`. */
export class World {
  readonly faults: string[] = [];
  readonly model: Model;
  readonly id: string;
  readonly spaces: string[];
  readonly actors: Map<Name, Actor>;
  readonly viewers: Map<string, Viewer>;
  /** Accepted writes, for repeats: who, what, and the receipt. */
  readonly sent: { by: Party; event: Any; receipt: Any }[] = [];
  #count = 0;

  constructor(id: string, spaces: string[], actors: Map<Name, Actor>, parties: Party[]) {
    this.id = id;
    this.spaces = spaces;
    this.actors = actors;
    this.model = new Model([...actors.values()]);
    for (const space of spaces) this.model.inside.set(space, new Set());
    this.viewers = new Map(
      parties.map((party) => [party.id, { party, socket: undefined, got: [], due: [] }]),
    );
  }

  static async open(): Promise<World> {
    const { id, owner } = await newWorkspace();
    const [max, pat, gus] = [
      await newPerson(owner, "Max"),
      await newPerson(owner, "Pat"),
      await newPerson(owner, "Gus", "guest"),
    ];
    const [team, plain] = [await newHarness(owner, "Team"), await newHarness(owner, "Plain")];
    const [alpha = "", beta = ""] = await declare(team, "Alpha", "Beta");
    const actors = new Map([
      anActor("Ada", "person", owner.id),
      anActor("Max", "person", max.id),
      anActor("Pat", "person", pat.id),
      anActor("Gus", "guest", gus.id),
      anActor("Alpha", "agent", alpha, team.id),
      anActor("Beta", "agent", beta, team.id),
      anActor("Plain", "agent", plain.id),
    ]);
    const spaces = [
      await newSpace(owner, "One", [max.id, alpha, beta]),
      await newSpace(owner, "Two", [pat.id, gus.id, plain.id]),
    ];
    const world = new World(id, spaces, actors, [owner, max, pat, gus, team, plain]);
    // The beginning is taken from the log: its making is not what is looked at here.
    for (const row of await sql(id, "SELECT seq, type, space_id, body FROM log ORDER BY seq")) {
      const { participant_id, agent_id } = JSON.parse(row.body);
      world.#took(
        { type: row.type, space: row.space_id ?? undefined, subject: participant_id ?? agent_id },
        row.seq,
      );
    }
    return world;
  }

  #same(what: string, got: unknown, wanted: unknown): void {
    const [a, b] = [JSON.stringify(got), JSON.stringify(wanted)];
    if (a !== b) this.faults.push(`${what}: ${a} is not ${b}`);
  }

  /** Appends a fact to the model, and says who is due it. */
  #took(fact: Omit<Fact, "seq">, seq: number): void {
    const whole = this.model.append(fact, seq);
    for (const [id, viewer] of this.viewers) {
      const type = viewer.socket && this.model.frameType(id, whole);
      if (type) viewer.due.push({ seq, type });
    }
  }

  /** Sends a verb on the socket or over HTTP; hands back its receipt or error. */
  async #send(who: Name, event: Any, bySocket = false): Promise<Any> {
    const actor = this.actors.get(who)!;
    const whole = actor.kind === "agent" && actor.viewer !== actor.id ? { ...event, ...as(actor.id) } : event;
    const { socket, party } = this.viewers.get(actor.viewer)!;
    let answer: Any;
    if (bySocket && socket) answer = await socket.ask(whole);
    else {
      const { body } = await call("POST", "/v1/events", { token: party.token, body: whole });
      answer = body.type === "error" ? body : body.receipts[0];
    }
    if (answer.type === "receipt") this.sent.push({ by: party, event: whole, receipt: answer });
    return answer;
  }

  /** Sends a verb that makes one fact, if the model lets it pass. */
  async #write(who: Name, event: Any, fact: Omit<Fact, "seq"> | undefined): Promise<void> {
    const answer = await this.#send(who, event);
    this.#same(event.type, answer.type, fact ? "receipt" : "error");
    if (answer.type === "error") return;
    if (fact) this.#took(fact, answer.seq);
  }

  async run(step: Op): Promise<void> {
    const space = "space" in step ? this.spaces[step.space]! : "";
    const text = `words ${++this.#count}`;
    if (step.op === "post") {
      const event = verb("message.post", {
        space_id: space,
        text: step.mention ? `@${step.mention} ${text}` : text,
      });
      this.#posted(step.by, space, step.mention ?? undefined, await this.#send(step.by, event, step.socket));
    } else if (step.op === "burst") {
      const answers = await Promise.all(
        step.by.map(async (by, i) => ({
          by,
          answer: await this.#send(
            by,
            verb("message.post", { space_id: space, text: `${text} ${i}` }),
            i % 2 === 0,
          ),
        })),
      );
      answers.sort((a, b) => (a.answer.seq ?? 0) - (b.answer.seq ?? 0));
      for (const { by, answer } of answers) this.#posted(by, space, undefined, answer);
    } else if (step.op === "edit" || step.op === "delete") {
      const message = [...this.model.messages.values()][step.n % Math.max(this.model.messages.size, 1)];
      if (!message) return;
      const actor = this.actors.get(step.by)!;
      const author = this.model.actors.get(message.author)!.viewer === actor.viewer;
      const allowed = author || (step.op === "delete" && step.by === "Ada");
      const here = [...(this.model.inside.get(message.space) ?? [])].some(
        (id) => this.model.actors.get(id)!.viewer === actor.viewer,
      );
      const event = verb(`message.${step.op}`, {
        message_id: message.id,
        ...(step.op === "edit" ? { text } : {}),
      });
      const inside =
        actor.kind === "agent" && actor.viewer !== actor.id ? here : this.model.isIn(message.space, actor.id);
      const fact = {
        type: step.op === "edit" ? "message.edited" : "message.deleted",
        space: message.space,
        message: message.id,
      };
      await this.#write(step.by, event, inside && allowed && !message.deleted ? fact : undefined);
    } else if (step.op === "join" || step.op === "leave") {
      const { id } = this.actors.get(step.who)!;
      if (step.who === "Ada") return;
      const there = this.model.isIn(space, id);
      const event = verb(step.op === "join" ? "member.add" : "member.remove", {
        space_id: space,
        participant_id: id,
      });
      const fact = { type: step.op === "join" ? "member.joined" : "member.left", space, subject: id };
      await this.#write("Ada", event, there === (step.op === "leave") ? fact : undefined);
    } else if (step.op === "rename") {
      // What is no handle as a whole has its first word's, so that the handle stays as it is.
      const fact = { type: "participant.renamed", subject: this.actors.get(step.by)!.id };
      await this.#write(step.by, verb("participant.rename", { name: `${step.by} (${this.#count})` }), fact);
    } else if (step.op === "title") {
      const { id, kind } = this.actors.get(step.by)!;
      const may = kind === "person" && this.model.isIn(space, id);
      const fact = { type: "space.renamed", space };
      await this.#write(
        step.by,
        verb("space.rename", { space_id: space, title: text }),
        may ? fact : undefined,
      );
    } else if (step.op === "repeat") await this.#repeat(step.n, step.changed);
    else if (step.op === "drop") await this.#drop(this.actors.get(step.who)!.viewer);
    else if (step.op === "back") await this.#back(this.actors.get(step.who)!.viewer);
    else await this.#restart(step.op);
  }

  #posted(by: Name, space: string, mention: string | undefined, answer: Any): void {
    const { id } = this.actors.get(by)!;
    this.#same("message.post", answer.type, this.model.isIn(space, id) ? "receipt" : "error");
    if (answer.type === "error") return;
    this.model.say(answer.message_id, space, id, mention);
    this.#took({ type: "message.posted", space, subject: id, message: answer.message_id }, answer.seq);
  }

  /** The same again is answered as before; something else under the same key is refused. Neither is a fact. */
  async #repeat(which: number, changed: boolean): Promise<void> {
    const earlier = this.sent[which % Math.max(this.sent.length, 1)];
    if (!earlier) return;
    const { by, event, receipt } = earlier;
    const key = changed
      ? {
          text: "other",
          title: "Other",
          name: "Other",
          participant_id: by.id,
          message_id: "msg_01K4ZQPX000000000000000009",
        }
      : {};
    const body = { ...event, ...Object.fromEntries(Object.entries(key).filter(([k]) => k in event)) };
    const again = (await call("POST", "/v1/events", { token: by.token, body })).body;
    if (changed) this.#same("a used key", again.code, "conflict");
    else this.#same("a repeat", sorted(again.receipts?.[0]), sorted({ ...receipt, duplicate: true }));
  }

  async #drop(id: string): Promise<void> {
    const viewer = this.viewers.get(id)!;
    if (!viewer.socket) return;
    viewer.got.push(...eventsOf(await settled(viewer.socket)));
    viewer.socket.ws.close(1000, "bye");
    viewer.socket = undefined;
  }

  async #back(id: string): Promise<void> {
    const viewer = this.viewers.get(id)!;
    if (viewer.socket) return;
    const after_seq = viewer.due.at(-1)?.seq ?? 0;
    viewer.due.push(...this.model.visible(id, after_seq));
    viewer.socket = await connect(viewer.party, { after_seq });
  }

  async #restart(how: "sleep" | "close" | "abort"): Promise<void> {
    const stub = roomStub(this.id);
    await stub.rowCounts();
    if (how === "sleep") return evictDurableObject(stub, { webSockets: "hibernate" });
    for (const viewer of this.viewers.values()) {
      if (!viewer.socket) continue;
      viewer.got.push(...eventsOf(await settled(viewer.socket)));
      viewer.socket = undefined;
    }
    await (how === "close" ? evictDurableObject(stub, { webSockets: "close" }) : abortAllDurableObjects());
  }

  async check(): Promise<void> {
    const log = await sql(this.id, "SELECT seq, type FROM log ORDER BY seq");
    this.#same(
      "the log",
      log,
      this.model.log.map(({ type }, i) => ({ seq: i + 1, type })),
    );
    for (const [id, viewer] of this.viewers) {
      await this.#drop(id);
      this.#same(`sent to ${id}`, viewer.got.map(seqAndType), viewer.due.map(seqAndType));
      const [handed, again] = [await pulled(viewer.party, 0, 7), await replay(viewer.party)];
      this.#same(`replayed to ${id}`, again.map(lasting), handed.map(lasting));
      this.#same(`pulled by ${id}`, handed.map(seqAndType), this.model.visible(id).map(seqAndType));
      const now = new Map(handed.map((f) => [f.seq, f]));
      for (const frame of viewer.got) {
        const later = now.get(frame.seq);
        if (later) this.#same("live and later", whose(later), whose(frame));
      }
      for (const { message_id, addressed_to } of handed)
        if (addressed_to)
          this.#same("addressed_to", addressed_to, this.model.messages.get(message_id)?.addressed);
    }
  }
}

function seqAndType({ seq, type }: { seq: number; type: string }): [number, string] {
  return [seq, type];
}
function whose(frame: Any): unknown[] {
  return [frame.id, frame.addressed_to, frame.for];
}
function sorted(value: object): [string, unknown][] {
  return Object.entries(value ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1));
}

/** Runs a conversation; what differed from the model. */
export async function faultsOf(steps: readonly Op[]): Promise<string[]> {
  const world = await World.open();
  for (const step of steps) await world.run(step);
  await world.check();
  return world.faults;
}
