import { describe, expect, test } from "vitest";
import { fakeFetch, idOf } from "../../test/sdk/fakes.ts";
import { download, upload, withFreshUrls } from "./files.ts";
import { BullpenHttp } from "./http.ts";

const url = "https://rooms.example.com";
const NOW = Date.parse("2026-09-02T14:22:00.000Z");
const ID = idOf("att", 1);
const PATH = `/v1/attachments/${ID}`;
const until = (seconds: number) => new Date(NOW + seconds * 1000).toISOString();
const file = (fields = {}) => ({
  attachment_id: ID,
  url: `${url}${PATH}?sig=old`,
  url_expires_at: until(600),
  ...fields,
});
const fresh = () => Response.json({ url: `${url}${PATH}?sig=new`, url_expires_at: until(600) });

function setUp(bytes: (request: Request) => Response) {
  const { calls, fetch } = fakeFetch({ [`GET ${PATH}`]: bytes, [`GET ${PATH}/url`]: fresh });
  return { calls, http: new BullpenHttp({ url, token: "bp_x", fetch }) };
}

const refuse = (status: number) =>
  Response.json({ type: "error", code: status === 410 ? "gone" : "forbidden", message: "No." }, { status });

describe("ATT-4: downloads", () => {
  test("ATT-4: a URL is fetched with the token as the bearer", async () => {
    const { calls, http } = setUp(() => new Response("bytes"));
    expect(await (await download(http, file(), NOW)).text()).toBe("bytes");
    expect(calls).toEqual([{ method: "GET", url: `${PATH}?sig=old`, authorization: "Bearer bp_x" }]);
  });

  test("ATT-4: the token goes to no other host, whatever a URL names", async () => {
    const hosts: string[] = [];
    const { http } = setUp((request) => {
      hosts.push(new URL(request.url).host);
      return new Response("bytes");
    });
    await download(http, file({ url: `https://evil.example${PATH}?sig=old` }), NOW);
    expect(hosts).toEqual(["rooms.example.com"]);
  });

  test.each([
    ["about to run out", { url_expires_at: until(5) }],
    ["run out", { url_expires_at: until(-5) }],
    ["missing", { url: undefined }],
  ])("ATT-9: a URL that is %s is renewed first", async (_, fields) => {
    const { calls, http } = setUp(() => new Response("bytes"));
    await download(http, file(fields), NOW);
    expect(calls.map((call) => call.url)).toEqual([`${PATH}/url`, `${PATH}?sig=new`]);
  });

  test.each([403, 410])("ATT-9: after %i it is renewed once and fetched again", async (status) => {
    const { calls, http } = setUp((request) =>
      request.url.includes("old") ? refuse(status) : new Response("bytes"),
    );
    await download(http, file(), NOW);
    expect(calls.map((call) => call.url)).toEqual([`${PATH}?sig=old`, `${PATH}/url`, `${PATH}?sig=new`]);
  });

  test("ATT-5: who may not have it is told so, after one try with a fresh URL", async () => {
    const { calls, http } = setUp(() => refuse(403));
    await expect(download(http, file(), NOW)).rejects.toMatchObject({ code: "forbidden" });
    expect(calls).toHaveLength(3);
  });
});

describe("ATT-1: uploads", () => {
  test.each([
    ["text", "héllo"],
    ["bytes", new TextEncoder().encode("héllo")],
    ["a blob", new Blob(["héllo"])],
    ["a stream", new Blob(["héllo"]).stream()],
  ])("ATT-1: %s go up as they are, with the name in the query", async (_, content) => {
    const bodies: string[] = [];
    const { calls, fetch } = fakeFetch({
      "POST /v1/attachments": async (request) => {
        bodies.push(await request.text());
        return Response.json({ attachment_id: ID }, { status: 201 });
      },
    });
    const http = new BullpenHttp({ url, token: "bp_x", fetch });
    const answer = await upload(http, content, { filename: "a b&c.txt" });
    expect(answer.attachment_id).toBe(ID);
    expect(bodies).toEqual(["héllo"]);
    expect(calls[0]?.url).toBe("/v1/attachments?filename=a+b%26c.txt");
  });
});

test("ATT-9: every URL of a message that waited is renewed, and one that cannot be is left", async () => {
  const { calls, http } = setUp(() => new Response());
  const old = { url_expires_at: until(-1) };
  const gone = { ...file(old), attachment_id: idOf("att", 2) };
  const event = await withFreshUrls(
    http,
    {
      attachments: [file(old), gone],
      replying_to: { attachments: [file(old)] },
      context: { files: [file(old), file()] },
    } as never,
    NOW,
  );
  const urls = [event.attachments, event.replying_to?.attachments, event.context?.files].map((files) =>
    files?.map((one) => one.url?.slice(-3)),
  );
  expect(urls).toEqual([["new", "old"], ["new"], ["new", "old"]]);
  expect(calls).toHaveLength(4);
});
