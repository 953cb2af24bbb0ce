import { expect, it } from "vitest";
import { newId } from "../sdk/ids.ts";
import { readLink } from "./link.ts";

const ulid = newId("ws").slice(3);
const secret = `${ulid}_${ulid}_${"a".repeat(43)}`;
const nowhere = (): string => "http://localhost:8787";

it("AUTH-6: reads the secret from the fragment, and the server from the rest", () => {
  expect(readLink(` https://rooms.example.com/#invite=${secret}\n`, nowhere)).toEqual({
    kind: "invite",
    url: "https://rooms.example.com",
    secret,
  });
  expect(readLink(`https://rooms.example.com/#signin=${secret}`, nowhere).kind).toBe("signin");
  expect(readLink(secret, nowhere)).toEqual({ kind: "invite", url: "http://localhost:8787", secret });
});

it.each([
  "https://rooms.example.com/",
  "https://rooms.example.com/?invite=x",
  `javascript:alert(1)#invite=${secret}`,
  `https://rooms.example.com/#invite=${secret}x`,
  "",
])("refuses what is no link: %j", (text) => {
  expect(() => readLink(text, nowhere)).toThrow(expect.objectContaining({ exitCode: 2 }));
});
