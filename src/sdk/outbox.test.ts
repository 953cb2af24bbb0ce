import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FakeClock, settle } from "../../test/sdk/fakes.ts";
import type { Receipt } from "../shared/wire/connection.ts";
import { type ErrorCode, errorOf } from "../shared/wire/errors.ts";
import { Outbox } from "./outbox.ts";

function setUp() {
  const clock = new FakeClock();
  const out: string[] = [];
  const outbox = new Outbox((text) => out.push((JSON.parse(text) as { id: string }).id), clock);
  const refuse = (of: string, code: ErrorCode, more = {}) =>
    outbox.answer(errorOf({ code, message: "No.", ...more }, of));
  return { clock, out, outbox, refuse };
}

const receipt = (of: string): Receipt => ({ v: 1, type: "receipt", of, id: of, seq: 1 });

describe("ENV-4: writes are kept until they are answered", () => {
  test("CONN-5: a receipt resolves the write that it names, and only that", async () => {
    const { outbox } = setUp();
    outbox.online();
    const a = outbox.add({ id: "a" }, "1");
    const b = outbox.add({ id: "b" }, "2");
    expect(outbox.answer(receipt("zzz"))).toBe(false);
    expect(outbox.answer(receipt("b"))).toBe(true);
    await expect(b).resolves.toMatchObject({ of: "b" });
    expect(outbox.size).toBe(1);
    outbox.answer(receipt("a"));
    await expect(a).resolves.toMatchObject({ of: "a" });
    await outbox.idle();
  });

  test("ENV-4: what is unanswered when the connection breaks goes out again, in order, as it was", () => {
    const { out, outbox } = setUp();
    void outbox.add({ id: "a" }, "1");
    void outbox.add({ id: "b" }, "2");
    expect(out).toEqual([]);
    outbox.online();
    outbox.answer(receipt("a"));
    void outbox.add({ id: "c" }, "3");
    outbox.offline();
    void outbox.add({ id: "d" }, "2");
    expect(out).toEqual(["a", "b", "c"]);
    outbox.online();
    expect(out).toEqual(["a", "b", "c", "b", "c"]);
    outbox.answer(receipt("b"));
    expect(out.at(-1)).toBe("d");
  });

  test("ERR-2: a refusal for good rejects with its code, details and words", async () => {
    const { outbox, refuse } = setUp();
    outbox.online();
    const write = outbox.add({ id: "a" }, "1");
    refuse("a", "invalid", { details: [{ path: "text", message: "missing" }] });
    await expect(write).rejects.toMatchObject({
      code: "invalid",
      message: "No.",
      retryable: false,
      details: [{ path: "text", message: "missing" }],
    });
  });

  test("LIMIT-2: over the limit everything waits as long as the server says, then goes on in order", async () => {
    const { clock, out, outbox, refuse } = setUp();
    outbox.online();
    const write = outbox.add({ id: "a" }, "1");
    refuse("a", "rate_limited", { retry_after_s: 2 });
    void outbox.add({ id: "b" }, "1");
    void outbox.add({ id: "c" }, "2");
    await clock.advance(1999);
    expect(out).toEqual(["a"]);
    await clock.advance(500);
    expect(out).toEqual(["a", "a", "c"]);
    outbox.answer(receipt("a"));
    await write;
    expect(out).toEqual(["a", "a", "c", "b"]);
  });

  test("ERR-2: unavailable is tried again with growing waits and holds up no other lane", async () => {
    const { clock, out, outbox, refuse } = setUp();
    outbox.online();
    void outbox.add({ id: "a" }, "1");
    refuse("a", "unavailable");
    void outbox.add({ id: "b" }, "2");
    expect(out).toEqual(["a", "b"]);
    await clock.advance(250);
    refuse("a", "unavailable");
    await clock.advance(250);
    expect(out).toEqual(["a", "b", "a"]);
    await clock.advance(250);
    expect(out).toEqual(["a", "b", "a", "a"]);
  });

  test("ERR-2: an internal error that stays is passed on in the end", async () => {
    const { clock, outbox, refuse } = setUp();
    outbox.online();
    const write = outbox.add({ id: "a" }, "1");
    for (let n = 0; n < 5; n++) {
      refuse("a", "internal");
      await clock.advance(30_000);
    }
    refuse("a", "internal");
    await expect(write).rejects.toMatchObject({ code: "internal", retryable: true });
  });

  test("CONN-8: after the end every write is refused, and nothing waits", async () => {
    const { clock, outbox, refuse } = setUp();
    outbox.online();
    const write = outbox.add({ id: "a" }, "1");
    refuse("a", "unavailable");
    const { BullpenError } = await import("./errors.ts");
    outbox.fail(new BullpenError("unauthenticated", "Gone."));
    await expect(write).rejects.toMatchObject({ code: "unauthenticated" });
    await expect(outbox.add({ id: "b" }, "1")).rejects.toMatchObject({ code: "unauthenticated" });
    await outbox.idle();
    await clock.advance(60_000);
    expect(outbox.size).toBe(0);
  });

  test("ENV-4: whatever breaks and is refused in passing, each write is taken in once and a lane keeps its order", async () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant("write" as const), lane: fc.constantFrom("1", "2", "3") }),
      fc.record({ do: fc.constantFrom("take", "lose", "limit", "fault", "break", "wait") }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const clock = new FakeClock();
        const pending: string[] = [];
        const taken: string[] = [];
        const outbox = new Outbox((text) => pending.push((JSON.parse(text) as { id: string }).id), clock);
        const written: { id: string; lane: string }[] = [];
        const promises: Promise<unknown>[] = [];
        const take = (id: string, answered: boolean) => {
          if (!taken.includes(id)) taken.push(id);
          if (answered) outbox.answer({ v: 1, type: "receipt", of: id, id, seq: 1 });
        };
        outbox.online();
        for (const one of steps) {
          if ("lane" in one) {
            const id = `w${written.length}`;
            written.push({ id, lane: one.lane });
            promises.push(outbox.add({ id }, one.lane));
            continue;
          }
          if (one.do === "break") {
            outbox.offline();
            pending.length = 0;
            outbox.online();
          } else if (one.do === "wait") await clock.advance(5000);
          else {
            const id = pending.shift();
            if (id === undefined) continue;
            if (one.do === "take") take(id, true);
            else if (one.do === "lose") {
              take(id, false);
              outbox.offline();
              pending.length = 0;
              outbox.online();
            } else
              outbox.answer(
                errorOf({ code: one.do === "limit" ? "rate_limited" : "unavailable", message: "" }, id),
              );
          }
        }
        while (outbox.size > 0) {
          await clock.advance(60_000);
          for (const id of pending.splice(0)) take(id, true);
          await settle();
        }
        await Promise.all(promises);
        for (const lane of ["1", "2", "3"]) {
          const mine = written.filter((one) => one.lane === lane).map((one) => one.id);
          expect(taken.filter((id) => mine.includes(id))).toEqual(mine);
        }
        expect(taken).toHaveLength(written.length);
      }),
      { numRuns: 60 },
    );
  });
});
