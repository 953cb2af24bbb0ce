import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { held, setUp } from "../../../test/sdk/agent-kit.ts";
import { settle } from "../../../test/sdk/fakes.ts";
import { ItemDesk } from "./desk.ts";
import { sayForItem } from "./item-client.ts";

let desk: ItemDesk;
beforeEach(async () => {
  desk = await ItemDesk.open();
});
afterEach(() => desk.close());

/** An item that is worked on, and what its program is given. */
async function admitted() {
  const { items, onItem, end } = held();
  const { office, connect } = setUp({ onItem });
  const agent = connect();
  await agent.ready;
  office.queue("itm_1");
  await settle();
  const [item] = items;
  if (!item) throw new Error("no item was taken");
  const admission = desk.admit({ item, agent, onEnd: () => {} });
  return {
    office,
    agent,
    end,
    env: admission.env,
    leave: () => admission.close(),
    last: () => office.socket.sent.at(-1),
  };
}

describe("AGENT-1: what a program says for its item", () => {
  it("is about that item, whatever it names", async () => {
    const { env, last } = await admitted();
    await sayForItem("work_made", { workItemId: "itm_other", ticket: "BP-1" } as never, env);
    expect(last()).toMatchObject({ type: "work_made", payload: { workItemId: "itm_1", ticket: "BP-1" } });
    await sayForItem("answer", { questionId: "itm_other", answer: "42" } as never, env);
    expect(last()).toMatchObject({ type: "answer", payload: { questionId: "itm_1", answer: "42" } });
  });

  it("may name others of the person's where it says which", async () => {
    const { env, last } = await admitted();
    await sayForItem("work_move", { workItemId: "itm_2", status: "canceled" }, env).catch(() => {});
    expect(last()).toMatchObject({ type: "work_move", payload: { workItemId: "itm_2" } });
  });

  it("tells it the office's refusal, as a refusal", async () => {
    const { env, office } = await admitted();
    office.onFrame = (frame) =>
      frame.type === "work_check"
        ? { type: "error", payload: { code: "invalid", message: "This is no conversation." } }
        : undefined;
    await expect(sayForItem("work_check", { request: "x" }, env)).rejects.toMatchObject({
      exitCode: 1,
      message: "This is no conversation. (invalid)",
    });
  });

  it.each([
    ["a payload that is wrong", "progress", { text: 7 }, "progress: payload.text"],
    ["what is no verb", "hello", { token: "x" }, "verb"],
    ["the agent's own confirmations", "report_posted", { workItemId: "itm_1", id: "r" }, "verb"],
    ["the making of acts", "act_result", { id: "a", ok: true, results: [] }, "verb"],
  ])("refuses %s", async (_, verb, payload, words) => {
    const { env, office } = await admitted();
    const sent = office.socket.sent.length;
    await expect(sayForItem(verb as "progress", payload as never, env)).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining(words),
    });
    expect(office.socket.sent).toHaveLength(sent);
  });

  it("only with the item's own secret, and only while it is worked on", async () => {
    const { env, leave } = await admitted();
    const guess = { ...env, BULLPEN_ITEM_TOKEN: "guess" };
    await expect(sayForItem("roster", {}, guess)).rejects.toThrow("No item that is worked on");
    const headers = { authorization: `Bearer ${env.BULLPEN_ITEM_TOKEN}`, origin: "https://evil.example" };
    const page = await fetch(env.BULLPEN_ITEM_URL, { method: "POST", headers, body: "{}" });
    expect(page.status).toBe(403);
    leave();
    await expect(sayForItem("roster", {}, env)).rejects.toMatchObject({ exitCode: 4 });
    await expect(sayForItem("roster", {}, {})).rejects.toMatchObject({ exitCode: 2 });
  });

  it("shows the item again", async () => {
    const { env } = await admitted();
    expect(await sayForItem("show", {}, env)).toMatchObject({
      offer: { workItem: { id: "itm_1" } },
      prompt: expect.stringContaining('> "Title of itm_1"'),
    });
  });
});
