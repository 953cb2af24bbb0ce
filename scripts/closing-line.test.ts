import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";

const vitest = fileURLToPath(new URL("../node_modules/vitest/vitest.mjs", import.meta.url));
const reporter = fileURLToPath(new URL("./closing-line.ts", import.meta.url));
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "closing-line-"));
  const files = {
    "good.test.js": `test("one", () => {}); test.each([1, 2])("more %i", () => {});`,
    "skipped.test.js": `test.skip("later", () => {}); test("now", () => {});`,
    "bad.test.js": `test("wrong", () => { throw new Error("wrong"); });`,
    "hook.test.js": `describe("hook", () => { beforeAll(() => { throw new Error("hook"); }); test("never", () => {}); });`,
    "broken.test.js": `throw new Error("does not load");`,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
});
afterAll(() => rmSync(folder, { recursive: true }));

function run(...files: string[]): { lastLine: string | undefined; status: number | null } {
  const args = [
    vitest,
    "run",
    "--root",
    folder,
    "--globals",
    "--reporter",
    "default",
    "--reporter",
    reporter,
  ];
  const { stdout, status } = spawnSync(process.execPath, [...args, ...files], { encoding: "utf8" });
  return { lastLine: stdout.trimEnd().split("\n").at(-1), status };
}

it("ends a good run with its counts", () => {
  expect(run("good")).toEqual({ lastLine: "3 passed, 0 failed", status: 0 });
});

it("names skipped tests only when there are some", () => {
  expect(run("good", "skipped")).toEqual({ lastLine: "4 passed, 0 failed, 1 skipped", status: 0 });
});

it("counts a failed test, a failed hook and a file that does not load", () => {
  const { lastLine, status } = run("good", "bad", "hook", "broken");
  expect(lastLine).toBe("3 passed, 3 failed, 1 skipped");
  expect(status).toBe(1);
});
