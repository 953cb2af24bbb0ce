import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Ended, newUser, type User } from "../support/command.ts";
import { startServer, type TestServer } from "../support/server.ts";

let server: TestServer;
const ann = newUser();

beforeAll(async () => {
  server = await startServer();
  const create = ["workspace", "create", "--name", "Acme", "--owner", "Ann", "--url", server.url];
  await ann.bullpen(create, { env: { BULLPEN_ADMIN_TOKEN: server.adminToken } });
  await ok(ann, ["space", "create", "Lobby"]);
});
afterAll(async () => {
  ann.leave();
  await server?.stop();
});

async function ok(user: User, args: string[]): Promise<string> {
  const ended = await user.bullpen(args);
  if (ended.code !== 0) throw new Error(`bullpen ${args.join(" ")} ended ${ended.code}: ${ended.stderr}`);
  return ended.stdout.trimEnd();
}

it("WHY-1: why says the reasons behind a message, and refuses what is no id or not there", async () => {
  const said = await ok(ann, ["post", "Lobby", "hello"]);
  expect(await ok(ann, ["why", said])).toMatch(/^message\.posted at \d+.*\nADDR-3 +It is for nobody/);
  const json = JSON.parse(await ok(ann, ["why", said, "--json"]));
  expect(json.decisions[0]).toMatchObject({ rule: "ADDR-3", facts: { by: "nobody" } });
  expect(await ann.bullpen(["why", "Lobby"])).toMatchObject({ code: 2 });
  const unknown = await ann.bullpen(["why", said.replace(/.$/, (last) => (last === "0" ? "1" : "0"))]);
  expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining("(not_found)") });
});

it("LOG-6: export writes a whole file that others cannot read, or all of it to standard output", async () => {
  const folder = mkdtempSync(join(ann.home, "export-"));
  const path = join(folder, "monday.ndjson");
  const made = await ann.bullpen(["export", "--output", path]);
  expect(made).toMatchObject({ code: 0, stdout: "" });
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const text = readFileSync(path, "utf8");
  const lines = text.trimEnd().split("\n");
  expect(made.stderr).toContain(`${lines.length} lines, ${Buffer.byteLength(text)} bytes in ${path}.`);
  const end = JSON.parse(lines.at(-1) ?? "");
  const before = text.slice(0, text.lastIndexOf("\n", text.length - 2) + 1);
  expect(end).toEqual({
    type: "end",
    lines: lines.length - 1,
    sha256: createHash("sha256").update(before).digest("hex"),
  });
  const piped = await ok(ann, ["export", "--output", "-"]);
  expect(piped.split("\n").slice(1, -1)).toEqual(lines.slice(1, -1));
  const settings = join(folder, "settings.json");
  writeFileSync(settings, JSON.stringify({ guard: { hold: 9 } }));
  expect(await ok(ann, ["try", path, "--settings", settings])).toContain(
    "Nothing would have been otherwise.",
  );
});

it("OPS-4: an export that ends early leaves the file that was there, and nothing beside it", async () => {
  const folder = mkdtempSync(join(ann.home, "cut-"));
  const path = join(folder, "monday.ndjson");
  writeFileSync(path, "the one of Sunday");
  const line = `${JSON.stringify({ type: "workspace" })}\n`;
  const answers = [
    line,
    `${line}${JSON.stringify({ type: "end", lines: 1, sha256: "wrong" })}\n`,
    // Said to be longer than what comes: the connection breaks.
    undefined,
  ];
  for (const answer of answers) {
    const ended = await exportFrom(path, answer, line);
    expect(ended.code).toBe(4);
    expect(readFileSync(path, "utf8")).toBe("the one of Sunday");
    expect(readdirSync(folder)).toEqual(["monday.ndjson"]);
  }
  expect(existsSync(`${path}.part`)).toBe(false);
});

/** Exports from a server that answers so, or that breaks off after the first line. */
async function exportFrom(path: string, answer: string | undefined, line: string): Promise<Ended> {
  const breaking = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "application/x-ndjson" });
    if (answer !== undefined) return void response.end(answer);
    response.write(line);
    setTimeout(() => response.destroy(), 50);
  });
  const port = await new Promise<number>((resolve) => {
    breaking.listen(0, "127.0.0.1", () => resolve((breaking.address() as { port: number }).port));
  });
  try {
    const env = { BULLPEN_URL: `http://127.0.0.1:${port}`, BULLPEN_TOKEN: "bp_x" };
    return await ann.bullpen(["export", "--output", path], { env });
  } finally {
    breaking.close();
  }
}
