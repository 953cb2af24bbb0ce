/** Ways in that end by themselves: invites and sign-in links (AUTH-6, AUTH-8). */
import { expect, test } from "vitest";
import {
  type Any,
  call,
  connect,
  del,
  eventsOf,
  get,
  newHarness,
  newId,
  newPerson,
  newSpace,
  newWorkspace,
  post,
  secretOf,
  send,
  URL_UNDER_TEST,
} from "./kit.ts";

const GONE = [410, "gone"];
const codeOf = ({ status, body }: { status: number; body: Any }): [number, string] => [status, body?.code];

const redeem = (link: string, display_name = "Bob", idempotency_key = newId("evt")) =>
  call("POST", "/v1/invites/redeem", { body: { secret: secretOf(link), display_name, idempotency_key } });
const signIn = (link: string, idempotency_key = newId("evt")) =>
  call("POST", "/v1/sign-in-links/redeem", { body: { secret: secretOf(link), idempotency_key } });

test("AUTH-6 an invite's secret stands in the fragment; it makes a participant with a session, once", async () => {
  const { owner } = await newWorkspace();
  const space = await newSpace(owner, "Lobby");
  const page = await connect(owner);
  const head = page.frames[0].head_seq;
  const before = Date.now();
  const { status, body } = await post(owner, "/v1/invites", { space_ids: [space] });
  expect(status).toBe(201);
  expect(body).toMatchObject({ invite_id: expect.stringMatching(/^inv_/) });
  const link = new URL(body.link);
  expect([link.origin, link.pathname, link.search]).toEqual([new URL(URL_UNDER_TEST).origin, "/", ""]);
  const life = Date.parse(body.expires_at) - before;
  expect(Math.abs(life - 30 * 60_000)).toBeLessThan(60_000);
  const redeemed = await redeem(body.link, "  Bob   Baker ");
  expect(redeemed.status).toBe(201);
  expect(redeemed.body).toMatchObject({
    participant: { name: "Bob Baker", role: "member" },
    token: expect.stringMatching(/^bp_/),
  });
  const bob = { id: redeemed.body.participant.participant_id, token: redeemed.body.token };
  expect((await get(bob, `/v1/spaces/${space}`)).body.joined).toBe(true);
  expect(await page.next((f) => f.type === "member.joined" && f.seq > head)).toMatchObject({
    space_id: space,
    participant_id: bob.id,
    name: "Bob Baker",
  });
  expect(codeOf(await redeem(body.link, "Eve"))).toEqual(GONE);
});

test("AUTH-6 a used, expired, withdrawn, tampered or foreign invite is gone, all with one answer", async () => {
  const { owner } = await newWorkspace();
  const make = async (more: object = {}) => (await post(owner, "/v1/invites", more)).body;
  const used = await make({ uses: 2 });
  for (const name of ["One", "Two"]) expect((await redeem(used.link, name)).status).toBe(201);
  const expired = await make({ expires_in_s: 1 });
  const withdrawn = await make();
  expect((await del(owner, `/v1/invites/${withdrawn.invite_id}`)).status).toBe(204);
  const fresh = await make();
  const secret = secretOf(fresh.link);
  const signInLink = (await post(owner, "/v1/sign-in-links", {})).body.link;
  // A long-poll that nothing answers outlasts the second that the invite lives.
  await get(owner, `/v1/events?after=0&wait=1.2`);
  const tampered = [
    secret.slice(0, -1),
    `${secret}A`,
    secret.slice(0, -1) + (secret.endsWith("A") ? "B" : "A"),
    secret.replace(/^.{26}/, newId("ws").slice(3)),
    `bp_${secret}`,
    "",
    "x".repeat(10_000),
  ];
  const answers = [
    ...(await Promise.all([used, expired, withdrawn].map((i) => redeem(i.link)))),
    ...(await Promise.all(tampered.map((text) => redeem(`${URL_UNDER_TEST}/#invite=${text}`)))),
    await redeem(signInLink),
    await signIn(fresh.link),
  ];
  for (const answer of answers) {
    expect(codeOf(answer)).toEqual(GONE);
    expect(answer.body).toEqual(answers[0]?.body);
  }
  expect((await redeem(fresh.link)).status).toBe(201);
});

test("AUTH-6 an invite has a role, 1 to 1000 uses and seven days at most", async () => {
  const { owner } = await newWorkspace();
  const bad = [
    { role: "owner" },
    { role: "king" },
    { uses: 0 },
    { uses: 1.5 },
    { uses: 1001 },
    { expires_in_s: 7 * 86_400 + 1 },
    { expires_in_s: 0 },
    { expires_in_s: "60" },
    { space_ids: ["x"] },
  ];
  for (const asked of bad)
    expect([asked, codeOf(await post(owner, "/v1/invites", asked))]).toEqual([asked, [422, "invalid"]]);
  expect(codeOf(await post(owner, "/v1/invites", { space_ids: [newId("spc")] }))).toEqual([404, "not_found"]);
  for (const role of ["admin", "member", "guest"] as const) {
    const one = await newPerson(owner, "One", role);
    expect((await get(one, "/v1/me")).body.participant.role).toBe(role);
  }
});

test("AUTH-8 redeeming again with the same key gives the same participant and uses nothing up", async () => {
  const { owner } = await newWorkspace();
  const { body } = await post(owner, "/v1/invites", { uses: 2 });
  const first = await redeem(body.link, "Bob", "same");
  const again = await redeem(body.link, "Bob", "same");
  expect([first.status, again.status]).toEqual([201, 201]);
  expect(again.body.participant).toEqual(first.body.participant);
  const bob = { id: first.body.participant.participant_id, token: again.body.token };
  expect((await get(bob, "/v1/me")).body.participant.participant_id).toBe(bob.id);
  expect((await redeem(body.link, "Cleo", "other")).body.participant.participant_id).not.toBe(bob.id);
  expect((await redeem(body.link, "Bob", "same")).body.participant.participant_id).toBe(bob.id);
  expect(codeOf(await redeem(body.link, "Dan", "third"))).toEqual(GONE);
  for (const idempotency_key of [undefined, "", "k".repeat(201), 7]) {
    const asked = { secret: secretOf(body.link), display_name: "Eve", idempotency_key };
    expect(codeOf(await call("POST", "/v1/invites/redeem", { body: asked }))).toEqual([422, "invalid"]);
  }
  // Removed within the ten minutes: the repeat lets nobody back in.
  await send(owner, "participant.remove", { participant_id: bob.id });
  expect(codeOf(await redeem(body.link, "Bob", "same"))).toEqual(GONE);
});

test("AUTH-8 a sign-in link is one's own, or an owner's for somebody who is then told", async () => {
  const { owner } = await newWorkspace();
  const bob = await newPerson(owner, "Bob");
  const mine = await post(bob, "/v1/sign-in-links", {});
  expect(mine.status).toBe(201);
  expect(Math.abs(Date.parse(mine.body.expires_at) - Date.now() - 5 * 60_000)).toBeLessThan(30_000);
  expect(new URL(mine.body.link).hash).toMatch(/^#\w+=/);
  const elsewhere = await signIn(mine.body.link, "k");
  expect(elsewhere.status).toBe(201);
  expect(elsewhere.body.participant).toMatchObject({ participant_id: bob.id, name: "Bob" });
  expect(elsewhere.headers.get("set-cookie")).toMatch(/HttpOnly/i);
  expect((await signIn(mine.body.link, "k")).body.participant.participant_id).toBe(bob.id);
  expect(codeOf(await signIn(mine.body.link, "other"))).toEqual(GONE);
  expect((await eventsOf(bob)).filter((e) => e.type === "notice.posted")).toEqual([]);

  const page = await connect(bob);
  const byOwner = await post(owner, "/v1/sign-in-links", { participant_id: bob.id });
  expect((await signIn(byOwner.body.link)).body.participant.participant_id).toBe(bob.id);
  const notice = await page.type("notice.posted");
  expect(notice).toMatchObject({ code: "signed_in", about: expect.arrayContaining([bob.id]) });
  const harness = await newHarness(owner, "Scouts");
  for (const id of [harness.id, newId("usr")])
    expect((await post(owner, "/v1/sign-in-links", { participant_id: id })).status).toBeGreaterThanOrEqual(
      404,
    );
  expect(codeOf(await post(bob, "/v1/sign-in-links", { participant_id: owner.id }))).toEqual([
    403,
    "forbidden",
  ]);
});

test("AUTH-6 an admin invites; who asked for the invite and went takes it along", async () => {
  const { owner } = await newWorkspace();
  const alma = await newPerson(owner, "Alma", "admin");
  const { body } = await post(alma, "/v1/invites", {});
  await send(owner, "participant.remove", { participant_id: alma.id });
  expect(codeOf(await redeem(body.link))).toEqual(GONE);
});
