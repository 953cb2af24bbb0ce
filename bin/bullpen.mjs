#!/usr/bin/env node
// Starts the command-line tool: from source in a checkout, from dist/ in a published package. Plain
// JavaScript, because the Node that runs it may be too old for either; then the pinned one takes over.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const source = new URL("../src/cli/main.ts", import.meta.url);
const built = new URL("../dist/cli/main.js", import.meta.url);
const main = existsSync(source) ? source : built;

const [major, minor] = process.versions.node.split(".").map(Number);
const newEnough = major > 22 || (major === 22 && minor >= 12);
const readsSource = main === built || Boolean(process.features.typescript);

if (newEnough && readsSource) await import(main.href);
else process.exitCode = await runWithPinnedNode();

function runWithPinnedNode() {
  let node;
  try {
    const manifest = createRequire(import.meta.url).resolve("node/package.json");
    node = join(dirname(manifest), "bin", process.platform === "win32" ? "node.exe" : "node");
  } catch {
    console.error(`bullpen needs Node 22.12 or newer; this is ${process.version}.`);
    return 1;
  }
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: "inherit" });
  // A supervisor signals only us, a terminal the child too: it must not mind a signal that comes twice.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => resolve(code ?? 128 + constants.signals[signal]));
  });
}
