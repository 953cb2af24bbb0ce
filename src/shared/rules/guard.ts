import { overlap, wordTokens } from "./tokens.ts";

export { type ExchangeFacts, exchangeNote } from "./guard-note.ts";

/** What a workspace sets of the guard (GUARD-2); `hold: null` holds only on a pause. */
export interface GuardSettings {
  stop: number;
  hold: number | null;
  circles: boolean;
}

/** Where the count begins (GUARD-1): a person's act, an agent's new work, or the start of the room. */
export interface Reset {
  kind: "person" | "work" | "start";
  seq: number;
  at?: number;
  by?: string;
  made?: "file" | "question" | "approval";
  file?: string;
}

/** An agent's message for an agent, as a circle is seen in (GUARD-3). */
export interface Recent {
  message_id: string;
  by: string;
  repeat: boolean;
}

/** A message since the reset that repeats (GUARD-3). */
export interface Repeat {
  message_id: string;
  by: string;
  kind: "file" | "words";
  file?: string;
}

/**
 * How the agents' talk in a space stands: a fold over its log of fixed size, so that a post costs the same at any
 * length of the log. `total` is what GUARD-7 counts: agents' messages for agents since a person acted.
 */
export interface ExchangeState {
  since: Reset;
  count: number;
  /** Newest last, at most six: what a circle of three can be seen in. */
  recent: Recent[];
  /** Newest last, at most twenty. */
  repeats: Repeat[];
  total: number;
  /** Who last acted here. */
  person?: string;
}

export const EMPTY_EXCHANGE: ExchangeState = {
  since: { kind: "start", seq: 0 },
  count: 0,
  recent: [],
  repeats: [],
  total: 0,
};

/** A count below this is told to nobody (GUARD-2). */
export const EXCHANGE_FROM = 8;
/** How many of a sender's messages since the reset its words are compared with (GUARD-3). */
export const REPEAT_LOOKS_BACK = 50;

const MOST_RECENT = 6;
const MOST_REPEATS = 20;
const LEAST_TOKENS = 8;
const ALIKE = 0.8;
const HOLD_WHERE_OFF = 48;
const PAUSE_FACTOR = 4;

/** After a person's act in the space: everything begins anew (GUARD-1, GUARD-7). */
export function afterAct(_state: ExchangeState, act: { seq: number; at: number; by: string }): ExchangeState {
  const { seq, at, by } = act;
  return { ...EMPTY_EXCHANGE, since: { kind: "person", seq, at, by }, person: by };
}

/** What an agent made new, and the `seq` of the event that holds it: for a file the message's own. */
export interface Work {
  seq: number;
  at: number;
  by: string;
  made: "file" | "question" | "approval";
  file?: string;
}

/** After an agent's new work: the count begins anew, the total does not (GUARD-1, GUARD-7). */
export function afterWork(state: ExchangeState, work: Work): ExchangeState {
  const { seq, at, by, made, file } = work;
  const since: Reset = { kind: "work", seq, at, by, made, ...(file === undefined ? {} : { file }) };
  return { ...state, since, count: 0, recent: [], repeats: [] };
}

/** An agent's message for an agent, held or not; `repeat` is absent when it repeats nothing. */
export interface AgentMessage {
  message_id: string;
  seq: number;
  at: number;
  by: string;
  repeat?: { kind: "file" | "words"; file?: string };
}

/**
 * After an agent's message for an agent. A message that is itself new work is told twice, to `afterWork` and then
 * here: it has the reset's `seq`, counts 0 (GUARD-1) and is yet one more in the total, without which agents with a
 * new file each time would never stop (GUARD-7).
 */
export function afterMessage(state: ExchangeState, message: AgentMessage): ExchangeState {
  const total = state.total + 1;
  if (message.seq <= state.since.seq) return { ...state, total };
  const { message_id, by, repeat } = message;
  const recent = [...state.recent, { message_id, by, repeat: repeat !== undefined }].slice(-MOST_RECENT);
  const repeats = repeat
    ? [...state.repeats, { message_id, by, ...repeat }].slice(-MOST_REPEATS)
    : state.repeats;
  return { ...state, count: state.count + 1, recent, repeats, total };
}

/**
 * Whether words repeat one of the same sender's earlier texts (GUARD-3): eight different tokens at least, and sets
 * of tokens that are 0.8 alike. The caller gives the sender's last 50 texts since the reset.
 */
export function isRepeat(text: string, earlier: Iterable<string>): boolean {
  const tokens = new Set(wordTokens(text));
  if (tokens.size < LEAST_TOKENS) return false;
  for (const one of earlier) if (overlap(tokens, new Set(wordTokens(one))) >= ALIKE) return true;
  return false;
}

/** Whether two or three agents take turns with nothing new: two equal rounds with a repeat in them (GUARD-3). */
export function isCircling(state: ExchangeState): boolean {
  return [2, 3].some((n) => {
    const rounds = state.recent.slice(-2 * n);
    return (
      rounds.length === 2 * n &&
      new Set(rounds.map(({ by }) => by)).size === n &&
      rounds.slice(n).every(({ by }, i) => by === rounds[i]?.by) &&
      rounds.some(({ repeat }) => repeat)
    );
  });
}

/** What becomes of a message from an agent for an agent; `pause`: with it the room pauses its agents (GUARD-7). */
export interface Verdict {
  stage: "quiet" | "nudge" | "warning" | "held";
  held: boolean;
  pause: boolean;
  circling: boolean;
  allowance?: number;
}

/**
 * Judges a message by the state that counts it already (GUARD-2, GUARD-5, GUARD-7). The message at which the room
 * pauses is itself held, as number `hold` is. Where circles are off none is reported: the workspace has said that
 * taking turns means nothing there.
 */
export function judge(state: ExchangeState, settings: GuardSettings, paused: boolean): Verdict {
  const circling = settings.circles && isCircling(state);
  return verdictOf({ count: state.count, total: state.total, circling }, settings, paused);
}

/** The numbers that a verdict rests on: kept with the message, they give it again (WHY-1). */
export interface Counted {
  count: number;
  total: number;
  circling: boolean;
}

/** What {@link judge} says once the state is counted; `circling` is false where circles are off. */
export function verdictOf(
  counted: Counted,
  settings: Omit<GuardSettings, "circles">,
  paused: boolean,
): Verdict {
  const { stop, hold } = settings;
  const { count, circling } = counted;
  const exhausted = counted.total >= mostWithoutPerson(hold);
  const held = paused || exhausted || (hold !== null && count >= hold);
  return {
    stage: held ? "held" : stageOf(count, stop, circling),
    held,
    pause: exhausted && !paused,
    circling,
    ...(hold === null ? {} : { allowance: hold }),
  };
}

/** So many messages for agents since a person acted, and the room pauses its agents (GUARD-7). */
export function mostWithoutPerson(hold: number | null): number {
  return PAUSE_FACTOR * (hold ?? HOLD_WHERE_OFF);
}

function stageOf(count: number, stop: number, circling: boolean): "quiet" | "nudge" | "warning" {
  if (circling || count >= stop) return "warning";
  return count >= stop / 2 ? "nudge" : "quiet";
}
