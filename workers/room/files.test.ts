/** A space's files: versions by name, lists, and what goes with a turn (FILE-1, FILE-2, WIN-5). */
import { beforeEach, expect, test } from "vitest";
import { type Any, newHarness, newPerson, newSpace, newWorkspace, say, send } from "../testing/client.ts";
import { declare, pulled, read, upload } from "../testing/room.ts";

/** Ada and Bob and the agent Scout in one space of Ada's. */
async function aRoom() {
  const { id, owner } = await newWorkspace();
  const bob = await newPerson(owner, "Bob");
  const scouts = await newHarness(owner, "Scouts");
  const [scout = ""] = await declare(scouts, "Scout");
  const space = await newSpace(owner, "Room", [bob.id, scout]);
  return { id, owner, bob, scouts, scout, space };
}

let room: Awaited<ReturnType<typeof aRoom>>;
beforeEach(async () => {
  room = await aRoom();
});

function names(files: Any[]): [string, number][] {
  return files.map((f) => [f.name, f.version]);
}
async function post(filename: string, content: string, replaces?: string) {
  const { id, bob, space } = room;
  const attachment_id = await upload(id, bob.id, { filename, content });
  const attachments = [{ attachment_id, ...(replaces ? { replaces } : {}) }];
  return { attachment_id, ...(await say(bob, space, "", { attachments })) };
}
async function listed(query = ""): Promise<Any[]> {
  return (await read(room.bob, `/v1/spaces/${room.space}/files${query}`)).items;
}
async function nowFiles(): Promise<Any[]> {
  return (await read(room.bob, `/v1/spaces/${room.space}/context`)).context.files;
}

test("FILE-1 FILE-2: other bytes under a name are its next version, the same bytes none", async () => {
  const first = await post("plan.md", "one");
  await post("plan.md", "one");
  const other = await post("notes.md", "one");
  const second = await post("plan.md", "two", first.attachment_id);
  const third = await post("plan.md", "one", other.attachment_id);
  expect(names(await listed())).toEqual([
    ["plan.md", 3],
    ["notes.md", 1],
  ]);
  const history = await listed("?name=plan.md");
  expect(history.map((f: Any) => [f.version, f.attachment_id, f.replaces])).toEqual([
    [3, third.attachment_id, undefined],
    [2, second.attachment_id, first.attachment_id],
    [1, first.attachment_id, undefined],
  ]);
  expect(history[0]).toMatchObject({
    by: { id: room.bob.id, kind: "person", name: "Bob" },
    message_id: third.message_id,
    byte_size: 3,
    mime_type: "text/plain",
  });
  // Elsewhere the same name is another file.
  const elsewhere = await newSpace(room.bob, "Elsewhere");
  await say(room.bob, elsewhere, "", { attachments: [{ attachment_id: first.attachment_id }] });
  expect(names((await read(room.bob, `/v1/spaces/${elsewhere}/files`)).items)).toEqual([["plan.md", 1]]);
  await send(room.bob, "message.delete", { message_id: third.message_id });
  expect(names(await listed())).toEqual([
    ["plan.md", 2],
    ["notes.md", 1],
  ]);
  expect(await listed("?name=none.md")).toEqual([]);
});

test("FILE-2 HTTP-2: both lists are paged, newest first", async () => {
  for (let i = 0; i < 5; i++) {
    await post(`f${i}.txt`, `${i}`);
    await post("all.txt", `${i}`);
  }
  for (const query of ["", "&name=all.txt"]) {
    const all = names(await listed(`?${query.slice(1)}`));
    const paged: unknown[] = [];
    for (let cursor = ""; ; ) {
      const page = await read(room.bob, `/v1/spaces/${room.space}/files?limit=2${query}${cursor}`);
      expect(page.items.length).toBeLessThanOrEqual(2);
      paged.push(...names(page.items));
      if (page.next === undefined) break;
      cursor = `&cursor=${page.next}`;
    }
    expect(paged).toEqual(all);
  }
});

test("WIN-5: a turn has the 20 newest files at the version as of its message, its own included, with URLs", async () => {
  const { bob, id, scouts } = room;
  await post("old.txt", "one");
  for (let i = 0; i < 19; i++) await post(`f${i}.txt`, `${i}`);
  const attachment_id = await upload(id, bob.id, { filename: "own.txt", content: "own" });
  const asked = await say(bob, room.space, "@Scout look", { attachments: [{ attachment_id }] });
  await post("own.txt", "changed since");
  await post("f3.txt", "changed since");
  const handed = async () => (await pulled(scouts)).find((f) => f.message_id === asked.message_id);
  const { context: c, attachments } = await handed();
  expect(names(c.files)).toEqual([
    ["own.txt", 1],
    ...Array.from({ length: 19 }, (_, i) => [`f${18 - i}.txt`, 1]),
  ]);
  expect(attachments).toMatchObject([{ attachment_id, filename: "own.txt" }]);
  for (const file of c.files) {
    expect(new URL(file.url).searchParams.get("sig")).toBeTruthy();
    expect(Date.parse(file.url_expires_at)).toBeGreaterThan(Date.now());
  }
  expect(names(await nowFiles()).slice(0, 2)).toEqual([
    ["f3.txt", 2],
    ["own.txt", 2],
  ]);
  expect(await nowFiles()).toHaveLength(20);
});
