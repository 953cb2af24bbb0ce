/** Signed URLs of files: one bearer, unchanged, in time, and across a change of keys (ATT-4, ATT-8). */

import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import { signUrl } from "../kit/sign.ts";
import {
  call,
  newId,
  newPerson,
  newWorkspace,
  ORIGIN,
  type Party,
  roomStub,
  send,
} from "../testing/client.ts";
import { fetchFile, fileIn, post, refusedAs, uploaded, urlOf, WORDS } from "../testing/files.ts";

function changed(url: string): string {
  return url.replace(/.$/, (c) => (c === "A" ? "B" : "A"));
}

/** Changes the variables that a room runs with, as a deployment does. */
async function deploy(workspaceId: string, vars: Partial<Env>): Promise<void> {
  await runInDurableObject(roomStub(workspaceId), (room) => {
    Object.defineProperty(room, "env", { value: { ...env, ...vars }, configurable: true });
  });
}

function tokenId(by: Party): string {
  return `tok_${by.token.split("_")[2]}`;
}

describe("signed URLs", () => {
  test("ATT-4 the URL is ours, for ten minutes, and brings the bytes to its bearer", async () => {
    const { owner } = await newWorkspace();
    const { attachment_id } = await uploaded(owner, WORDS);
    const before = Date.now();
    const { body } = await call("GET", `/v1/attachments/${attachment_id}/url`, { token: owner.token });
    expect(Object.keys(body).toSorted()).toEqual(["url", "url_expires_at"]);
    expect(body.url).toMatch(
      new RegExp(`^${ORIGIN}/v1/attachments/${attachment_id}\\?exp=\\d{10}&sig=[\\w-]{43}$`),
    );
    const expires = Date.parse(body.url_expires_at);
    expect(expires).toBe(Number(new URL(body.url).searchParams.get("exp")) * 1000);
    expect(expires - before).toBeGreaterThan(598_000);
    expect(expires - Date.now()).toBeLessThanOrEqual(600_000);
    const { status, bytes } = await fetchFile(body.url, owner);
    expect([status, new TextDecoder().decode(bytes)]).toEqual([200, WORDS]);
  });

  test("ATT-4 ATTACHMENT_URL_TTL_S changes the ten minutes, unless the workspace has", async () => {
    const { id, owner } = await newWorkspace();
    const { attachment_id } = await uploaded(owner, WORDS);
    const secondsLeft = async () => {
      const exp = new URL(await urlOf(owner, attachment_id)).searchParams.get("exp");
      return Math.round(Number(exp) - Date.now() / 1000);
    };
    for (const [set, expected] of [
      ["30", 30],
      ["", 600],
      ["soon", 600],
      ["-5", 600],
      ["0", 600],
      ["1e9", 600],
    ] as const) {
      await deploy(id, { ATTACHMENT_URL_TTL_S: set });
      expect(await secondsLeft()).toSatisfy((left: number) => left <= expected && left > expected - 10);
    }
    await deploy(id, { ATTACHMENT_URL_TTL_S: "30" });
    await send(owner, "settings.set", { settings: { attachments: { url_ttl_s: 90 } } });
    expect(await secondsLeft()).toSatisfy((left: number) => left <= 90 && left > 80);
  });

  test("AUTH-4 ATT-4 a token of a workspace that was never made is no bearer", async () => {
    const { owner } = await newWorkspace();
    const { url, id } = await fileIn(owner);
    const nobody = { id: owner.id, token: owner.token.replace(/^bp_[^_]+/, `bp_${newId("ws").slice(3)}`) };
    for (const path of [url, `/v1/attachments/${id}`, `/v1/attachments/${id}/url`])
      expect(await refusedAs(path, nobody)).toEqual([401, "unauthenticated"]);
    expect((await post(nobody, "x")).status).toBe(401);
  });

  test("ATT-4 no bearer 401, another's 403, changed 403, late 410, in that order", async () => {
    const { id, owner } = await newWorkspace();
    const bob = await newPerson(owner, "Bob");
    const stranger = (await newWorkspace()).owner;
    const file = await fileIn(owner);
    const keys = { current: env.SIGNING_KEY };
    const claims = { workspaceId: id, attachmentId: file.id, tokenId: tokenId(owner) };
    const late = signUrl(keys, ORIGIN, { ...claims, expires: Math.floor(Date.now() / 1000) - 1 }).url;

    expect((await fetchFile(file.url, owner)).status).toBe(200);
    for (const url of [file.url, late, changed(file.url), changed(late)]) {
      expect(await refusedAs(url)).toEqual([401, "unauthenticated"]);
      const revoked = { id: owner.id, token: `${owner.token.slice(0, -43)}${"A".repeat(43)}` };
      expect(await refusedAs(url, revoked)).toEqual([401, "unauthenticated"]);
      expect(await refusedAs(url, bob)).toEqual([403, "forbidden"]);
      expect(await refusedAs(url, stranger)).toEqual([403, "forbidden"]);
    }
    expect(await refusedAs(changed(file.url), owner)).toEqual([403, "forbidden"]);
    expect(await refusedAs(changed(late), owner)).toEqual([403, "forbidden"]);
    expect(await refusedAs(late, owner)).toEqual([410, "gone"]);
    // The signature comes before what it is for: a URL for nothing is as good as its signature.
    const nothing = signUrl(keys, ORIGIN, {
      ...claims,
      attachmentId: newId("att"),
      expires: Math.floor(Date.now() / 1000) + 60,
    }).url;
    expect(await refusedAs(nothing, owner)).toEqual([404, "not_found"]);
  });

  test("ATT-4 a changed byte anywhere in id, exp or sig is refused", async () => {
    const { owner } = await newWorkspace();
    const { url } = await fileIn(owner);
    const from = url.indexOf("att_") + 4;
    for (let at = from; at < url.length; at++) {
      const old = url.charAt(at);
      if ("?&=".includes(old)) continue;
      for (const other of new Set(["0", "1", "A", "a", "_"])) {
        if (other === old) continue;
        const spoilt = url.slice(0, at) + other + url.slice(at + 1);
        expect([spoilt, ...(await refusedAs(spoilt, owner))]).toEqual([spoilt, 403, "forbidden"]);
      }
    }
  });

  test.each([
    ["exp=", (exp: string) => `${exp}.0`],
    ["exp=", (exp: string) => `0${exp}`],
    ["exp=", (exp: string) => `+${exp}`],
    ["exp=", (exp: string) => `${exp}%20`],
    ["exp=", (exp: string) => `0x${Number(exp).toString(16)}`],
    ["exp=", (exp: string) => `${Number(exp) / 10}e1`],
    ["exp=", () => "9".repeat(400)],
    ["exp=", () => "NaN"],
    ["exp=", () => "Infinity"],
    ["exp=", () => "-1"],
    ["exp=", () => ""],
    ["sig=", (sig: string) => `${sig}=`],
    ["sig=", (sig: string) => `${sig}A`],
    ["sig=", (sig: string) => sig.slice(0, -1)],
    ["sig=", (sig: string) => `${sig}&x=1`],
    ["sig=", (sig: string) => `%${sig.charCodeAt(0).toString(16)}${sig.slice(1)}`],
    ["sig=", () => ""],
    ["sig=", () => "%00"],
    ["sig=", () => "é".repeat(5000)],
  ])("ATT-4 garbage in %s is refused (%s)", async (name, change) => {
    const { owner } = await newWorkspace();
    const { url } = await fileIn(owner);
    const other = url.replace(new RegExp(`${name}([^&]+)`), (_, value: string) => name + change(value));
    expect(other).not.toBe(url);
    expect(await refusedAs(other, owner)).toEqual([403, "forbidden"]);
  });

  test("ATT-4 half a signature, two of them, and another spelling of the path are refused", async () => {
    const { owner } = await newWorkspace();
    const { url, id } = await fileIn(owner);
    const [path, query] = url.split("?");
    const [exp, sig] = (query ?? "").split("&");
    for (const other of [
      `${path}?${exp}`,
      `${path}?${sig}`,
      `${path}?${sig}&${exp}`,
      `${path}?${exp}&${exp}&${sig}`,
      `${path}?&${exp}&${sig}`,
      `${path?.replace("att_", "%61tt_")}?${exp}&${sig}`,
    ])
      expect([other, ...(await refusedAs(other, owner))]).toEqual([other, 403, "forbidden"]);
    const tokenInUrl = `/v1/attachments/${id}?token=${owner.token}`;
    expect(await refusedAs(tokenInUrl)).toEqual([401, "unauthenticated"]);
  });

  test("ATT-8 a URL of the key before outlives the change of keys, one of an older key does not", async () => {
    const { id, owner } = await newWorkspace();
    const { url, id: file } = await fileIn(owner);
    const rotate = (current: string, previous: string) =>
      deploy(id, { SIGNING_KEY: current, SIGNING_KEY_PREVIOUS: previous });
    await rotate("the next key", env.SIGNING_KEY);
    expect((await fetchFile(url, owner)).status).toBe(200);
    const next = await urlOf(owner, file);
    expect(next).not.toBe(url);
    expect((await fetchFile(next, owner)).status).toBe(200);
    await rotate("the key after", "the next key");
    expect(await refusedAs(url, owner)).toEqual([403, "forbidden"]);
    expect((await fetchFile(next, owner)).status).toBe(200);
    await rotate("the key after", "");
    expect(await refusedAs(next, owner)).toEqual([403, "forbidden"]);
    const empty = signUrl({ current: "" }, ORIGIN, {
      workspaceId: id,
      attachmentId: file,
      expires: Math.floor(Date.now() / 1000) + 60,
      tokenId: tokenId(owner),
    }).url;
    expect(await refusedAs(empty, owner)).toEqual([403, "forbidden"]);
  });
});
