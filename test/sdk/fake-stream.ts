/** A context stream in memory, by the office's own rules: for tests of who runs one. */

import type { FollowOptions, StoredEvent } from "../../src/context/follow.ts";
import type { ContextStream } from "../../src/context/index.ts";
import { BullpenError, BullpenHttp } from "../../src/sdk/index.ts";
import { canonicalJson } from "../../src/shared/rules/canonical.ts";
import { DEADLINE_MS, nextStep } from "../../src/shared/rules/context/next.ts";
import { reduce } from "../../src/shared/rules/context/reduce.ts";
import { judge } from "../../src/shared/rules/context/settle.ts";
import { historyOf, type StreamEvent } from "../../src/shared/rules/context/state.ts";
import { spelled, stamp, type Writer } from "../../src/shared/rules/context/trust.ts";
import type { AppendEvent } from "../../src/shared/wire/context/http.ts";
import type { FakeClock } from "./fakes.ts";

export const WORKSPACE = "ws_01K4ZQPX000000000000000001";
const PATH = "/people/scout";
const AGENT: Writer = { kind: "agent", path: PATH };
export const ANNA: Writer = { kind: "person", userId: "usr_1", origin: "web", owner: false };
const WINDOW = { window: 128_000, output: 16_000 };

export class FakeStream {
  readonly events: StreamEvent[] = [];
  readonly #keys = new Map<string, { offset: number; hash: string }>();
  readonly #followers = new Set<FollowOptions & { sent: number }>();
  readonly #clock: FakeClock;
  #timer: unknown;

  constructor(clock: FakeClock) {
    this.#clock = clock;
  }

  get state() {
    return reduce(this.events);
  }
  of(type: string): StreamEvent[] {
    return this.events.filter((event) => event.type === type);
  }

  append(events: readonly AppendEvent[], writer: Writer): number[] {
    const offsets: number[] = [];
    const fresh: (AppendEvent & { offset: number })[] = [];
    for (const given of events) {
      const stamped = stamp(given, writer, PATH);
      if (!stamped.ok) throw new BullpenError(stamped.refusal.code, stamped.refusal.message);
      const { event } = stamped;
      const key = event.idempotencyKey && `${spelled(writer)} ${event.idempotencyKey}`;
      const hash = canonicalJson({ type: event.type, payload: event.payload });
      const known = key === undefined ? undefined : this.#keys.get(key);
      if (known && known.hash !== hash) throw new BullpenError("conflict", "another event has this key");
      const offset = known?.offset ?? this.events.length + fresh.length + 1;
      if (!known) fresh.push({ ...event, offset });
      if (key !== undefined) this.#keys.set(key, { offset, hash });
      offsets.push(offset);
    }
    const at = this.#clock.now();
    const judged = judge(this.state, fresh, at, writer, PATH);
    if (!judged.ok) {
      for (const { idempotencyKey } of fresh) this.#keys.delete(`${spelled(writer)} ${idempotencyKey}`);
      throw new BullpenError(judged.refusal.code, judged.refusal.message);
    }
    const by = spelled(writer);
    for (const { offset, type, payload } of fresh)
      this.events.push({ offset, type, payload, at, ...(by === undefined ? {} : { by }) });
    this.#deliver();
    this.#drive();
    return offsets;
  }

  /** Somebody says something. */
  say(content: string, more: object = {}): number {
    const payload = { role: "user" as const, content, ...more };
    return this.append([{ type: "context-item", payload }], ANNA)[0] as number;
  }

  #drive(): void {
    const now = this.#clock.now();
    const step = nextStep(this.state, now, WINDOW);
    this.#clock.clearTimeout(this.#timer);
    if (step.do === "wait") this.#timer = this.#clock.setTimeout(() => this.#drive(), step.until - now);
    const office: Writer = { kind: "office" };
    if (step.do === "open") {
      const deadline = new Date(now + DEADLINE_MS).toISOString();
      this.append([{ type: "llm-request-requested", payload: { trigger: step.trigger, deadline } }], office);
    }
    if (step.do === "expire")
      this.append([{ type: "llm-request-cancelled", payload: { requestOffset: step.request } }], office);
  }

  #deliver(): void {
    for (const one of this.#followers) queueMicrotask(() => this.#pump(one));
  }
  #pump(one: FollowOptions & { sent: number }): void {
    for (const event of this.events)
      if (this.#followers.has(one) && event.offset > one.sent) {
        one.sent = event.offset;
        one.onEvent(stored(event));
      }
  }
  /** Every connection breaks; each comes back by itself. */
  drop(): void {
    for (const one of this.#followers) {
      one.onLost?.();
      queueMicrotask(() => this.#catchUp(one));
    }
  }
  #catchUp(one: FollowOptions & { sent: number }): void {
    this.#pump(one);
    if (this.#followers.has(one)) one.onCaughtUp?.(one.sent);
  }

  /** The client's view of it, as an agent has it. */
  client(): ContextStream {
    return {
      path: PATH,
      workspace: WORKSPACE,
      person: "scout",
      item: undefined,
      http: new BullpenHttp({ url: "https://rooms.example.com" }),
      append: async (events) => this.append(events, AGENT),
      read: async ({ after = 0, limit = 100 } = {}) => ({
        events: this.events
          .filter(({ offset }) => offset > after)
          .slice(0, limit)
          .map(stored),
        head: this.events.length,
      }),
      history: async (at = this.events.length) => {
        const state = reduce(this.events.slice(0, at));
        const { open, pending, covered, paused } = state;
        return {
          items: historyOf(state),
          covered,
          ...(pending && {
            pending: {
              offset: pending.offset,
              external: pending.external !== null,
              since: iso(pending.since),
            },
          }),
          ...(open && { open: { offset: open.offset, trigger: open.trigger, deadline: iso(open.deadline) } }),
          paused: paused !== null,
        };
      },
      prompt: async () => ({}),
      follow: (options) => {
        const one = { ...options, sent: options.after };
        this.#followers.add(one);
        queueMicrotask(() => this.#catchUp(one));
        return { close: () => void this.#followers.delete(one) };
      },
    };
  }
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}

function stored({ offset, type, payload, at }: StreamEvent): StoredEvent {
  return { offset, type, payload: structuredClone(payload), at: new Date(at).toISOString() };
}
