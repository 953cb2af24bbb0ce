/** Writes a stream event by event, the way its office would, so that a test reads like a log. */
import type { ContextItem } from "../../wire/context/item.ts";
import { apply } from "./reduce.ts";
import { empty, type StreamEvent, type StreamState } from "./state.ts";
import { asJson, iso, person, START } from "./streams.cases.ts";

export interface Log {
  readonly events: StreamEvent[];
  readonly state: StreamState;
  /** Ms; tests move it. */
  now: number;
  /** Appends an event and hands back its offset. */
  add(type: string, payload?: unknown, by?: string): number;
  /** A person's message. */
  says(content: string, more?: Partial<ContextItem>): number;
  item(role: ContextItem["role"], content: string, more?: Partial<ContextItem>): number;
  /** Opens a request for what is pending. */
  open(deadlineIn?: number): number;
  answer(request: number, content: string, more?: Partial<ContextItem>): number;
  succeed(request: number, more?: object, by?: string): number;
  fail(request: number, reason?: string): number;
  /** The contents that a model sees. */
  seen(): string[];
}

export function newLog(): Log {
  const events: StreamEvent[] = [];
  let state = empty();
  const log: Log = {
    events,
    get state() {
      return state;
    },
    now: START,
    add(type, payload = {}, by) {
      const offset = events.length + 1;
      const event = asJson({ offset, type, payload, at: log.now, by }) as StreamEvent;
      events.push(event);
      state = apply(state, event);
      return offset;
    },
    item: (role, content, more = {}) => log.add("context-item", { role, content, ...more }),
    says: (content, more = {}) => log.item("user", content, { actor: person, ...more }),
    open: (deadlineIn = 600_000) =>
      log.add("llm-request-requested", {
        trigger: state.pending?.offset ?? 1,
        deadline: iso(log.now + deadlineIn),
      }),
    answer: (request, content, more = {}) =>
      log.item("assistant", content, { llmRequestOffset: request, ...more }),
    succeed: (request, more = {}, by) =>
      log.add("llm-request-succeeded", { requestOffset: request, ...more }, by),
    fail: (request, reason = "429") => log.add("llm-request-failed", { requestOffset: request, reason }),
    seen: () => state.items.map(({ item }) => item.content),
  };
  return log;
}
