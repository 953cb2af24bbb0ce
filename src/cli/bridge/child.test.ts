import { existsSync, mkdtempSync, readFileSync, rmSync, watch } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isAlive } from "../../../test/support/processes.ts";
import { type ChildOptions, startChild } from "./child.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "bullpen-child-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A Node program as a child. */
function run(script: string, options: Partial<ChildOptions> = {}) {
  const printed = { stdout: "", stderr: "" };
  const child = startChild({
    command: [process.execPath, "-e", script],
    input: "",
    env: { ...process.env, FOLDER: folder },
    onStdout: (chunk) => (printed.stdout += chunk.toString()),
    onStderr: (chunk) => (printed.stderr += chunk.toString()),
    ...options,
  });
  return { child, printed };
}

/** Resolves when the program has put this file there, with what stands in it. */
async function written(name: string): Promise<string> {
  const path = join(folder, name);
  const watcher = watch(folder);
  try {
    const there = new Promise<void>((resolve) => watcher.on("change", () => existsSync(path) && resolve()));
    // Looked for once the watching has begun: it may have come before.
    if (!existsSync(path)) await there;
    return readFileSync(path, "utf8");
  } finally {
    watcher.close();
  }
}

/** Starts a grandchild that says its id in a file, whole once it is there, and stays. */
const GRANDCHILD = `
  const { spawn } = require("node:child_process");
  const script = \`
    const { renameSync, writeFileSync } = require("node:fs");
    if (process.env.DEAF) process.on("SIGTERM", () => {});
    const file = process.env.FOLDER + "/pid";
    writeFileSync(file + ".part", String(process.pid));
    renameSync(file + ".part", file);
    setInterval(() => {}, 1000);
  \`;
  spawn(process.execPath, ["-e", script], { stdio: "inherit" });
`;

// Several processes a test: a busy machine takes its time to start them.
describe("BRIDGE-1 a process for a turn", { timeout: 30_000 }, () => {
  test("BRIDGE-1 the prompt on stdin, the answer from stdout, the rest from stderr, and the exit code", async () => {
    const { child, printed } = run(
      `process.stdin.pipe(process.stdout); process.stdin.on("end", () => { console.error("done"); process.exitCode = 3; });`,
      { input: "Grüße\n".repeat(50_000) },
    );
    expect(await child.ended).toMatchObject({ code: 3, signal: null });
    expect(printed.stdout).toBe("Grüße\n".repeat(50_000));
    expect(printed.stderr).toBe("done\n");
  });

  test("BRIDGE-1 a command that does not read its input is none the worse", async () => {
    const { child, printed } = run(`process.stdin.destroy(); console.log("ok");`, {
      input: "x".repeat(1 << 20),
    });
    expect(await child.ended).toMatchObject({ code: 0 });
    expect(printed.stdout).toBe("ok\n");
  });

  test("BRIDGE-1 a command that is not there is told as that", async () => {
    const { child } = run("", { command: [join(folder, "no-such-command")] });
    expect((await child.ended).error).toMatchObject({ code: "ENOENT" });
    child.stop();
  });

  test("BRIDGE-1 stop ends it and what it has started", async () => {
    const { child } = run(`${GRANDCHILD} setInterval(() => {}, 1000);`);
    const pid = Number(await written("pid"));
    expect(isAlive(pid)).toBe(true);
    child.stop();
    expect(await child.ended).toMatchObject({ signal: "SIGTERM" });
    expect(isAlive(pid)).toBe(false);
  });

  test("BRIDGE-1 what does not listen to SIGTERM gets SIGKILL", async () => {
    const env = { ...process.env, FOLDER: folder, DEAF: "1" };
    const { child } = run(`process.on("SIGTERM", () => {}); ${GRANDCHILD} setInterval(() => {}, 1000);`, {
      env,
      killAfterMs: 100,
    });
    const pid = Number(await written("pid"));
    child.stop();
    child.stop();
    expect(await child.ended).toMatchObject({ signal: "SIGKILL" });
    expect(isAlive(pid)).toBe(false);
  });

  test("BRIDGE-1 what it leaves running does not outlive the turn, nor hold its output open", async () => {
    const { child, printed } = run(
      `${GRANDCHILD}
      const look = setInterval(() => {
        if (!require("node:fs").existsSync(process.env.FOLDER + "/pid")) return;
        clearInterval(look);
        console.log("answer");
        process.exit(0);
      }, 10);`,
    );
    expect(await child.ended).toMatchObject({ code: 0 });
    expect(printed.stdout).toBe("answer\n");
    expect(isAlive(Number(await written("pid")))).toBe(false);
  });

  test("BRIDGE-1 the end of the bridge itself, without a chance to wait, ends them too", async () => {
    const module = new URL("./child.ts", import.meta.url).href;
    const bridge = `
      import(${JSON.stringify(module)}).then(({ startChild }) => {
        startChild({
          command: [process.execPath, "-e", process.env.SCRIPT],
          input: "", env: process.env, onStdout() {}, onStderr() {},
        });
        const look = setInterval(() => {
          if (!require("node:fs").existsSync(process.env.FOLDER + "/pid")) return;
          clearInterval(look);
          process.exit(9);
        }, 10);
      });`;
    const env = { ...process.env, FOLDER: folder, SCRIPT: `${GRANDCHILD} setInterval(() => {}, 1000);` };
    const { child } = run(bridge, { env });
    expect(await child.ended).toMatchObject({ code: 9 });
    const pid = Number(await written("pid"));
    while (isAlive(pid)) await new Promise((resolve) => setImmediate(resolve));
  });
});
