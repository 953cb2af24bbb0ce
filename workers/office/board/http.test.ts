import { describe, expect, it } from "vitest";
import { type Any, call, connect, newPerson, newWorkspace, type Party } from "../../testing/client.ts";

const YAML = `key: ACME
roles: {dev: {title: Developer}}
people:
  - {handle: scout, name: Scout, role: dev}
`;

/** A config as a person sends it. */
const put = (by: Party, document: string, headers: Record<string, string> = {}) =>
  call("PUT", "/v1/team", {
    token: by.token,
    raw: document,
    headers: { "content-type": "application/yaml", ...headers },
  });
const get = (by: Party, path: string) => call("GET", path, { token: by.token });

describe("the board over HTTP", () => {
  it("TEAM-1 TEAM-2: a config is put, read by its version, and its people stand in the list", async () => {
    const { owner } = await newWorkspace();
    expect((await get(owner, "/v1/team")).status).toBe(404);
    const bad = await put(owner, "people:\n  - {handle: Scout}\n");
    expect(bad.status).toBe(422);
    expect(bad.body.details).toContainEqual({
      path: "people.0.handle",
      line: 2,
      message: "is 2 to 32 of a-z, 0-9 and -, beginning with a letter",
    });
    const first = await put(owner, YAML);
    expect([first.status, first.headers.get("etag"), first.body.team.key]).toEqual([200, '"1"', "ACME"]);
    expect((await put(owner, YAML.replace("ACME", "NEW"))).status).toBe(409);
    const second = await put(owner, YAML.replace("ACME", "NEW"), { "if-match": '"1"' });
    expect([second.status, second.body.version]).toEqual([200, 2]);
    expect((await get(owner, "/v1/people")).body.items).toMatchObject([{ handle: "scout", role: "dev" }]);
    const fromJson = await call("PUT", "/v1/team", {
      token: owner.token,
      body: second.body.team,
      headers: { "if-match": '"2"' },
    });
    expect(fromJson.body.version).toBe(2);
  });

  it("TEAM-1: a person who is not of the workspace is a fault of the config, with its line", async () => {
    const { owner } = await newWorkspace();
    const answer = await put(
      owner,
      `${YAML}humans:\n  - {name: Anna, user: usr_01ARZ3NDEKTSV4RRFFQ69G5FAV}\n  - {name: Ada, user: ${owner.id}}\n`,
    );
    expect(answer.body.details).toEqual([
      { path: "humans.0.user", line: 6, message: "is no person of this workspace" },
    ]);
  });

  it("QUEUE-4 WORK-3: a page that watches is told which tickets changed, and one that came later too", async () => {
    const { owner } = await newWorkspace();
    const ticket = async (title: string) =>
      (await call("POST", "/v1/tickets", { token: owner.token, body: { title } })).body.key as string;
    await put(owner, YAML);
    // Nobody watches: the board has stopped telling.
    await ticket("Unseen");
    const page = await connect(owner);
    page.send({ v: 1, type: "watch", office: true });
    await page.ask({ v: 1, type: "no.such.type", id: "evt_01ARZ3NDEKTSV4RRFFQ69G5FAV" });
    const key = await ticket("Seen");
    const change = await page.next((f: Any) => f.type === "office.changed" && f.tickets?.includes(key));
    expect(change.events).toHaveLength(1);
    const guest = await newPerson(owner, "Gus", "guest");
    expect((await get(guest, `/v1/tickets/${key}`)).status).toBe(403);
    expect((await get(owner, `/v1/tickets/${key.toLowerCase()}`)).body.title).toBe("Seen");
  });
});
