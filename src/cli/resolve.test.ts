import { expect, it } from "vitest";
import { pick } from "./resolve.ts";

const items = [
  { id: "spc_1", name: "Lobby" },
  { id: "spc_2", name: "lobby" },
  { id: "spc_3", name: "Launch Plan" },
  { id: "spc_4", name: "Twin" },
  { id: "spc_5", name: "Twin" },
];
const find = (text: string): string => pick("space", text, items, (item) => ({ ...item, more: "" })).id;

it("finds by id, by the name as it is, and as a handle is written", () => {
  expect(find("spc_5")).toBe("spc_5");
  expect(find("lobby")).toBe("spc_2");
  expect(find("launchplan")).toBe("spc_3");
});

it("lists the candidates when a name means several", () => {
  expect(() => find("Twin")).toThrow(
    expect.objectContaining({ exitCode: 2, hint: "  spc_4  Twin\n  spc_5  Twin" }),
  );
  expect(() => find("LOBBY")).toThrow(expect.objectContaining({ exitCode: 2 }));
});

it("lists what there is when a name means nothing", () => {
  expect(() => find("no")).toThrow(
    expect.objectContaining({ exitCode: 1, hint: expect.stringContaining("spc_3  Launch Plan") }),
  );
});
