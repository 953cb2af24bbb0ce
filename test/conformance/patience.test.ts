/** Who is too slow: said no hello, or left a sync unanswered. These wait for the server's own clocks. */
import { expect, test } from "vitest";
import { type Any, connect, flood, get, newFastWorkspace, newId, newSpace, open } from "./kit.ts";

test("CONN-2 CONN-8 CONN-10 no hello within 10 s and a sync unanswered for 30 s close with 4408", async () => {
  const { owner } = await newFastWorkspace();
  const space = await newSpace(owner, "Lobby");
  await flood(owner, space, 1100);
  const began = Date.now();
  const silent = await open(owner.token);
  const stuck = await open(owner.token);
  await stuck.ask({ v: 1, type: "hello", id: newId("evt"), after_seq: 0 });
  await stuck.type("sync");
  const good = await connect(owner, { after_seq: 1_000_000 });
  expect(await silent.closed).toMatchObject({ code: 4408 });
  expect(Date.now() - began).toBeGreaterThan(9_000);
  // A local workerd ends the connection up to ten seconds after the close frame of an alarm.
  expect(Date.now() - began).toBeLessThan(25_000);
  expect(await stuck.closed).toMatchObject({ code: 4408 });
  expect(Date.now() - began).toBeGreaterThan(29_000);
  // It loses nothing: it resumes from its cursor and gets the rest.
  const seqs = stuck.events().map((e: Any) => e.seq);
  const again = await connect(owner, { after_seq: seqs.at(-1) });
  const rest = again.events().map((e: Any) => e.seq);
  expect([...seqs, ...rest]).toEqual(Array.from({ length: seqs.length + rest.length }, (_, i) => i + 1));
  await good.fence();
  expect((await get(owner, "/v1/me")).status).toBe(200);
}, 90_000);
