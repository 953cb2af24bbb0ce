/** Hostile headers, tokens and uploads (AUTH-1, AUTH-2, ATT-2, ATT-6). */
import { beforeAll, expect, test } from "vitest";
import { type Case, type House, newHouse, notRefused } from "./hostile-kit.ts";
import {
  ADMIN_TOKEN,
  type CallOptions,
  call,
  post,
  type Raw,
  secretOf,
  URL_UNDER_TEST,
  upgrade,
} from "./kit.ts";

let mine: House;
let theirs: House;

beforeAll(async () => {
  [mine, theirs] = [await newHouse(), await newHouse()];
}, 60_000);

const ask = (
  name: string,
  code: string | RegExp,
  method: string,
  path: string,
  options: CallOptions = {},
): Case => ({
  name: `${name} ${method} ${path.slice(0, 60)}`,
  code,
  attempt: async () => (await call(method, path, { token: mine.owner.token, ...options })).body,
});

test("AUTH-2 forged headers are nobody's proof: the caller stays who the token says", async () => {
  const { owner, gil, tokenId } = mine;
  const forged = {
    "bullpen-token-id": tokenId,
    "bullpen-secret-hash": "0".repeat(64),
    "bullpen-origin": "https://evil.example",
    "x-bullpen-token-id": tokenId,
    "x-forwarded-user": owner.id,
    "x-forwarded-host": "evil.example",
    "x-forwarded-proto": "gopher",
    forwarded: "host=evil.example",
    "x-original-url": "/v1/tokens",
    "x-rewrite-url": "/v1/tokens",
    "x-http-method-override": "DELETE",
    "x-method-override": "DELETE",
    "cf-connecting-ip": "127.0.0.1",
    cookie: `bullpen=${owner.token}; __Host-bullpen=${owner.token}`,
  };
  const me = await call("GET", "/v1/me", { token: gil.token, headers: forged });
  expect(me.body.participant.participant_id).toBe(gil.id);
  expect((await call("GET", "/v1/settings", { token: gil.token, headers: forged })).status).toBe(403);
  expect((await upgrade({ authorization: `Bearer ${gil.token}`, ...forged })).status).toBe(101);
  expect((await upgrade({ ...forged, cookie: "" })).status).toBe(401);
  const { body } = await call("POST", "/v1/invites", { token: owner.token, body: {}, headers: forged });
  expect(new URL(body.link).origin).toBe(new URL(URL_UNDER_TEST).origin);
  const url = await call("GET", `/v1/attachments/${mine.file}/url`, { token: owner.token, headers: forged });
  expect(new URL(url.body.url).origin).toBe(new URL(URL_UNDER_TEST).origin);
  const redeem = {
    secret: secretOf(body.link),
    display_name: "Eve",
    idempotency_key: "k",
    role: "owner",
    scopes: ["admin"],
    participant_id: owner.id,
  };
  const eve = await call("POST", "/v1/invites/redeem", { body: redeem, headers: forged });
  expect(eve.body.participant).toMatchObject({ role: "member", name: "Eve" });
  expect(eve.body.participant.participant_id).not.toBe(owner.id);
});

test("AUTH-1 AUTH-7 tokens that are none: one answer, whatever is wrong", async () => {
  const [, workspace = "", row = "", secret = ""] =
    /^bp_(.{26})_(.{26})_(.{43})$/.exec(mine.owner.token) ?? [];
  const other = /^bp_(.{26})_(.{26})_(.{43})$/.exec(theirs.owner.token) ?? [];
  const tokens = [
    `bp_${workspace}_${row}_${other[3]}`,
    `bp_${other[1]}_${row}_${secret}`,
    `bp_${workspace}_${other[2]}_${other[3]}`,
    `BP_${workspace}_${row}_${secret}`,
    `bp_${workspace}_${row}_${secret.slice(0, 42)}=`,
    `bp_${workspace}_${row}_${"A".repeat(43)}`,
    `bp_'__OR_1=1_--`,
    "x".repeat(8000),
    ADMIN_TOKEN,
  ];
  const cases = tokens.map((token) =>
    ask(`token ${token.slice(0, 12)}`, "unauthenticated", "GET", "/v1/me", { token }),
  );
  expect(await notRefused([mine, theirs], cases)).toEqual([]);
});

const named = (filename: string) => `/v1/attachments?filename=${filename}`;

test("ATT-2 ATT-6 uploads: types come from the bytes, names lose their folders, nothing runs in the page", async () => {
  const { token } = mine.owner;
  const upload = (filename: string, raw: Raw, headers: Record<string, string> = {}) =>
    call("POST", `/v1/attachments?filename=${encodeURIComponent(filename)}`, { token, raw, headers });
  const script = "<html><script>alert(1)</script></html>";
  const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';
  const png = new Uint8Array(
    Buffer.from(
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
      "base64",
    ),
  );
  const files: [string, Raw, string, RegExp, boolean][] = [
    ["evil.png", script, "evil.png", /^(text\/plain|text\/html)/, false],
    ["pixel.svg", svg, "pixel.svg", /^(text\/plain|image\/svg\+xml|application\/xml)/, false],
    ["../../etc/passwd", "root:x", "passwd", /^text\/plain/, false],
    ["C:\\Windows\\evil.exe", "MZ", "evil.exe", /^/, false],
    ["a\u202egnp.exe", "x", "", /^/, false],
    ["photo.html", png, "photo.html", /^image\/png/, true],
    ["bytes", new Uint8Array([0, 255, 1, 254]), "bytes", /^application\/octet-stream/, false],
  ];
  for (const [name, raw, kept, type, isInline] of files) {
    const { status, body } = await upload(name, raw, { "content-type": "text/html" });
    if (!kept) {
      expect([name, status]).toEqual([name, 422]);
      continue;
    }
    expect([name, status, body.filename]).toEqual([name, 201, kept]);
    expect(body.mime_type).toMatch(type);
    const served = await call("GET", `/v1/attachments/${body.attachment_id}`, { token });
    expect(served.headers.get("content-disposition")).toMatch(isInline ? /^inline/ : /^attachment/);
    expect(served.headers.get("x-content-type-options")).toBe("nosniff");
    expect(served.headers.get("content-security-policy")).toMatch(/sandbox/);
  }
  expect(
    await notRefused(
      [mine],
      [
        ask("no name", "invalid", "POST", "/v1/attachments", { raw: "x" }),
        ...[
          "",
          "%20",
          "%00",
          "a%00b",
          "..",
          ".",
          "%2f",
          "a%0d%0aSet-Cookie:x",
          "x".repeat(256),
          "%e2%80%ae",
        ].map((name) => ask("name", "invalid", "POST", named(name), { raw: "x" })),
        ask("no bytes", "invalid", "POST", named("a.txt"), { raw: "" }),
        ask("no body", "invalid", "POST", named("a.txt")),
        ...["1;2", "x", "-1", "99999999999"].flatMap((exp) => [
          ask(
            "signed",
            /^(forbidden|gone|not_found|invalid)$/,
            "GET",
            `/v1/attachments/${mine.file}?exp=${exp}&sig=${"A".repeat(43)}`,
          ),
        ]),
      ],
    ),
  ).toEqual([]);
  const { body } = await post(mine.owner, "/v1/settings", {});
  expect(body.code).toBe("not_found");
}, 60_000);
