import { runInDurableObject } from "cloudflare:test";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { newId, roomStub } from "../testing/client.ts";
import { openDb } from "./db.ts";
import { once, REQUEST_KEYS_TABLE } from "./once.ts";
import { Refused, refuse } from "./result.ts";

const request = fc.record({
  sender: fc.constantFrom("usr_1", "usr_2"),
  name: fc.constantFrom("ticket", "comment BP-1"),
  key: fc.option(fc.constantFrom("a", "b"), { nil: undefined }),
  title: fc.constantFrom("one", "two"),
  refused: fc.boolean(),
});

test("ENV-4: whatever is asked for again, each key of a sender is carried out once, answered as the first time, and a conflict for anything else", async () => {
  await runInDurableObject(roomStub(newId("ws")), (_, { storage }) => {
    const db = openDb(storage.sql);
    fc.assert(
      fc.property(fc.array(request, { maxLength: 30 }), (requests) => {
        db.run("DROP TABLE IF EXISTS request_keys");
        db.run(REQUEST_KEYS_TABLE);
        const stands = new Map<string, { what: string; answer: object }>();
        let made = 0;
        for (const { sender, name, key, title, refused } of requests) {
          const before = key === undefined ? undefined : stands.get(`${sender} ${key}`);
          const what = `${name} ${title}`;
          const ask = () =>
            once(db, { sender, at: 0, name, asked: { title, idempotency_key: key } }, (body) => {
              expect(body).toEqual({ title });
              if (refused) refuse("invalid", "No.");
              made += 1;
              return { title, n: made };
            });
          const count = made;
          if (before && before.what !== what) {
            expect(ask).toThrow(
              expect.objectContaining({ refusal: expect.objectContaining({ code: "conflict" }) }),
            );
            continue;
          }
          if (!before && refused) {
            expect(ask).toThrow(Refused);
            continue;
          }
          const answer = ask();
          expect(made).toBe(before ? count : count + 1);
          expect(answer).toEqual(before?.answer ?? { title, n: made });
          if (key !== undefined && !before) stands.set(`${sender} ${key}`, { what, answer });
        }
      }),
    );
  });
});
