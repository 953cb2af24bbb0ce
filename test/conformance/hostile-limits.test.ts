/** Hostile sizes and names: refused with the limit, never cut (LIMIT-1). */
import { beforeAll, expect, test } from "vitest";
import { bodyOf, type Case, type House, newHouse, notRefused } from "./hostile-kit.ts";
import { newId, type Party, post, verb } from "./kit.ts";

let mine: House;

beforeAll(async () => {
  mine = await newHouse();
}, 60_000);

const over = (name: string, code: string | RegExp, by: Party, frame: unknown): Case => ({
  name,
  code,
  attempt: () => bodyOf(by, frame),
});

const ids = (prefix: "att" | "msg" | "usr", n: number) => Array.from({ length: n }, () => newId(prefix));

test("LIMIT-1 what is too much is refused with the limit, not cut", async () => {
  const { owner, team, space } = mine;
  const post = (fields: object) => verb("message.post", { space_id: space, text: "x", ...fields });
  expect(
    await notRefused(
      [mine],
      [
        over("text", "too_large", owner, post({ text: "x".repeat(65_537) })),
        over("text of 3 MiB", "too_large", owner, post({ text: "x".repeat(3 * 1024 * 1024) })),
        over("body of 5 MiB", "too_large", owner, post({ text: "x".repeat(5 * 1024 * 1024) })),
        over(
          "edit",
          "too_large",
          owner,
          verb("message.edit", { message_id: mine.message, text: "x".repeat(70_000) }),
        ),
        over("key", "invalid", owner, post({ idempotency_key: "k".repeat(201) })),
        over("session_ref", "invalid", owner, post({ session_ref: "s".repeat(201) })),
        over(
          "21 files",
          "invalid",
          owner,
          post({ attachments: ids("att", 21).map((attachment_id) => ({ attachment_id })) }),
        ),
        over(
          "a thousand wrong files",
          "invalid",
          owner,
          post({ attachments: Array.from({ length: 1000 }, () => ({ attachment_id: 7 })) }),
        ),
        over(
          "101 events",
          "invalid",
          owner,
          Array.from({ length: 101 }, () => post({})),
        ),
        over("no event", "invalid", owner, []),
        over("title", "invalid", owner, verb("space.create", { title: "t".repeat(81) })),
        over("21 in a direct space", "invalid", owner, verb("space.create", { direct: ids("usr", 21) })),
        over(
          "51 agents",
          "invalid",
          team,
          verb("agent.declare", { agents: Array.from({ length: 51 }, (_, i) => ({ name: `A${i}` })) }),
        ),
        over("no agents", "invalid", team, verb("agent.declare", { agents: [] })),
        over(
          "the same agent twice",
          "invalid",
          team,
          verb("agent.declare", { agents: [{ name: "Tw" }, { name: "tW" }] }),
        ),
        over(
          "101 heard",
          "invalid",
          team,
          verb("message.heard", { run_id: mine.run, message_ids: ids("msg", 101) }),
        ),
        over("step of 501", "invalid", team, verb("run.step", { run_id: mine.run, text: "x".repeat(501) })),
        over("nested arrays", "malformed", owner, [[post({})]]),
        over("a signal among verbs", "invalid", owner, [post({}), { v: 1, type: "ack", seq: 1 }]),
        over("ceiling", "invalid", owner, verb("space.set", { space_id: space, ceiling_usd: 10_001 })),
      ],
      20,
    ),
  ).toEqual([]);
}, 120_000);

test("LIMIT-1 names that hide, imitate or turn the text are invalid wherever a name is given", async () => {
  const names = [
    "",
    " ",
    "\t\n",
    "\u0000",
    "a\u0000b",
    "\u200b",
    "\u2060\ufeff",
    "\u202eevil",
    "a\u2066b",
    "\ud800",
    "a\udfff",
    "\u0007bell",
    "\u001b[31m",
    "\u00ad",
    "\ufffe",
    "\u2800",
    "\u0301",
    "n".repeat(81),
    "x\ufe0f",
    "\u{e0001}tag",
    "\u{e0041}",
  ];
  const cases = names.flatMap((name): Case[] => [
    {
      name: `title ${JSON.stringify(name)}`,
      code: "invalid",
      attempt: () => bodyOf(mine.owner, verb("space.create", { title: name })),
    },
    {
      name: `rename ${JSON.stringify(name)}`,
      code: "invalid",
      attempt: () => bodyOf(mine.owner, verb("participant.rename", { name })),
    },
    {
      name: `agent ${JSON.stringify(name)}`,
      code: "invalid",
      attempt: () => bodyOf(mine.team, verb("agent.declare", { agents: [{ name }] })),
    },
    {
      name: `harness ${JSON.stringify(name)}`,
      code: "invalid",
      attempt: async () => (await post(mine.owner, "/v1/harnesses", { name })).body,
    },
  ]);
  expect(await notRefused([mine], cases, 20)).toEqual([]);
}, 120_000);
