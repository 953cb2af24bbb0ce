import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import manifest from "../package.json" with { type: "json" };
import { buildProgram } from "../src/cli/program.ts";
import type { ServerEvent } from "../src/sdk/index.ts";
import { type Running, root, start } from "./support/command.ts";
import {
  createWorkspace,
  startServer,
  type TestServer,
  type TestWorkspace,
  write,
} from "./support/server.ts";

const readme = readFileSync(join(root, "README.md"), "utf8");
const code = /```ts\n([\s\S]*?)```/.exec(readme)?.[1] ?? "";

let folder: string;
let server: TestServer;
let workspace: TestWorkspace;
let harness: Running | undefined;

/** A folder of a user's own, with the package in it as it is published. */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "bullpen-readme-"));
  const home = join(folder, "node_modules/bullpen");
  mkdirSync(home, { recursive: true });
  for (const name of ["bin", "package.json"]) cpSync(join(root, name), join(home, name), { recursive: true });
  for (const name of Object.keys(manifest.dependencies))
    symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name));
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const built = start(process.execPath, [tsc, "-p", "tsconfig.build.json", "--outDir", join(home, "dist")]);
  [server] = await Promise.all([startServer(), built.ended]);
  workspace = await createWorkspace(server);
});
afterAll(async () => {
  harness?.signal("SIGKILL");
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe("the README's harness", () => {
  it("has twenty lines at most", () => {
    expect(code).toContain("connectHarness");
    expect(code.trimEnd().split("\n").length).toBeLessThanOrEqual(20);
  });

  it("runs as it stands, against the published package, and answers", async () => {
    writeFileSync(join(folder, "harness.ts"), code);
    const { token, http } = await workspace.addHarness("my-harness");
    const env = { BULLPEN_URL: server.url, BULLPEN_TOKEN: token };
    harness = start(process.execPath, [join(folder, "harness.ts")], { env });
    await harness.line("open");
    const { agents } = await http.get<{ agents: { agent_id: string; name: string }[] }>("/v1/me");
    expect(agents).toMatchObject([{ name: "Echo" }]);
    const space_id = await workspace.addSpace("Lobby", [agents[0]?.agent_id ?? ""]);
    await write(workspace.http, "message.post", { space_id, text: "@Echo hello" });
    expect(await answerIn(space_id)).toBe("You said: @Echo hello");
    harness.signal("SIGINT");
    expect(await harness.ended).toMatchObject({ code: 0 });
  });
});

/** The first words of an agent, waited for without a timer. */
async function answerIn(space_id: string): Promise<string> {
  for (let after = 0; ; ) {
    const query = { after, space_id, wait: 25 };
    const page = await workspace.http.get<{ events: ServerEvent[]; next_after: number }>("/v1/events", query);
    for (const event of page.events)
      if (event.type === "message.posted" && event.from.kind === "agent") return event.text;
    after = page.next_after;
  }
}

describe("the published command line", () => {
  it("runs compiled, outside a checkout", async () => {
    const bin = join(folder, "node_modules/bullpen/bin/bullpen.mjs");
    const run = (args: string[]) => start(process.execPath, [bin, ...args], { env: { HOME: folder } }).ended;
    expect(await run(["--version"])).toMatchObject({ code: 0, stdout: `${manifest.version}\n` });
    expect(await run(["start"])).toMatchObject({ code: 2, stderr: expect.stringContaining("checkout") });
    const env = ["--url", server.url, "--token", workspace.token];
    expect(await run(["whoami", ...env])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("Olive"),
    });
  });

  it("has the clients that the README names, for import", async () => {
    writeFileSync(
      join(folder, "clients.mjs"),
      'import { connectAgent } from "bullpen/agent"; import { connectHarness } from "bullpen/sdk";' +
        "console.log(typeof connectAgent, typeof connectHarness);",
    );
    const ended = await start(process.execPath, [join(folder, "clients.mjs")]).ended;
    expect(ended).toMatchObject({ code: 0, stdout: "function function\n" });
  });

  it("has every command that the README names, and the README every command", () => {
    const commands = buildProgram().commands.map((command) => command.name());
    const named = [...readme.matchAll(/bullpen ([a-z][a-z-]*)/g)].map(([, name]) => name ?? "");
    expect([...new Set(named)].filter((name) => !commands.includes(name))).toEqual([]);
    expect(commands.filter((name) => !named.includes(name))).toEqual([]);
  });
});
