/** A room in memory, as simple as it can be said: what the model test compares the real one with. */

export interface Fact {
  seq: number;
  type: string;
  /** Undefined: a fact of the workspace. */
  space?: string;
  /** Who it is about. */
  subject?: string;
  message?: string;
}

interface Message {
  id: string;
  space: string;
  author: string;
  addressed: string[];
  /** Who was in the space when it was said. */
  here: string[];
  deleted: boolean;
}

export interface Actor {
  id: string;
  kind: "person" | "guest" | "agent";
  /** Who connects and is sent things: an agent's harness, or themselves. */
  viewer: string;
  handle: string;
}

/** What one verb would do: the facts it makes, or that it is refused. */
export type Outcome = Omit<Fact, "seq">[] | "refused";

export class Model {
  readonly log: Fact[] = [];
  readonly messages = new Map<string, Message>();
  readonly actors: Map<string, Actor>;
  readonly inside = new Map<string, Set<string>>();

  constructor(actors: readonly Actor[]) {
    this.actors = new Map(actors.map((a) => [a.id, a]));
  }

  /** Takes a fact as the newest of the log. */
  append(fact: Omit<Fact, "seq">, seq: number): Fact {
    const whole = { ...fact, seq };
    this.log.push(whole);
    const here = this.inside.get(fact.space ?? "");
    if (fact.type === "member.joined") here?.add(fact.subject ?? "");
    if (fact.type === "member.left") here?.delete(fact.subject ?? "");
    const message = this.messages.get(fact.message ?? "");
    if (fact.type === "message.deleted" && message) message.deleted = true;
    return whole;
  }

  /** Notes a message about to be appended. */
  say(id: string, space: string, author: string, mention: string | undefined): void {
    const here = [...(this.inside.get(space) ?? [])];
    this.messages.set(id, {
      id,
      space,
      author,
      addressed: this.addressees(space, author, mention),
      here,
      deleted: false,
    });
  }

  /** ADDR-3 and ADDR-4 for texts with at most one mention and no reply. */
  addressees(space: string, author: string, mention: string | undefined): string[] {
    const here = [...(this.inside.get(space) ?? [])].map((id) => this.actors.get(id)!);
    const named = here.find((a) => a.handle === mention);
    const byAgent = this.actors.get(author)?.kind === "agent";
    if (named) return named.kind === "agent" && named.id !== author ? [named.id] : [];
    const agents = here.filter((a) => a.kind === "agent");
    return !byAgent && agents.length === 1 ? [agents[0]!.id] : [];
  }

  isIn(space: string, actor: string): boolean {
    return this.inside.get(space)?.has(actor) ?? false;
  }

  /** Whether a viewer is in a space now, itself or by an agent. */
  #present(space: string, viewer: string): boolean {
    return [...(this.inside.get(space) ?? [])].some((id) => this.actors.get(id)?.viewer === viewer);
  }

  /** What a viewer is sent of a fact now, as the type of its frame; undefined: nothing. */
  frameType(viewer: string, fact: Fact): string | undefined {
    const own = [...this.actors.values()].filter((a) => a.viewer === viewer);
    const harness = own[0]?.kind === "agent";
    if (fact.space === undefined) {
      if (harness) return undefined;
      const guest = own[0]?.kind === "guest";
      return !guest || fact.subject === viewer || this.#shares(viewer, fact.subject ?? "")
        ? fact.type
        : undefined;
    }
    if (!this.#present(fact.space, viewer))
      return fact.type === "member.left" && own.some((a) => a.id === fact.subject) ? fact.type : undefined;
    if (!harness) return fact.type;
    if (fact.message === undefined) return fact.type;
    const message = this.messages.get(fact.message)!;
    if (!this.#wasSent(viewer, message)) return undefined;
    if (fact.type !== "message.posted") return fact.type;
    if (message.deleted) return undefined;
    const taken = message.addressed.some((id) => this.actors.get(id)?.viewer === viewer);
    return taken ? "message.new" : "message.overheard";
  }

  /** NEW-1: one of its own was there, and it did not say it itself unless another of its own is asked. */
  #wasSent(viewer: string, message: Message): boolean {
    const mine = (id: string) => this.actors.get(id)?.viewer === viewer;
    if (!message.here.some(mine)) return false;
    return !mine(message.author) || message.addressed.some((id) => id !== message.author && mine(id));
  }

  #shares(a: string, b: string): boolean {
    return [...this.inside.values()].some((here) => here.has(a) && here.has(b));
  }

  /** Everything that a viewer may be sent now after a seq. */
  visible(viewer: string, after = 0): { seq: number; type: string }[] {
    return this.log.flatMap((fact) => {
      const type = fact.seq > after ? this.frameType(viewer, fact) : undefined;
      return type === undefined ? [] : [{ seq: fact.seq, type }];
    });
  }
}
