/** A resident teammate as people meet it: in a room, with the tools that it has there, and nobody's process (CTX-8). */
import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import type { Scripted } from "../../../demo/model-wire.ts";
import { type Any, call, say, send } from "../../testing/client.ts";
import { factsOf } from "../../testing/judge.ts";
import { eventually } from "../../testing/office.ts";
import { read } from "../../testing/room.ts";
import { ScriptedModel } from "../../testing/scripted.ts";
import { teamConfig } from "../../testing/team.ts";
import { fact, type Whole, whole } from "../../testing/whole.ts";

interface At extends Whole {
  model: ScriptedModel;
}

/** A team whose Scout is run by the office. */
async function withResident(): Promise<At> {
  const at = await whole("scout");
  const model = new ScriptedModel();
  const { team } = await read(at.ada, "/v1/team");
  const [scout] = team.people;
  const people = [{ ...scout, runtime: "resident", model: model.name }];
  const { status, body } = await call("PUT", "/v1/team", {
    token: at.ada.token,
    headers: {
      "if-match": (await call("GET", "/v1/team", { token: at.ada.token })).headers.get("etag") ?? "",
    },
    body: { ...teamConfig([], { notify: team.notify, humans: team.humans }), people },
  });
  if (status !== 200) throw new Error(JSON.stringify(body));
  return { ...at, model };
}

const script = (...steps: Scripted[]) => `script:${JSON.stringify(steps)}`;
const calls = (tool: string, input: object): Scripted => ({ calls: [{ tool, input }] });

/** Waits for the words of Scout's in the room. */
async function says(at: At, text: string): Promise<Any> {
  return fact(at.ada, at.space, (f) => f.type === "message.posted" && f.text === text);
}
const own = async (at: At): Promise<Any[]> =>
  (await read(at.ada, "/v1/streams/people/scout/history")).items.map((entry: Any) => entry.item);

test("CTX-8 CTX-7: asked in a room it answers there, in the thread, in a turn of its own that ends", async () => {
  const at = await withResident();
  const asked = await say(at.ada, at.space, `@scout which colour?\n${script({ text: "Blue, of course." })}`);
  const answered = await says(at, "Blue, of course.");
  expect(answered).toMatchObject({
    reply_to: asked.message_id,
    actor: { id: at.team["scout"]!.id },
  });
  const ended = await fact(at.ada, at.space, (f) => f.type === "run.ended");
  expect(ended.outcome).toBe("done");
});

test("CTX-9 APR-3: it asks for leave, sleeps until a person decides, and goes on in the same turn", async () => {
  const at = await withResident();
  const ask = { action: "paint.buy", question: "Buy 10 l of blue?", money_usd: 80, input: { litres: 10 } };
  await say(at.ada, at.space, `@scout paint the door\n${script(calls("approve", ask), { text: "Bought." })}`);
  const asked = await fact(at.ada, at.space, (f) => f.type === "approval.requested");
  expect(asked).toMatchObject({ question: ask.question, action: { kind: "paint.buy", money_usd: 80 } });
  const office = env.OFFICE.getByName(`${at.workspace}/scout`);
  await eventually(() => evictDurableObject(office));
  await send(at.ada, "approval.decide", { approval_id: asked.approval_id, decision: "allow" });
  await says(at, "Bought.");
  const result = (await own(at)).find(({ actor }) => actor?.type === "script");
  expect(JSON.parse(result.content)).toEqual({
    ok: true,
    output: { allowed: true, decided_by: "Ada", input: { litres: 10 } },
  });
  const ended = (await factsOf(at.ada, at.space)).filter((f) => f.type === "run.ended");
  expect(ended.map(({ outcome }) => outcome)).toEqual(["done"]);
});

test("CTX-9 REQ-3: a correction while it waits for leave takes the ask back, and is answered", async () => {
  const at = await withResident();
  const ask = { action: "paint.buy", question: "Buy red?" };
  const { message_id } = await say(
    at.ada,
    at.space,
    `@scout paint the door\n${script(calls("approve", ask), { text: "Bought." })}`,
  );
  await fact(at.ada, at.space, (f) => f.type === "approval.requested");
  await say(at.ada, at.space, `@scout stop, no red\n${script({ text: "As you like." })}`, {
    reply_to: message_id,
  });
  await fact(at.ada, at.space, (f) => f.type === "approval.cancelled");
  await says(at, "As you like.");
  const result = (await own(at)).find(({ actor }) => actor?.type === "script");
  expect(result).toMatchObject({ llmRequestPolicy: { behaviour: "dont-trigger-request" } });
  expect(JSON.parse(result.content)).toMatchObject({ ok: false });
});
