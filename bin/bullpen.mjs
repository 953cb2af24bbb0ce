#!/usr/bin/env node
// Starts the command-line tool: from source in a checkout, from dist/ in a published package. Plain
// JavaScript, because the Node that runs it may be too old for either; then the pinned one takes over.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const source = new URL("../src/cli/main.ts", import.meta.url);
const built = new URL("../dist/cli/main.js", import.meta.url);
const main = existsSync(source) ? source : built;

const [major, minor] = process.versions.node.split(".").map(Number);
const newEnough = major > 22 || (major === 22 && minor >= 12);
const readsSource = main === built || Boolean(process.features.typescript);

if (newEnough && readsSource) await import(main.href);
else process.exitCode = runWithPinnedNode();

function runWithPinnedNode() {
  let node;
  try {
    const manifest = createRequire(import.meta.url).resolve("node/package.json");
    node = join(dirname(manifest), "bin", process.platform === "win32" ? "node.exe" : "node");
  } catch {
    console.error(`bullpen needs Node 22.12 or newer; this is ${process.version}.`);
    return 1;
  }
  const child = spawnSync(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: "inherit",
  });
  if (child.error) throw child.error;
  return child.status ?? 1;
}
