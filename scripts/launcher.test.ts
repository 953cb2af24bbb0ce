import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import manifest from "../package.json" with { type: "json" };

const launcher = fileURLToPath(new URL("../bin/bullpen.mjs", import.meta.url));

function run(args: string[]) {
  return spawnSync(process.execPath, args, { encoding: "utf8" });
}

it("runs the source in a checkout", () => {
  expect(run([launcher, "--version"])).toMatchObject({ stdout: `${manifest.version}\n`, status: 0 });
});

it("hands over to the pinned Node when this one cannot read TypeScript, and passes its status on", () => {
  const old = "--no-experimental-strip-types";
  expect(run([old, launcher, "--version"])).toMatchObject({ stdout: `${manifest.version}\n`, status: 0 });
  expect(run([old, launcher, "--no-such-option"]).status).toBe(2);
});

it("runs dist/ where there is no source, as in a published package", () => {
  const folder = mkdtempSync(join(tmpdir(), "launcher-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  cpSync(launcher, join(folder, "bin/bullpen.mjs"));
  mkdirSync(join(folder, "dist/cli"), { recursive: true });
  writeFileSync(join(folder, "dist/cli/main.js"), `console.log("built", process.argv[2]);`);
  expect(run([join(folder, "bin/bullpen.mjs"), "hello"])).toMatchObject({
    stdout: "built hello\n",
    status: 0,
  });
});
