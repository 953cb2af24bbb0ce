import { describe, expect, it } from "vitest";
import { held, setUp } from "../../test/sdk/agent-kit.ts";
import { settle } from "../../test/sdk/fakes.ts";
import type { HandBack, Item } from "./item.ts";

const bytes = (text = ""): number => new TextEncoder().encode(text).byteLength;

/** Some time, in which everything that is due happens. */
async function rest(clock: { advance(ms: number): Promise<void> }): Promise<void> {
  for (let n = 0; n < 30; n++) await clock.advance(1000);
}

describe("OFFER-1: an offer", () => {
  it("is accepted with what the team's config says of this person, and done", async () => {
    const { office, connect } = setUp();
    office.team = {
      roles: { dev: { title: "Developer" } },
      people: [{ handle: "ada", name: "Ada", role: "dev", model: "m-1", runtime: "claude" }],
    };
    await connect().ready;
    office.queue("itm_1");
    await settle();
    expect(office.socket.of("accept")).toMatchObject([
      { payload: { workItemId: "itm_1", runtime: "claude", model: "m-1" } },
    ]);
    expect(office.items.get("itm_1")?.outcomes).toEqual([
      {
        type: "handback",
        payload: { workItemId: "itm_1", summary: "did itm_1", links: [], status: "done" },
      },
    ]);
  });

  it("that comes twice is accepted once, and the newest is what is worked on", async () => {
    const { items, onItem } = held();
    const { office, connect } = setUp({ onItem });
    office.onFrame = (frame) => (frame.type === "accept" ? "lost" : undefined);
    await connect().ready;
    const item = office.queue("itm_1");
    await settle();
    office.push("offer", {
      ...item.offer,
      context: { journal: [], subjects: [], links: [{ url: "https://x.example/new" }] },
    });
    await settle();
    const [accept] = office.socket.of("accept");
    office.push("ack", {}, "late");
    office.socket.emit("message", {
      data: JSON.stringify({ id: "o", replyTo: accept?.id, type: "ack", payload: {} }),
    });
    await settle();
    expect(office.socket.of("accept")).toHaveLength(1);
    expect(items.map(({ offer }) => offer.context.links)).toEqual([[{ url: "https://x.example/new" }]]);
  });

  it("OFF-4: that is not understood is answered with an error, which declines it", async () => {
    const { office, connect } = setUp();
    await connect().ready;
    office.push("offer", { workItem: { id: 7 } }, "bad");
    await settle();
    expect(office.socket.of("error")).toMatchObject([
      { replyTo: "bad", payload: { code: "invalid_message", message: expect.stringContaining("workItem") } },
    ]);
  });

  it("OFFER-3: may be declined with a reason", async () => {
    const { office, connect } = setUp({
      onOffer: ({ workItem }) => (workItem.kind === "merge" ? { decline: "I merge nothing." } : undefined),
    });
    await connect().ready;
    office.queue("itm_1", { kind: "merge" });
    await settle();
    expect(office.socket.of("decline")).toMatchObject([
      { payload: { workItemId: "itm_1", reason: "I merge nothing." } },
    ]);
    expect(office.socket.of("accept")).toEqual([]);
  });

  it("OFFER-1: that was withdrawn is no fault, and the next one is taken", async () => {
    const { office, connect, errors } = setUp();
    office.onFrame = (frame) =>
      frame.type === "accept" && frame.payload["workItemId"] === "itm_1"
        ? { type: "error", payload: { code: "invalid", message: "Withdrawn." } }
        : undefined;
    await connect().ready;
    const gone = office.queue("itm_1");
    await settle();
    gone.state = "ended";
    office.queue("itm_2");
    await settle();
    expect(office.items.get("itm_2")?.outcomes).toHaveLength(1);
    expect(errors).toEqual([]);
  });

  it("whose accept is not answered brings a new connection, which says what became of it", async () => {
    const { office, connect, clock } = setUp();
    let lost = 0;
    office.onFrame = (frame) => (frame.type === "accept" && lost++ === 0 ? "lost" : undefined);
    await connect().ready;
    office.queue("itm_1");
    office.heartbeatMs = 3_600_000;
    await clock.advance(60_000);
    await rest(clock);
    expect(office.sockets.length).toBeGreaterThan(1);
    expect(office.items.get("itm_1")?.outcomes).toHaveLength(1);
  });
});

describe("OFFER-6: the end of a round", () => {
  const ends: [string, () => unknown, object][] = [
    ["words are the summary", () => "all done", { type: "handback", payload: { status: "done" } }],
    ["nothing is silent", () => undefined, { type: "handback", payload: { status: "silent", summary: "" } }],
    [
      "more can be said",
      () => ({ summary: "waits", status: "waiting", toReview: ["acme/shop#1"] }) satisfies HandBack,
      { type: "handback", payload: { status: "waiting", toReview: ["acme/shop#1"] } },
    ],
    [
      "a throw is a failure",
      () => {
        throw new Error("no access");
      },
      { type: "fail", payload: { reason: "no access" } },
    ],
  ];
  it.each(ends)("%s", async (_, result, outcome) => {
    const { office, connect, errors } = setUp({ onItem: result as () => string });
    await connect().ready;
    office.queue("itm_1");
    await settle();
    expect(office.items.get("itm_1")?.outcomes).toMatchObject([outcome]);
    expect(errors).toEqual([]);
  });

  it("ITEM-1: what is too long is cut to what the office takes", async () => {
    const { office, connect } = setUp({
      async onItem(item) {
        await item.progress("p".repeat(600));
        await item.journal("ä".repeat(20_000));
        return "😀".repeat(40_000);
      },
    });
    await connect().ready;
    const item = office.queue("itm_1");
    await settle();
    const summary = String(item.outcomes[0]?.payload["summary"]);
    expect(item.progress).toEqual([`${"p".repeat(499)}…`]);
    expect(bytes(item.journal[0]?.text)).toBeLessThanOrEqual(16 * 1024);
    expect(bytes(summary)).toBeLessThanOrEqual(64 * 1024);
    expect(summary).toMatch(/^(😀)+\n\(cut/u);
  });

  const total = { inputTokens: 1, outputTokens: 2, cacheReadTokens: 0, cacheCreationTokens: 0 };
  it("USE-1: the last total of each session goes with it", async () => {
    const { office, connect } = setUp({
      onItem(item) {
        item.used("s1", { m: total });
        item.used("s1", { m: { ...total, inputTokens: 5 } });
        item.used("s2", { m: total });
        return "done";
      },
    });
    await connect().ready;
    const item = office.queue("itm_1");
    await settle();
    expect(item.outcomes[0]?.payload["usage"]).toEqual([
      { session: "s1", models: { m: { ...total, inputTokens: 5 } } },
      { session: "s2", models: { m: total } },
    ]);
  });

  it("can be said before the handler returns, and then what it returns counts no more", async () => {
    const { office, connect, errors } = setUp({
      async onItem(item) {
        await item.handback({ summary: "early", status: "waiting" });
        await expect(item.fail("late")).rejects.toMatchObject({ code: "invalid" });
        return "ignored";
      },
    });
    await connect().ready;
    const item = office.queue("itm_1");
    await settle();
    expect(item.outcomes).toMatchObject([{ payload: { summary: "early", status: "waiting" } }]);
    expect(errors).toEqual([]);
  });

  const none: [string, (item: Item) => unknown, string][] = [
    [
      "a fault in the usage",
      () => ({ summary: "x", usage: [{ session: "s", models: { m: {} } }] }),
      "usage.0",
    ],
    ["half a token", (item) => item.used("s", { m: { ...total, inputTokens: 0.5 } }), "inputTokens"],
    ["a number as a link", () => ({ summary: "x", links: [7] }), "links.0"],
    ["no summary", () => ({ status: "done" }), "summary"],
    ["an ending from inside", (item) => item.handback({ summary: "x", status: "over" as "done" }), "status"],
    ["a failure's usage", (item) => item.fail("x", [{ session: "s" }] as never), "models"],
  ];
  it.each(none)(
    "AGENT-2: that is none is a failure which says so, and the next comes: %s",
    async (...test) => {
      const [, result, words] = test;
      const { office, connect, errors } = setUp({
        onItem: (item) => (item.id === "itm_1" ? (result(item) as string) : "next"),
      });
      await connect().ready;
      const item = office.queue("itm_1");
      const next = office.queue("itm_2");
      await settle();
      expect(item.outcomes).toMatchObject([
        { type: "fail", payload: { reason: expect.stringContaining(words) } },
      ]);
      expect(next.outcomes).toMatchObject([{ payload: { summary: "next" } }]);
      expect(errors).toEqual([]);
    },
  );

  it("OFF-1: what no frame may hold is replaced in its words", async () => {
    const { office, connect } = setUp({
      async onItem(item) {
        await item.progress("a\0b");
        await item.journal("c\0\uD800");
        return "d\0e";
      },
    });
    await connect().ready;
    const item = office.queue("itm_1");
    await settle();
    expect(item.progress).toEqual(["a\uFFFDb"]);
    expect(item.journal).toMatchObject([{ text: "c\uFFFD\uFFFD" }]);
    expect(item.outcomes).toMatchObject([{ payload: { summary: "d\uFFFDe" } }]);
  });

  it("AGENT-2: that the office refuses becomes a failure, so that the item has a holder", async () => {
    const { office, connect, errors } = setUp();
    office.onFrame = (frame) =>
      frame.type === "handback"
        ? { type: "error", payload: { code: "invalid", message: "Too long." } }
        : undefined;
    await connect().ready;
    const item = office.queue("itm_1");
    await settle();
    expect(item.outcomes).toMatchObject([
      { type: "fail", payload: { reason: expect.stringMatching(/Too long\..*\n\ndid itm_1$/u) } },
    ]);
    expect(errors).toMatchObject([{ code: "invalid" }]);
  });

  it("that fails in passing is tried until it is taken", async () => {
    const { office, connect, clock, errors } = setUp();
    let tries = 0;
    office.onFrame = (frame) =>
      frame.type === "handback" && ++tries < 4
        ? { type: "error", payload: { code: "failed", message: "Later." } }
        : undefined;
    await connect().ready;
    const item = office.queue("itm_1");
    await rest(clock);
    expect(item.outcomes).toHaveLength(1);
    expect(new Set(office.socket.of("handback").map(({ id }) => id)).size).toBe(1);
    expect(errors).toHaveLength(3);
  });
});

describe("REPORT-1: what comes of an ending", () => {
  it("is asked for before the same item is accepted again, also when that fails at first", async () => {
    const { office, connect, clock } = setUp();
    await connect().ready;
    let rounds = 0;
    office.onFrame = (frame) => {
      // Feedback came while it ran: the next round is offered with the hand-back's answer.
      if (frame.type === "handback" && ++rounds === 1) queueMicrotask(() => office.again("itm_1"));
      const isFirst = frame.type === "chat_report" && office.socket.of("chat_report").length === 1;
      return isFirst ? { type: "error", payload: { code: "failed", message: "Later." } } : undefined;
    };
    const item = office.queue("itm_1");
    await rest(clock);
    const types = office.socket.sent.map(({ type }) => type);
    expect(types.slice(1, 6).join(" ")).toBe("accept handback chat_report chat_report accept");
    expect(item.outcomes).toHaveLength(2);
  });
});

describe("OFFER-7: an item that a person stops", () => {
  it("ends its handler with the office's words, and nothing is handed back", async () => {
    const { items, onItem, break: breakOff } = held();
    const { office, connect, clock } = setUp({ onItem });
    await connect().ready;
    office.queue("itm_1");
    await settle();
    office.stop("itm_1", "Anna");
    await clock.advance(21_000);
    expect(items[0]?.signal.reason).toMatchObject({ code: "unknown_item", message: "stopped by Anna" });
    breakOff(0, new Error("aborted"));
    await settle();
    expect(office.socket.of("handback")).toEqual([]);
    expect(office.socket.of("fail")).toEqual([]);
  });

  it("AGENT-2: the next one waits until that handler is done, and not for ever", async () => {
    const { items, onItem, end } = held();
    const { office, connect, clock } = setUp({ onItem });
    await connect().ready;
    for (const id of ["itm_1", "itm_2", "itm_3"]) office.queue(id);
    await settle();
    office.stop("itm_1", "Anna");
    await items[0]?.progress("on it").catch(() => {});
    await clock.advance(10_000);
    expect(items).toHaveLength(1);
    end(0);
    await settle();
    expect(items.map(({ id }) => id)).toEqual(["itm_1", "itm_2"]);
    office.stop("itm_2", "Anna");
    await items[1]?.progress("on it").catch(() => {});
    await clock.advance(30_000);
    expect(items.map(({ id }) => id)).toEqual(["itm_1", "itm_2", "itm_3"]);
  });

  it("a late hand-back goes out before the same item is accepted again", async () => {
    const { items, onItem, end } = held();
    const { office, connect } = setUp({ onItem });
    await connect().ready;
    const item = office.queue("itm_1");
    await settle();
    office.stop("itm_1", "Anna");
    await items[0]?.progress("on it").catch(() => {});
    office.again("itm_1");
    await settle();
    expect(items).toHaveLength(1);
    end(0, "half of it");
    await settle();
    const types = office.socket.sent.map(({ type }) => type);
    expect(types.join(" ")).toBe("hello accept progress handback accept");
    expect(item.outcomes).toEqual([]);
    expect(items).toHaveLength(2);
  });

  it("what was taken back while there was no connection is ended at the welcome", async () => {
    const { items, onItem } = held();
    const { office, connect, clock } = setUp({ onItem });
    await connect().ready;
    office.queue("itm_1");
    await settle();
    office.socket.drop();
    office.stop("itm_1", "Anna");
    await clock.advance(30_000);
    expect(items[0]?.signal.aborted).toBe(true);
  });
});
