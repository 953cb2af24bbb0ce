import { describe, expect, it } from "vitest";
import { BullpenError } from "../sdk/errors.ts";
import { BullpenHttp } from "../sdk/http.ts";
import type { Profile, Profiles } from "./profiles.ts";
import { make, persist, sessionOf, urlOf } from "./session.ts";

const profile = (url: string, token: string): Profile => ({
  url,
  token,
  workspace_id: "ws_1",
  participant_id: "usr_1",
  name: "Ann",
});
const stored: Profiles = {
  current: "work",
  profiles: {
    work: profile("https://work.example.com", "bp_work"),
    home: profile("https://home.example.com", "bp_home"),
  },
};
const read = (globals: object, env: Record<string, string> = {}, profiles = stored) => {
  const { url, token, profile: name } = sessionOf(globals, env, () => profiles);
  return { url, token, name };
};

describe("who one is", () => {
  it("is the option's token before the environment's before the profile's", () => {
    expect(read({ token: "bp_a", url: "https://a.example.com" }, { BULLPEN_TOKEN: "bp_b" })).toEqual({
      url: "https://a.example.com",
      token: "bp_a",
      name: undefined,
    });
    expect(read({}, { BULLPEN_TOKEN: "bp_b", BULLPEN_URL: "https://b.example.com" })).toEqual({
      url: "https://b.example.com",
      token: "bp_b",
      name: undefined,
    });
    expect(read({})).toEqual({ url: "https://work.example.com", token: "bp_work", name: "work" });
  });

  it("is the named profile, by option or environment, before the current one", () => {
    expect(read({ profile: "home" }, { BULLPEN_PROFILE: "work" })).toMatchObject({ token: "bp_home" });
    expect(read({}, { BULLPEN_PROFILE: "home" })).toMatchObject({ token: "bp_home" });
    expect(read({ profile: "home" }, { BULLPEN_TOKEN: "bp_x" })).toMatchObject({ token: "bp_home" });
  });

  it("never takes a profile's token to another server", () => {
    expect(() => read({ url: "https://evil.example.com" })).toThrow("belongs to https://work.example.com");
    expect(() => read({}, { BULLPEN_URL: "https://evil.example.com" })).toThrow("belongs to");
    expect(read({ url: "https://work.example.com/" })).toMatchObject({ token: "bp_work" });
  });

  it("says what to do when it is nobody, or nobody known", () => {
    expect(() => read({}, {}, { profiles: {} })).toThrow(expect.objectContaining({ exitCode: 3 }));
    expect(() => read({ profile: "no" })).toThrow(
      expect.objectContaining({ exitCode: 2, hint: "There are: work, home." }),
    );
    expect(() => read({ profile: "__proto__" })).toThrow("There is no profile");
  });
});

it("goes to this machine's server unless told otherwise, and refuses what is no address", () => {
  expect(urlOf({}, {})).toBe("http://localhost:8787");
  expect(() => urlOf({ url: "file:///etc" }, {})).toThrow(expect.objectContaining({ exitCode: 2 }));
});

/** Something to send that fails with these, one after the other, and then goes through. */
function failing(errors: Error[]) {
  let calls = 0;
  const send = (): Promise<string> => {
    const error = errors[calls++];
    return error === undefined ? Promise.resolve("ok") : Promise.reject(error);
  };
  return { send, calls: () => calls };
}

describe("trying again", () => {
  const busy = new BullpenError("unavailable", "busy", { retryAfterS: 0 });

  it("goes on while the server is not available, and not for ever", async () => {
    await expect(persist(failing([busy, busy]).send)).resolves.toBe("ok");
    const always = failing([busy, busy, busy, busy, busy]);
    await expect(persist(always.send)).rejects.toBe(busy);
    expect(always.calls()).toBe(4);
  });

  it.each([
    ["refused for good", new BullpenError("forbidden", "no")],
    ["never sent", new BullpenError("unavailable", "down", { cause: { code: "ECONNREFUSED" } })],
    ["told to come back much later", new BullpenError("rate_limited", "slow", { retryAfterS: 60 })],
  ])("ends at once when it was %s", async (_what, error) => {
    const once = failing([error]);
    await expect(persist(once.send)).rejects.toBe(error);
    expect(once.calls()).toBe(1);
  });
});

it("ENV-4 WORK-3 QUEUE-4: makes with one key for all its tries, and another the next time", async () => {
  const sent: { idempotency_key: string; title: string }[] = [];
  const fetch: typeof globalThis.fetch = async (_url, init) => {
    sent.push(JSON.parse(init?.body as string));
    // The first answer is lost on its way.
    if (sent.length === 1) throw new TypeError("fetch failed", { cause: { code: "ECONNRESET" } });
    return Response.json({ key: "BP-1" }, { status: 201 });
  };
  const http = new BullpenHttp({ url: "http://localhost:1", token: "t", fetch });
  expect(await make({ http }, "/v1/tickets", { title: "A door" })).toEqual({ key: "BP-1" });
  await make({ http }, "/v1/tickets", { title: "A door" });
  const [first, again, next] = sent;
  expect(sent).toHaveLength(3);
  expect(again).toEqual(first);
  expect(first?.title).toBe("A door");
  expect(next?.idempotency_key).not.toBe(first?.idempotency_key);
});
