/**
 * The named races of a stream (CTX-6), as appends and what must come of them. Offsets are told by name, since a real
 * stream has its own. The pure rules and the real object are both driven by this table: on the object, on a stream
 * whose requests the office does not open itself, with evictions between the steps.
 */
import type { AppendEvent } from "../../wire/context/http.ts";
import type { ContextItem } from "../../wire/context/item.ts";
import { resultItem } from "./calls.ts";

/** What an event of a step is called afterwards, and the event. */
export type Named = AppendEvent & { as?: string };

export interface RaceStep {
  /** Whose token appends it: `office` is an admin's, which writes as the platform. */
  by: "office" | "agent" | "person";
  /** One batch. `of` is the offset of what was called so, `now` ms, `stream` its path. */
  events: (of: (name: string) => number, now: number, stream: string) => Named[];
  /** The whole batch is refused with this code. */
  refused?: "conflict";
}

export interface Race {
  name: string;
  steps: RaceStep[];
  /** What is true in the end. What is left out may be either way. */
  ends: {
    /** The contents of the history, in order; `call of <request>` is an answer with a call and nothing else. */
    seen: string[];
    /** The name of the newest trigger that waits. */
    pending?: string | null;
    open?: string | null;
    covered?: string;
    paused?: boolean;
    /** The history as of what is called so. */
    asOf?: Record<string, string[]>;
  };
}

type Of = (name: string) => number;
const step =
  (by: RaceStep["by"], refused?: "conflict") =>
  (events: RaceStep["events"]): RaceStep => ({ by, events, ...(refused === undefined ? {} : { refused }) });
const item = (as: string, payload: ContextItem): Named => ({ as, type: "context-item", payload });
const policy = (behaviour: "dont-trigger-request" | "interrupt-current-request") => ({
  llmRequestPolicy: { behaviour },
});

const says = (as: string, content: string, more: Partial<ContextItem> = {}) =>
  step("person")(() => [item(as, { role: "user", content, ...more })]);
const interrupts = (as: string, content: string) => says(as, content, policy("interrupt-current-request"));
/** @param left ms until its deadline */
const opens = (as: string, trigger: string, left = 600_000) =>
  step("office")((of, now) => [
    {
      as,
      type: "llm-request-requested",
      payload: { trigger: of(trigger), deadline: new Date(now + left).toISOString() },
    },
  ]);
const answered = (of: Of, request: string, content: string, calls: string[] = []): Named[] => [
  item(`${request} answer`, { role: "assistant", content, llmRequestOffset: of(request) }),
  { type: "llm-request-succeeded", payload: { requestOffset: of(request), calls } },
];
const settles = (request: string, content: string, refused?: "conflict") =>
  step("agent", refused)((of) => answered(of, request, content));
const fails = (request: string, refused?: "conflict") =>
  step(
    "agent",
    refused,
  )((of) => [{ type: "llm-request-failed", payload: { requestOffset: of(request), reason: "429" } }]);
const summarises = (as: string, content: string, through: string) =>
  step("office")((of) => [
    item(as, { role: "developer", content, compaction: { replacesHistoryThrough: of(through) } }),
  ]);
const pauses = (reason: string) => step("office")(() => [{ type: "stream-paused", payload: { reason } }]);
const resumes = step("office")(() => [{ type: "stream-resumed", payload: {} }]);
/** A person's stop is one batch (REQ-3). */
const stops = step("office")(() => [
  item("stop", {
    role: "developer",
    content: "Sam stopped you.",
    ...policy("interrupt-current-request"),
  }),
  { type: "stream-paused", payload: { reason: "stop" } },
]);
/** A block of a call, as an answer has it (CTX-9). */
const block = (id: string) => `\`\`\`call\n{"id":"${id}","input":{},"tool":"search"}\n\`\`\``;
const calls = (request: string) =>
  step("agent")((of) => {
    const id = `exe_${of(request)}_1`;
    return answered(of, request, block(id), [id]);
  });
const result = (as: string, request: string) =>
  step("agent")((of, _now, streamPath) => {
    const id = `exe_${of(request)}_1`;
    const call = { id, answer: of(`${request} answer`), streamPath };
    return [item(as, resultItem(call, '{"ok":true,"output":1}', { last: true }))];
  });

export const RACES: Race[] = [
  {
    name: "REQ-3 CTX-3 the interrupt comes before the settlement: the answer is no answer any more",
    steps: [
      says("a", "Add them up."),
      opens("r", "a"),
      interrupts("b", "No, multiply."),
      settles("r", "The sum is 4.", "conflict"),
    ],
    ends: { seen: ["Add them up.", "No, multiply."], pending: "b", open: null, covered: "r" },
  },
  {
    name: "REQ-3 the settlement comes before the interrupt: it is only a newer trigger",
    steps: [
      says("a", "Add them up."),
      opens("r", "a"),
      settles("r", "The sum is 4."),
      interrupts("b", "No, multiply."),
    ],
    ends: { seen: ["Add them up.", "The sum is 4.", "No, multiply."], pending: "b", open: null },
  },
  {
    name: "REQ-3 a partial answer follows an interrupt, and the next request goes on meanwhile",
    steps: [
      says("a", "Add them up."),
      opens("r", "a"),
      interrupts("b", "No, multiply."),
      opens("s", "b"),
      step("agent")((of, _now, streamPath) => [
        item("partial", {
          role: "assistant",
          content: "The sum\n[interrupted]",
          refs: [{ type: "event", streamPath, offset: of("r") }],
        }),
      ]),
      settles("s", "The product is 3."),
    ],
    ends: {
      seen: ["Add them up.", "No, multiply.", "The sum\n[interrupted]", "The product is 3."],
      pending: null,
      open: null,
      covered: "s",
      asOf: { s: ["Add them up.", "No, multiply."] },
    },
  },
  {
    name: "STREAM-1 REQ-3 of two settlements the second settles nothing",
    steps: [
      says("a", "Hi."),
      opens("r", "a"),
      settles("r", "Hello."),
      settles("r", "Hello again.", "conflict"),
      fails("r", "conflict"),
    ],
    ends: { seen: ["Hi.", "Hello."], pending: null, open: null },
  },
  {
    name: "REQ-3 REQ-4 a failure that comes after an interrupt does not bring the old request back",
    steps: [says("a", "Hi."), opens("r", "a"), interrupts("b", "Wait."), fails("r", "conflict")],
    ends: { seen: ["Hi.", "Wait."], pending: "b", open: null },
  },
  {
    name: "CTX-2 an update before coverage replaces in place",
    steps: [
      says("a", "At 10.", { key: "m1" }),
      says("b", "Bring the slides."),
      says("c", "At 11.", { key: "m1" }),
      opens("r", "c"),
    ],
    ends: { seen: ["At 11.", "Bring the slides."], pending: null, open: "r" },
  },
  {
    name: "CTX-2 REQ-2 an update after coverage is seen beside what the model saw",
    steps: [
      says("a", "At 10.", { key: "m1" }),
      opens("r", "a"),
      says("b", "At 11.", { key: "m1", ...policy("dont-trigger-request") }),
      settles("r", "I will be there at 10."),
    ],
    ends: {
      seen: ["At 10.", "At 11.", "I will be there at 10."],
      pending: null,
      open: null,
      asOf: { r: ["At 10."] },
    },
  },
  {
    name: "CTX-4 a summary that arrives late stands in front of what came after its barrier",
    steps: [
      says("a", "One."),
      opens("r", "a"),
      settles("r", "First."),
      says("b", "Two."),
      opens("s", "b"),
      settles("s", "Second."),
      summarises("sum", "They began to count.", "r"),
    ],
    ends: { seen: ["They began to count.", "First.", "Two.", "Second."], pending: null, covered: "s" },
  },
  {
    name: "CTX-4 REQ-2 a summary that arrives while a request is open does not change what that request sees",
    steps: [
      says("a", "One."),
      opens("r", "a"),
      settles("r", "First."),
      says("b", "Two."),
      opens("s", "b"),
      summarises("sum", "They began to count.", "r"),
      settles("s", "Second."),
    ],
    ends: {
      seen: ["They began to count.", "First.", "Two.", "Second."],
      open: null,
      asOf: { s: ["One.", "First.", "Two."] },
    },
  },
  {
    name: "CTX-4 an old barrier after a newer one does nothing",
    steps: [
      says("a", "One."),
      opens("r", "a"),
      settles("r", "First."),
      says("b", "Two."),
      opens("s", "b"),
      settles("s", "Second."),
      summarises("newer", "They counted to two.", "s"),
      summarises("older", "They began to count.", "r"),
    ],
    ends: { seen: ["They counted to two.", "Second."] },
  },
  {
    name: "CTX-4 CTX-9 a summary that was asked for before a call drops neither it nor its result",
    steps: [
      says("a", "Look it up."),
      opens("r", "a"),
      calls("r"),
      says("b", "And hurry.", policy("dont-trigger-request")),
      summarises("sum", "Something was asked.", "b"),
      result("res", "r"),
    ],
    ends: {
      seen: ["Something was asked.", "call of r", "And hurry.", '{"ok":true,"output":1}'],
      pending: "res",
    },
  },
  {
    name: "REQ-4 a failure never overwrites a newer trigger from outside",
    steps: [says("a", "One."), opens("r", "a"), says("b", "Two."), fails("r")],
    ends: { seen: ["One.", "Two."], pending: "b", open: null },
  },
  {
    name: "REQ-1 REQ-4 input while a retry waits takes its place: the intent for the old trigger is ignored",
    steps: [says("a", "One."), opens("r", "a"), fails("r"), says("b", "Two."), opens("late", "a")],
    ends: { seen: ["One.", "Two."], pending: "b", open: null, covered: "r" },
  },
  {
    name: "REQ-2 REQ-4 the next try after a failure is a new request that sees what came meanwhile",
    steps: [
      says("a", "One."),
      opens("r", "a"),
      says("b", "By the way.", policy("dont-trigger-request")),
      fails("r"),
      opens("s", "a"),
    ],
    ends: {
      seen: ["One.", "By the way."],
      pending: null,
      open: "s",
      covered: "s",
      asOf: { r: ["One."], s: ["One.", "By the way."] },
    },
  },
  {
    name: "REQ-6 a pause drains what is open and keeps what comes from outside for afterwards",
    steps: [
      says("a", "One."),
      opens("r", "a"),
      pauses("lunch"),
      says("b", "Two."),
      settles("r", "First."),
      opens("no", "b"),
      resumes,
    ],
    ends: { seen: ["One.", "Two.", "First."], pending: "b", open: null, covered: "r", paused: false },
  },
  {
    name: "REQ-6 somebody's pause is not ended by input",
    steps: [pauses("lunch"), says("a", "One."), opens("no", "a")],
    ends: { seen: ["One."], pending: "a", open: null, paused: true },
  },
  {
    name: "REQ-6 a stream that paused itself goes on when somebody from outside writes",
    steps: [pauses("turns"), says("a", "Go on."), opens("r", "a")],
    ends: { seen: ["Go on."], pending: null, open: "r", paused: false },
  },
  {
    name: "REQ-3 REQ-6 a stop closes what is open, asks for nothing itself, and keeps what came from outside",
    steps: [
      says("a", "One."),
      opens("r", "a"),
      says("b", "Two."),
      stops,
      settles("r", "First.", "conflict"),
      opens("no", "stop"),
    ],
    ends: {
      seen: ["One.", "Two.", "Sam stopped you."],
      pending: "b",
      open: null,
      covered: "r",
      paused: true,
    },
  },
  {
    name: "REQ-3 REQ-6 after a stop the next message goes on, and the stopped one does not come back",
    steps: [says("a", "One."), opens("r", "a"), stops, resumes],
    ends: { seen: ["One.", "Sam stopped you."], pending: null, open: null, paused: false },
  },
  {
    name: "REQ-5 CTX-3 an answer in flight when its request expires settles nothing",
    steps: [says("a", "One."), opens("r", "a", 0), settles("r", "Too late.", "conflict")],
    ends: { seen: ["One."], pending: null, covered: "r" },
  },
  {
    name: "REQ-5 input while a request expires is answered by the next one",
    steps: [says("a", "One."), opens("r", "a", 0), says("b", "Two."), fails("r", "conflict")],
    ends: { seen: ["One.", "Two."], pending: "b" },
  },
];
