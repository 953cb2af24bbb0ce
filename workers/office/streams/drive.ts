/**
 * What the office does with its streams of its own accord (REQ-1 to REQ-8): after every append, and by an alarm for
 * each stream that waits for a time. What is next is decided by the rules; here it is carried out.
 */
import { DEADLINE_MS, nextStep, type Step } from "../../../src/shared/rules/context/next.ts";
import { CONTEXT_FULL } from "../../../src/shared/rules/context/requests.ts";
import { runnerOf } from "../../../src/shared/rules/context/runner.ts";
import type { StreamState } from "../../../src/shared/rules/context/state.ts";
import {
  compactionDue,
  DEFAULT_WINDOW,
  estimate,
  uncountedEntries,
  type Window,
} from "../../../src/shared/rules/context/tokens.ts";
import type { AppendEvent } from "../../../src/shared/wire/context/http.ts";
import type { ContextItem } from "../../../src/shared/wire/context/item.ts";
import type { Desk } from "../desk.ts";
import { personRow } from "../store/person.ts";
import type { Part } from "../turns.ts";
import { appendTo } from "./append.ts";
import { pathOf, type StreamName } from "./paths.ts";
import { stateAtHead, wordsOf } from "./states.ts";
import { itemOfStream, streamId, streamIds } from "./store.ts";

/** What an answer may take where the config says nothing, and at most this part of the window. */
const OUTPUT = { tokens: 16_000, part: 1 / 4 };
/** A compaction that nothing is waited for any more after so long: the object that asked for it is gone. */
const COMPACTION_MS = 120_000;

/** Each stream that waits for a time has an alarm of its own name. */
const alarmOf = (stream: number) => `stream ${stream}`;

/** What the alarm of a stream does; undefined for alarms that are no stream's. */
export function streamDue(name: string): ((desk: Desk) => void) | undefined {
  const stream = /^stream (\d+)$/.exec(name)?.[1];
  return stream === undefined ? undefined : (desk) => drive(desk, Number(stream));
}

/** What the streams do after every piece of work: those that were appended to go on. */
export const STREAMS: Part = {
  after(desk) {
    const { undriven } = desk.streams;
    for (const item of undriven) {
      // First, since what is carried out may append again, here and to others.
      undriven.delete(item);
      const stream = streamId(desk.db, item);
      if (stream !== undefined) drive(desk, stream);
    }
  },
};

/** The person is run now and was not: what waits on their streams is looked at. */
export function driveAll(desk: Desk): void {
  for (const stream of streamIds(desk.db)) desk.alarm(alarmOf(stream), desk.now);
}

/** Whether requests are opened for this person: they are in the team, and somebody runs them (REQ-1, REQ-7). */
export function isRun({ db, team, handle }: Pick<Desk, "db" | "team" | "handle">): boolean {
  return runnerOf(team, handle) !== undefined && personRow(db).removed_at === null;
}

/** What the person's model takes (REQ-8). */
export function windowOf({ team, handle }: Pick<Desk, "team" | "handle">): Window {
  const name = team.people.find((person) => person.handle === handle)?.model;
  const known = name === undefined ? undefined : team.models[name];
  const window = known?.window ?? DEFAULT_WINDOW;
  return { window, output: known?.output ?? Math.min(OUTPUT.tokens, Math.floor(window * OUTPUT.part)) };
}

/** Carries out what is next on a stream until nothing is, or it waits. */
function drive(desk: Desk, stream: number): void {
  const item = itemOfStream(desk.db, stream);
  if (item === undefined) return;
  const name: StreamName = item === "" ? { handle: desk.handle } : { handle: desk.handle, item };
  const append = (...events: AppendEvent[]) => appendTo(desk, pathOf(name), events);
  for (;;) {
    const { state } = stateAtHead(desk.db, desk.streams, stream);
    // What is open ends at its deadline, whoever is run; nothing new is opened for who is not.
    if (state.open === null && !isRun(desk)) return;
    askIfHalfFull(desk, { stream, name, state });
    const step = stepOf(desk, stream, state);
    switch (step.do) {
      case "open":
        open(desk, append, step, state.head);
        break;
      case "expire":
        append({ type: "llm-request-cancelled", payload: { requestOffset: step.request } });
        break;
      case "pause":
        append({ type: "stream-paused", payload: { reason: step.reason } });
        break;
      case "compact":
        if (desk.streams.compaction(stream)?.through !== step.through)
          desk.streams.compact({ stream: name, through: step.through }, stream);
        // Should this object die while it waits, the alarm asks again.
        return desk.alarm(alarmOf(stream), desk.now + COMPACTION_MS);
      case "wait":
        return desk.alarm(alarmOf(stream), step.until);
      case "nothing":
        return;
    }
  }
}

type OpenStep = Extract<Step, { do: "open" }>;

/** Opens a request; one that fits no window fails at once, since nothing comes of sending it (REQ-8). */
function open(
  desk: Desk,
  append: (...events: AppendEvent[]) => number[],
  step: OpenStep,
  head: number,
): void {
  const deadline = new Date(desk.now + DEADLINE_MS).toISOString();
  const asked: AppendEvent = { type: "llm-request-requested", payload: { trigger: step.trigger, deadline } };
  if (!step.full) append(asked);
  else
    append(asked, { type: "llm-request-failed", payload: { requestOffset: head + 1, reason: CONTEXT_FULL } });
}

/** The next step. Only before a request is opened the words that no provider has counted are read. */
function stepOf(desk: Desk, stream: number, state: StreamState): Step {
  const failed = desk.streams.compaction(stream);
  const model = { ...windowOf(desk), ...(failed?.failed && { failed: failed.through }) };
  const step = nextStep(state, desk.now, { ...model, uncounted: 0 });
  if (step.do !== "open" && step.do !== "compact") return step;
  return nextStep(state, desk.now, { ...model, uncounted: uncounted(desk, stream, state) });
}

/** What the items take that no provider has counted yet (REQ-8); their words are read one by one and not kept. */
function uncounted(desk: Desk, stream: number, state: StreamState): number {
  let sum = 0;
  for (const { json } of wordsOf(desk.db, stream, uncountedEntries(state)))
    sum += estimate(JSON.parse(json) as ContextItem);
  return sum;
}

/** After an answer was measured, once: over half the window a compaction is asked for, and nobody waits (REQ-8). */
function askIfHalfFull(desk: Desk, of: { stream: number; name: StreamName; state: StreamState }): void {
  const { stream, name, state } = of;
  const { streams } = desk;
  if (state.measured === null || streams.measured.get(stream) === state.measured.request) return;
  streams.measured.set(stream, state.measured.request);
  const through = compactionDue(state, { ...windowOf(desk), uncounted: uncounted(desk, stream, state) });
  if (through !== undefined && streams.compaction(stream)?.through !== through)
    streams.compact({ stream: name, through }, stream);
}
