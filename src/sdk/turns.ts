/** Which messages become which turn (TURN-6). Plain data: no clock, no network. */
import type { Fact, FactType } from "../shared/wire/index.ts";
import type { MessageNew } from "../shared/wire/message.ts";
import type { Line } from "../shared/wire/parts.ts";

/** A turn that may begin now: its messages are asked for with `begin`, as they may still change. */
export interface Plan {
  readonly key: string;
  /** Whose turn it is: an agent, or the harness itself. */
  readonly taker: string;
  readonly spaceId: string;
}

interface Lane extends Plan {
  waiting: MessageNew[];
  /** Taken by a turn; still open to edits until it has begun. */
  taken: MessageNew[];
  busy: boolean;
}

export type Change = Fact<Extract<FactType, "message.edited" | "message.deleted" | "file.transcribed">>;
export interface Dropped {
  taker: string;
  event: MessageNew;
}

/** A run names at most so many messages; what is over waits for the next turn. */
const MOST = 100;

/** The messages that wait for each agent in each space, and whether it has a turn going there. */
export class TurnQueue {
  readonly #lanes = new Map<string, Lane>();

  /** A message for this taker. What it takes the place of, the same message handed over again, is returned. */
  add(taker: string, event: MessageNew): Dropped[] {
    const spaceId = event.space_id ?? "";
    const key = `${taker} ${spaceId}`;
    const lane = this.#lanes.get(key) ?? { key, taker, spaceId, waiting: [], taken: [], busy: false };
    this.#lanes.set(key, lane);
    const again = lane.waiting.filter((other) => other.message_id === event.message_id);
    lane.waiting = [...lane.waiting.filter((other) => !again.includes(other)), event];
    return again.map((other) => ({ taker, event: other }));
  }

  /** The turns that may begin: of those with something waiting, each without a turn going. */
  take(): Plan[] {
    const plans: Plan[] = [];
    for (const lane of this.#lanes.values()) {
      if (lane.busy || lane.waiting.length === 0) continue;
      lane.busy = true;
      lane.taken = lane.waiting.splice(0, MOST);
      plans.push({ key: lane.key, taker: lane.taker, spaceId: lane.spaceId });
    }
    return plans;
  }

  /** A place for a run that goes on; undefined while its agent has a turn going in the space. */
  reserve(taker: string, spaceId: string): Plan | undefined {
    const key = `${taker} ${spaceId}`;
    const lane = this.#lanes.get(key) ?? { key, taker, spaceId, waiting: [], taken: [], busy: false };
    if (lane.busy) return undefined;
    lane.busy = true;
    this.#lanes.set(key, lane);
    return { key, taker, spaceId };
  }

  /** The messages of a turn that has not begun, oldest first. */
  taken(plan: Plan): readonly MessageNew[] {
    return this.#lanes.get(plan.key)?.taken ?? [];
  }

  /** Gives up the oldest message of a turn that has not begun. */
  giveUpOldest(plan: Plan): MessageNew | undefined {
    return this.#lanes.get(plan.key)?.taken.shift();
  }

  /** The turn begins with these, oldest first; from now on they are as they are. */
  begin(plan: Plan): MessageNew[] {
    return this.#lanes.get(plan.key)?.taken.splice(0) ?? [];
  }

  /** The turn is over, and the next may be taken. */
  finish(plan: Plan): void {
    const lane = this.#lanes.get(plan.key);
    if (!lane) return;
    lane.busy = false;
    lane.taken = [];
    if (lane.waiting.length === 0) this.#lanes.delete(plan.key);
  }

  /** Turns not begun use the edited words; a deleted message is dropped, and returned (NEW-7). */
  apply(change: Change): Dropped[] {
    const dropped: Dropped[] = [];
    for (const lane of this.#lanes.values()) {
      const keep = (events: MessageNew[]): MessageNew[] =>
        events.flatMap((event) => {
          const after = changed(event, change);
          if (!after) dropped.push({ taker: lane.taker, event });
          return after ?? [];
        });
      lane.waiting = keep(lane.waiting);
      lane.taken = keep(lane.taken);
      if (!lane.busy && lane.waiting.length === 0) this.#lanes.delete(lane.key);
    }
    return dropped;
  }
}

/** The delivery after a change, its context and its quote with it; nothing when it is the deleted message. */
export function changed<E extends Omit<MessageNew, "type">>(event: E, change: Change): E | undefined {
  const { message_id: id } = change;
  if (change.type === "file.transcribed") {
    const { attachment_id, transcript } = change;
    const attachments = event.attachments?.map((file) =>
      file.attachment_id === attachment_id ? { ...file, transcript } : file,
    );
    return event.message_id === id && attachments ? { ...event, attachments } : event;
  }
  if (change.type === "message.deleted" && event.message_id === id) return undefined;
  const after = { ...event };
  if (change.type === "message.edited" && event.message_id === id) {
    after.text = change.text;
    after.mentions = change.mentions;
  }
  const { context, replying_to: quote } = event;
  if (context) after.context = { ...context, lines: lines(context.lines, change) };
  if (!quote) return after;
  const before = quote.before ? { before: lines(quote.before, change) } : {};
  if (quote.message_id !== id) after.replying_to = { ...quote, ...before };
  else if (change.type === "message.edited")
    after.replying_to = { ...quote, ...before, text: change.text, edited: true };
  else {
    const { text: _text, transcript: _heard, files: _names, attachments: _files, ...who } = quote;
    after.replying_to = { ...who, ...before, deleted: true };
  }
  return after;
}

function lines(of: Line[], change: Exclude<Change, { type: "file.transcribed" }>): Line[] {
  if (change.type === "message.deleted") return of.filter((line) => line.message_id !== change.message_id);
  return of.map((line) => (line.message_id === change.message_id ? { ...line, text: change.text } : line));
}
