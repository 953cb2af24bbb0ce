import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { idOf, QUILL, SCOUT, SPACE, SPACE_2 } from "../../test/sdk/fakes.ts";
import type { MessageNew } from "../shared/wire/message.ts";
import { type Change, type Plan, TurnQueue } from "./turns.ts";

function message(n: number, fields: object = {}): MessageNew {
  const base = { type: "message.new", id: idOf("evt", n), seq: n, space_id: SPACE };
  return { ...base, message_id: idOf("msg", n), text: `words ${n}`, ...fields } as MessageNew;
}
const edited = (n: number, text: string) =>
  ({ type: "message.edited", message_id: idOf("msg", n), text, mentions: [ADA] }) as unknown as Change;
const ADA = "usr_01K4ZQPX000000000000000003";
const deleted = (n: number) => ({ type: "message.deleted", message_id: idOf("msg", n) }) as unknown as Change;
const texts = (queue: TurnQueue, plan: Plan | undefined) =>
  plan ? queue.begin(plan).map((event) => event.text) : [];

describe("TURN-6: which messages become which turn", () => {
  test("TURN-6: one turn at a time for an agent in a space; what waited becomes the next", () => {
    const queue = new TurnQueue();
    queue.add(SCOUT, message(1));
    const [first] = queue.take();
    expect(texts(queue, first)).toEqual(["words 1"]);
    queue.add(SCOUT, message(2));
    queue.add(SCOUT, message(3));
    expect(queue.take()).toEqual([]);
    if (first) queue.finish(first);
    expect(texts(queue, queue.take()[0])).toEqual(["words 2", "words 3"]);
  });

  test("TURN-6: other agents, and the same agent elsewhere, have turns of their own", () => {
    const queue = new TurnQueue();
    queue.add(SCOUT, message(1));
    queue.add(QUILL, message(1));
    queue.add(SCOUT, message(2, { space_id: SPACE_2 }));
    expect(queue.take().map(({ taker, spaceId }) => [taker, spaceId])).toEqual([
      [SCOUT, SPACE],
      [QUILL, SPACE],
      [SCOUT, SPACE_2],
    ]);
  });

  test("TURN-1: a run names at most a hundred messages; the rest is the next turn", () => {
    const queue = new TurnQueue();
    for (let n = 1; n <= 130; n++) queue.add(SCOUT, message(n));
    const [first] = queue.take();
    expect(texts(queue, first)).toHaveLength(100);
    if (first) queue.finish(first);
    expect(texts(queue, queue.take()[0])).toHaveLength(30);
  });

  test("NEW-9: the same message handed over again takes its own place", () => {
    const queue = new TurnQueue();
    queue.add(SCOUT, message(1));
    queue.add(SCOUT, message(2));
    const again = queue.add(SCOUT, message(5, { message_id: idOf("msg", 1), text: "handed" }));
    expect(again.map(({ event }) => event.seq)).toEqual([1]);
    expect(texts(queue, queue.take()[0])).toEqual(["words 2", "handed"]);
  });

  test("NEW-7: a turn not begun uses the edited words, also once its run is starting; a begun one does not", () => {
    const queue = new TurnQueue();
    queue.add(SCOUT, message(1));
    queue.apply(edited(1, "better"));
    const [plan] = queue.take();
    queue.apply(edited(1, "best"));
    const [event] = plan ? queue.begin(plan) : [];
    expect(event).toMatchObject({ text: "best", mentions: [ADA] });
    queue.apply(edited(1, "late"));
    expect(event?.text).toBe("best");
  });

  test("NEW-7: a deleted message starts no turn and is told as dropped", () => {
    const queue = new TurnQueue();
    queue.add(SCOUT, message(1));
    queue.add(QUILL, message(1));
    queue.add(SCOUT, message(2));
    expect(queue.apply(deleted(1)).map(({ taker }) => taker)).toEqual([SCOUT, QUILL]);
    const plans = queue.take();
    expect(plans).toHaveLength(1);
    expect(texts(queue, plans[0])).toEqual(["words 2"]);
  });

  test("NEW-7: the context and the quote of a waiting turn read as the room does now", () => {
    const queue = new TurnQueue();
    const line = { seq: 1, message_id: idOf("msg", 1), kind: "said", text: "old" };
    const context = { lines: [line, { ...line, message_id: idOf("msg", 2) }] };
    queue.add(
      SCOUT,
      message(3, { context, replying_to: { ...line, files: ["a"], attachments: [], before: [line] } }),
    );
    queue.apply(edited(1, "new"));
    queue.apply(deleted(2));
    const [plan] = queue.take();
    expect(plan && queue.taken(plan)[0]).toMatchObject({
      context: { lines: [{ text: "new" }] },
      replying_to: { text: "new", edited: true, before: [{ text: "new" }] },
    });
    queue.apply(deleted(1));
    const [event] = plan ? queue.begin(plan) : [];
    expect(event?.context?.lines).toEqual([]);
    expect(event?.replying_to).toEqual({
      seq: 1,
      message_id: idOf("msg", 1),
      kind: "said",
      edited: true,
      before: [],
      deleted: true,
    });
  });

  test("ATT-7: a transcript that comes later reaches a waiting turn", () => {
    const queue = new TurnQueue();
    queue.add(SCOUT, message(1, { attachments: [{ attachment_id: "a" }, { attachment_id: "b" }] }));
    const change = {
      type: "file.transcribed",
      message_id: idOf("msg", 1),
      attachment_id: "b",
      transcript: "hi",
    };
    queue.apply(change as unknown as Change);
    expect(queue.begin(queue.take()[0] as Plan)[0]?.attachments).toEqual([
      { attachment_id: "a" },
      { attachment_id: "b", transcript: "hi" },
    ]);
  });

  test("TURN-6: whatever comes and ends when, each message is in one turn, in order, one turn at a time", () => {
    const step = fc.oneof(
      fc.record({ add: fc.constantFrom(SCOUT, QUILL), space: fc.constantFrom(SPACE, SPACE_2) }),
      fc.record({ finish: fc.nat(5) }),
      fc.constant({ take: true as const }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const queue = new TurnQueue();
        const live: Plan[] = [];
        const had = new Map<string, number[]>();
        const given = new Map<string, number[]>();
        const take = () => {
          for (const plan of queue.take()) {
            expect(live.map((one) => one.key)).not.toContain(plan.key);
            live.push(plan);
            const seqs = queue.begin(plan).map((event) => event.seq ?? 0);
            expect(seqs.length).toBeGreaterThan(0);
            note(had, plan.key, seqs);
          }
        };
        const finish = (n: number) => {
          const [plan] = live.splice(n % Math.max(1, live.length), 1);
          if (plan) queue.finish(plan);
        };
        let seq = 0;
        for (const one of steps) {
          if ("add" in one) {
            queue.add(one.add, message(++seq, { space_id: one.space }));
            note(given, `${one.add} ${one.space}`, [seq]);
          } else if ("finish" in one) finish(one.finish);
          else take();
        }
        take();
        while (live.length > 0) {
          finish(0);
          take();
        }
        expect(Object.fromEntries(had)).toEqual(Object.fromEntries(given));
      }),
    );
  });
});

function note(into: Map<string, number[]>, key: string, seqs: number[]): void {
  into.set(key, [...(into.get(key) ?? []), ...seqs]);
}
