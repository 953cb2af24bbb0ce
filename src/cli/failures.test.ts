import { expect, it } from "vitest";
import { BullpenError } from "../sdk/errors.ts";
import { CliError, EXIT, explain, usage } from "./failures.ts";

it.each([
  [new BullpenError("forbidden", "You may not."), 1, "You may not. (forbidden)"],
  [new BullpenError("rate_limited", "Slower."), 1, "Slower. (rate_limited)"],
  [usage("Not so."), 2, "Not so."],
  [new BullpenError("unauthenticated", "Who?"), 3, "Who? (unauthenticated)"],
  [new BullpenError("unavailable", "Not now."), 4, "Not now. (unavailable)"],
  [new TypeError("a fault of ours"), 1, "a fault of ours"],
])("gives each failure its exit code: %s", (thrown, exitCode, line) => {
  expect(explain(thrown)).toMatchObject({ exitCode, lines: expect.arrayContaining([line]) });
});

it.each([
  ["ECONNREFUSED", "Is the server running? Start it with: npm start"],
  ["ENOTFOUND", "The host name is not known: check --url or BULLPEN_URL."],
])("says what to do about %s, wherever fetch has put it", (code, hint) => {
  const inner = Object.assign(new Error("fetch failed"), { cause: { errors: [{ code }] } });
  const error = new BullpenError("unavailable", "Cannot reach it.", { cause: inner });
  expect(explain(error).lines).toContain(hint);
});

it("lists what is wrong by its path, and makes the server's words safe", () => {
  const error = new BullpenError("invalid", "Not right.\u001b[2J", {
    details: [{ path: "text", message: "is too long" }],
  });
  expect(explain(error).lines).toEqual(["Not right. (invalid)", "  text: is too long"]);
});

it("TEAM-1: places in a file stand at the beginning of their lines, everything else after who says it", () => {
  const faults = new CliError(EXIT.refused, "a.yaml:1: x: is missing", "1 fault.", { places: true });
  expect(explain(faults).text).toBe("a.yaml:1: x: is missing\n1 fault.\n");
  expect(explain(usage("Not so.", "Do this.")).text).toBe("bullpen: Not so.\nDo this.\n");
});
