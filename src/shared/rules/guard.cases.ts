/** Logs that the tests of the guard share. */
import * as fc from "fast-check";
import {
  type AgentMessage,
  afterAct,
  afterMessage,
  afterWork,
  EMPTY_EXCHANGE,
  type ExchangeState,
  type GuardSettings,
  judge,
  type Verdict,
  type Work,
} from "./guard.ts";

export const usual: GuardSettings = { stop: 16, hold: 48, circles: true };

export type Event =
  | { type: "act"; by: string }
  | { type: "work"; by: string; made: Work["made"] }
  | { type: "message"; by: string; repeat?: AgentMessage["repeat"]; newFile?: boolean };

/** One event of a log; a message with a new file is told twice, as its docstring says. */
export function apply(state: ExchangeState, event: Event, seq: number): ExchangeState {
  const at = seq * 1000;
  const { by } = event;
  if (event.type === "act") return afterAct(state, { seq, at, by });
  if (event.type === "work") return afterWork(state, { seq, at, by, made: event.made });
  const before = event.newFile ? afterWork(state, { seq, at, by, made: "file", file: `f${seq}` }) : state;
  const repeat = event.repeat === undefined ? {} : { repeat: event.repeat };
  return afterMessage(before, { message_id: `msg_${seq}`, seq, at, by, ...repeat });
}

export function replay(events: readonly Event[]): ExchangeState {
  return events.reduce((state, event, i) => apply(state, event, i + 1), EMPTY_EXCHANGE);
}

/** How the room takes a list of events, the pause it makes of its own accord included. */
export function run(events: readonly Event[], settings: GuardSettings): Verdict[] {
  let state = EMPTY_EXCHANGE;
  let paused = false;
  return events.flatMap((event, i) => {
    state = apply(state, event, i + 1);
    if (event.type === "act") paused = false;
    if (event.type !== "message") return [];
    const verdict = judge(state, settings, paused);
    paused ||= verdict.pause;
    return [verdict];
  });
}

export const agents = ["agt_a", "agt_b", "agt_c", "agt_d"];
export const by = fc.constantFrom(...agents);
export const repeat = fc.constantFrom<AgentMessage["repeat"]>(
  { kind: "words" },
  { kind: "file", file: "a.csv" },
);
export const message: fc.Arbitrary<Event> = fc.oneof(
  { weight: 6, arbitrary: by.map((by) => ({ type: "message" as const, by })) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("message" as const), by, repeat }) },
  { weight: 1, arbitrary: by.map((by) => ({ type: "message" as const, by, newFile: true })) },
);
export const work: fc.Arbitrary<Event> = fc.record({
  type: fc.constant("work" as const),
  by,
  made: fc.constantFrom("question" as const, "approval" as const),
});
export const act: fc.Arbitrary<Event> = fc
  .constantFrom("usr_ann", "usr_bo")
  .map((by) => ({ type: "act", by }));
export const weighted = fc.oneof(
  { weight: 12, arbitrary: message },
  { weight: 1, arbitrary: work },
  { weight: 1, arbitrary: act },
);
export const settings: fc.Arbitrary<GuardSettings> = fc.record({
  stop: fc.integer({ min: 1, max: 40 }),
  hold: fc.option(fc.integer({ min: 1, max: 30 })),
  circles: fc.boolean(),
});
export const talk = (n: number, names = ["agt_a", "agt_b"]): Event[] =>
  Array.from({ length: n }, (_, i) => ({ type: "message", by: names[i % names.length] ?? "" }));
