import { describe, expect, it } from "vitest";
import type { MessageNew } from "../src/sdk/index.ts";
import { answerTo, orderIn } from "./dispatch.ts";
import { scriptFor } from "./scout.ts";

const members = [
  { participant_id: "usr_1", kind: "person", name: "Ann", handle: "Ann" },
  { participant_id: "agt_1", kind: "agent", name: "Scout", handle: "Scout" },
];
const message = (kind: "person" | "agent", text: string, more: object = {}): MessageNew =>
  ({ from: { kind, display_name: "Scout" }, text, room: { members, notes: {} }, ...more }) as MessageNew;

describe("Scout", () => {
  it("has a script for the weather, for files, and for all else", () => {
    expect(scriptFor("@Scout what's the weather?").reply).toContain("Rain");
    expect(scriptFor("@Scout a weather report").file?.filename).toBe("weather.csv");
    expect(scriptFor("hello").reply).toContain("by a script");
  });
});

describe("Dispatch", () => {
  it.each([
    ["@Dispatch ask Scout for the weather", { whom: "Scout", what: "the weather" }],
    ["please ask @Scout about rain.", { whom: "Scout", what: "rain" }],
    ["hello", undefined],
  ])("reads an order: %s", (text, order) => {
    expect(orderIn(text)).toEqual(order);
  });

  it("hands a person's order to the agent by name, and only to one that is there", () => {
    expect(answerTo(message("person", "ask scout for the weather"), undefined)).toBe(
      "@Scout, please: the weather?",
    );
    expect(answerTo(message("person", "ask Rex for a bone"), undefined)).toBe("There is no agent Rex here.");
    expect(answerTo(message("person", "ask Ann for a bone"), undefined)).toBe("There is no agent Ann here.");
  });

  it("reports an agent's answer to who asked, and names nobody else: the talk ends there", () => {
    const answer = message("agent", "@Dispatch Rain.", { attachments: [{ filename: "a.csv" }] });
    expect(answerTo(answer, "Ann")).toBe("@Ann Scout says: Rain. (with a.csv, above)");
  });
});
