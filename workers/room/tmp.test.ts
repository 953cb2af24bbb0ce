import { runInDurableObject } from "cloudflare:test";
import { test } from "vitest";
import { ask, askingRoom, events } from "../testing/asks.ts";
import { roomStub } from "../testing/client.ts";
import { evict } from "../testing/judge.ts";

for (const way of ["none", "evict"])
  test(`x ${way}`, async () => {
    const room = await askingRoom();
    await ask(room, { expires_in: 2 });
    if (way === "evict") await evict(room.workspace);
    for (let i = 0; i < 5; i++) {
      const [al, now, rows] = await runInDurableObject(
        roomStub(room.workspace),
        async (_r: unknown, ctx: DurableObjectState) => [
          await ctx.storage.getAlarm(),
          Date.now(),
          ctx.storage.sql.exec("select * from alarms").toArray(),
        ],
      );
      console.log(way, al, now, JSON.stringify(rows));
      await new Promise((r) => setTimeout(r, 1000));
    }
    console.log(
      (await events(room.bob)).map((e) => e.type).join(" "),
      room.socket.frames.map((f) => f.type).join(" "),
    );
  }, 30000);
