import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { setUp } from "../../test/sdk/agent-kit.ts";
import { settle } from "../../test/sdk/fakes.ts";
import { fileStore } from "./file-store.ts";
import { Ledger } from "./ledger.ts";
import { type AgentStore, memoryStore } from "./store.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "bullpen-agent-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const nobody = (): void => {};
const ending = (n: number) => ({ workItemId: `itm_${n}`, kind: "result" as const, text: "", frame: `f${n}` });

describe("AGENT-2: the folder", () => {
  it("keeps the newest text, for this user alone, and leaves nothing beside it", async () => {
    const place = join(folder, "deep/ada");
    const store = fileStore(place);
    expect(await store.load()).toBeUndefined();
    await store.save("one");
    await store.save("two");
    expect(await fileStore(place).load()).toBe("two");
    expect(readdirSync(place).toSorted()).toEqual(["agent.json", "owner"]);
    expect(statSync(place).mode & 0o777).toBe(0o700);
    expect(statSync(join(place, "agent.json")).mode & 0o777).toBe(0o600);
  });

  it("takes away what a crash in the middle of writing has left", async () => {
    writeFileSync(join(folder, "agent.json"), "whole");
    writeFileSync(join(folder, "agent.json.half"), "ha");
    expect(await fileStore(folder).load()).toBe("whole");
    expect(readdirSync(folder).toSorted()).toEqual(["agent.json", "owner"]);
  });

  it("belongs to the agent that opened it last: the other one writes no more", async () => {
    const first = fileStore(folder);
    await first.load();
    await first.save("first");
    const second = fileStore(folder);
    expect(await second.load()).toBe("first");
    await second.save("second");
    await expect(first.save("late")).rejects.toMatchObject({ code: "replaced" });
    expect(readFileSync(join(folder, "agent.json"), "utf8")).toBe("second");
  });
});

describe("AGENT-2: the ledger", () => {
  it("shows a change only when it is stored, and stores those that wait together", async () => {
    const saves: PromiseWithResolvers<void>[] = [];
    const store: AgentStore = {
      load: () => Promise.resolve(undefined),
      save() {
        const save = Promise.withResolvers<void>();
        saves.push(save);
        return save.promise;
      },
    };
    const ledger = await Ledger.open(store, "ws/ada", nobody);
    const changes = [1, 2, 3].map((n) => ledger.change((state) => state.endings.push(ending(n))));
    await settle();
    expect([saves.length, ledger.state.endings.length]).toEqual([1, 0]);
    saves[0]?.resolve();
    await settle();
    expect([saves.length, ledger.state.endings.length]).toEqual([2, 1]);
    saves[1]?.resolve();
    expect(await Promise.all(changes)).toEqual([1, 2, 3]);
    expect(ledger.state.endings).toHaveLength(3);
    const more = ledger.change((state) => state.endings.push(ending(4)));
    saves[2]?.resolve();
    expect(await more).toBe(4);
  });

  it("is of one agent, and says so", async () => {
    const store = memoryStore();
    await (await Ledger.open(store, "ws/ada", nobody)).change((state) => void state.posted.push("rpt_1"));
    expect((await Ledger.open(store, "ws/ada", nobody)).state.posted).toEqual(["rpt_1"]);
    await expect(Ledger.open(store, "ws/milo", nobody)).rejects.toThrow("belongs to ws/ada, not to ws/milo");
  });

  it.each(["{broken", "[]", '{"version":2}'])("does not go on from what it cannot read: %s", async (text) => {
    await expect(Ledger.open(memoryStore(text), "ws/ada", nobody)).rejects.toThrow("cannot be read");
  });
});

describe("an agent whose state cannot be kept", () => {
  it("stops with the reason, and sends nothing that is not written down", async () => {
    const store = memoryStore();
    const full: AgentStore = {
      load: () => store.load(),
      save: () => Promise.reject(new Error("no space left")),
    };
    const { office, connect } = setUp({ store: full });
    const agent = connect();
    await agent.ready;
    office.queue("itm_1");
    expect(await agent.closed).toMatchObject({ message: expect.stringContaining("no space left") });
    expect(office.socket.of("handback")).toEqual([]);
  });

  it("does not connect when it cannot be read", async () => {
    const { office, connect } = setUp({ store: memoryStore("{broken") });
    expect(await connect().closed).toMatchObject({ code: "invalid" });
    expect(office.sockets).toEqual([]);
  });
});
