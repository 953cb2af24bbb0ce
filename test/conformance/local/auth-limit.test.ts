/** Guessing tokens is slow: failures are counted at the door (AUTH-7). It has a server of its own to wear out. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { startServer, type TestServer } from "../../support/server.ts";
import { deployment } from "../deployment.ts";
import { type Answer, call, get, newId, newWorkspace, upgrade } from "../kit.ts";

let server: TestServer;

beforeAll(async () => {
  server = await startServer();
  Object.assign(deployment, { url: server.url, adminToken: server.adminToken });
}, 60_000);
afterAll(() => server.stop());

/** How many failures a minute an address may have (wrangler.toml). The minute is the platform's own. */
const LIMIT = 60;

test("AUTH-7 failed authentications are limited, alike for ids that exist and that do not, and others get in", async () => {
  const { owner } = await newWorkspace();
  const [, workspace = "", row = ""] = /^bp_(.{26})_(.{26})_/.exec(owner.token) ?? [];
  const known = `bp_${workspace}_${row}_${"A".repeat(43)}`;
  const unknown = () => `bp_${workspace}_${newId("tok").slice(4)}_${"A".repeat(43)}`;
  const fail = (i: number) => call("GET", "/v1/me", { token: i % 2 ? known : unknown() });
  /** Fails until the answer is to wait; a minute that begins on the way makes it longer by one limit at most. */
  const wearOut = async (): Promise<{ answer: Answer; failures: number }> => {
    for (let failures = 0; ; failures += 1) {
      const answer = await fail(failures);
      if (answer.status === 429) return { answer, failures };
      expect([answer.status, answer.body.code]).toEqual([401, "unauthenticated"]);
      expect(failures).toBeLessThan(2 * LIMIT);
    }
  };
  const { answer, failures } = await wearOut();
  expect(failures).toBeGreaterThan(0);
  expect(answer.body).toMatchObject({
    code: "rate_limited",
    retryable: true,
    retry_after_s: expect.any(Number),
  });
  expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
  const attempts = [
    () => call("GET", "/v1/me", { token: known }),
    () => call("GET", "/v1/me", { token: unknown() }),
    () => call("GET", "/v1/me"),
    () => upgrade({ authorization: `Bearer ${known}` }),
  ];
  for (const attempt of attempts) {
    let body = (await attempt()).body;
    // The minute was just over: worn out again, it is the same.
    if (body.code !== "rate_limited") {
      await wearOut();
      body = (await attempt()).body;
    }
    expect(body).toEqual(answer.body);
  }
  // Who has a token is let in, and with it the socket.
  expect((await get(owner, "/v1/me")).status).toBe(200);
  expect((await upgrade({ authorization: `Bearer ${owner.token}` })).status).toBe(101);
});
