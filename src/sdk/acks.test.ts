import fc from "fast-check";
import { expect, test } from "vitest";
import { AckTracker } from "./acks.ts";

test("CONN-4: nothing at or over the lowest unfinished event is acknowledged", () => {
  const acks = new AckTracker();
  acks.begin("a", 3, ["scout", "quill"]);
  acks.begin("b", 5, []);
  acks.begin("c", 9, ["scout"]);
  expect(acks.handled).toBe(2);
  acks.settle("a", "scout");
  acks.settle("a", "scout");
  expect(acks.handled).toBe(2);
  acks.settle("a", "quill");
  expect(acks.handled).toBe(8);
  acks.settle("c", "scout");
  expect(acks.handled).toBe(9);
});

test("CONN-4: what is acknowledged never goes back and never passes what is open", () => {
  const events = fc.array(fc.record({ gap: fc.integer({ min: 1, max: 4 }), parties: fc.nat(2) }), {
    maxLength: 30,
  });
  fc.assert(
    fc.property(events, fc.array(fc.nat(1000)), (list, picks) => {
      const acks = new AckTracker();
      const open: { id: string; seq: number; party: string }[] = [];
      let seq = 0;
      let last = 0;
      const check = () => {
        expect(acks.handled).toBeGreaterThanOrEqual(last);
        last = acks.handled;
        expect(last).toBe(open.length > 0 ? Math.min(...open.map((one) => one.seq)) - 1 : seq);
      };
      for (const { gap, parties } of list) {
        seq += gap;
        const names = Array.from({ length: parties }, (_, n) => `p${n}`);
        acks.begin(`e${seq}`, seq, names);
        open.push(...names.map((party) => ({ id: `e${seq}`, seq, party })));
        check();
      }
      for (const pick of picks) {
        const [one] = open.splice(pick % Math.max(1, open.length), 1);
        if (one) acks.settle(one.id, one.party);
        check();
      }
    }),
  );
});

test("CONN-4: a reset starts anew, also lower", () => {
  const acks = new AckTracker(90);
  acks.begin("a", 91, ["scout"]);
  acks.reset(12);
  acks.settle("a", "scout");
  expect(acks.handled).toBe(12);
});
