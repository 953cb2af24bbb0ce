import { expect, test } from "vitest";
import { call, connect, newId, newPerson, newSpace, newWorkspace, send, verb } from "../testing/client.ts";
import { pass } from "../testing/judge.ts";

test("LIMIT-2 over its rate a participant is told when to try again, keeps its connection, and slows nobody", async () => {
  const { id, owner } = await newWorkspace();
  await send(owner, "settings.set", { settings: { limits: { writes_per_s: 2, burst: 5 } } });
  const bob = await newPerson(owner, "Bob");
  const space = await newSpace(owner, "Lobby", [bob.id]);
  const page = await connect(bob);
  const asked = Array.from({ length: 8 }, (_, n) => verb("message.post", { space_id: space, text: `${n}` }));
  const answers = [];
  for (const frame of asked) answers.push(await page.ask(frame));
  const refused = answers.filter((a) => a.type === "error");
  expect(refused.length).toBeGreaterThan(0);
  expect(refused[0]).toMatchObject({ code: "rate_limited", retryable: true });
  expect(refused[0].retry_after_s).toBeGreaterThan(0);
  const { status, headers } = await call("POST", "/v1/events", {
    token: bob.token,
    body: verb("message.post", { space_id: space, text: "x" }),
  });
  expect(status).toBe(429);
  expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
  await pass(id, 2);
  await send(owner, "message.post", { space_id: space, text: "I am not slowed" });
  // The refused write kept no key: the same frame again is taken (ENV-4).
  const again = await page.ask({ ...asked[asked.length - 1], id: newId("evt") });
  expect(again.duplicate).toBeUndefined();
  expect(again.seq).toBeGreaterThan(0);
});
