import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { newUser, type User } from "../support/command.ts";
import { startServer, type TestServer } from "../support/server.ts";

let here: TestServer;
let there: TestServer;
const ann = newUser();
const again = newUser();

beforeAll(async () => {
  [here, there] = await Promise.all([startServer(), startServer()]);
  const create = ["workspace", "create", "--name", "Acme", "--owner", "Ann", "--url", here.url];
  await ann.bullpen(create, { env: { BULLPEN_ADMIN_TOKEN: here.adminToken } });
});
afterAll(async () => {
  ann.leave();
  again.leave();
  await Promise.all([here?.stop(), there?.stop()]);
});

/** An export's lines but the first and the last, which say when it was made. */
function linesOf(file: string): string[] {
  return readFileSync(file, "utf8").split("\n").slice(1, -2);
}

async function ok(user: User, args: string[], env: Record<string, string> = {}): Promise<string> {
  const ended = await user.bullpen(args, { env });
  if (ended.code !== 0) throw new Error(`bullpen ${args.join(" ")} ended ${ended.code}: ${ended.stderr}`);
  return ended.stdout.trimEnd();
}

it("LOG-6: what export wrote with its files, import makes again on another server, whose owner one is", async () => {
  const folder = mkdtempSync(join(ann.home, "export-"));
  const path = join(folder, "monday.ndjson");
  const files = join(folder, "files");
  writeFileSync(join(folder, "a.txt"), "hello");
  await ok(ann, ["space", "create", "Lobby"]);
  await ok(ann, ["post", "Lobby", "here it is", "--file", join(folder, "a.txt")]);
  await ok(ann, ["export", "--output", path, "--files", files]);
  const sha256 = createHash("sha256").update("hello").digest("hex");
  expect(readdirSync(files)).toEqual([sha256]);
  const env = { BULLPEN_ADMIN_TOKEN: there.adminToken };
  expect(await ok(again, ["import", path, "--files", files, "--url", there.url], env)).toContain(
    "You are Ann in Acme.",
  );
  const second = join(folder, "tuesday.ndjson");
  rmSync(files, { recursive: true });
  await ok(again, ["export", "--output", second, "--files", files]);
  expect(linesOf(second)).toEqual(linesOf(path));
  expect(readFileSync(join(files, sha256), "utf8")).toBe("hello");
  const taken = await again.bullpen(["import", path, "--url", there.url], { env });
  expect(taken).toMatchObject({ code: 1, stderr: expect.stringContaining("(conflict)") });
  const wrong = await again.bullpen(["import", join(folder, "a.txt"), "--url", there.url], { env });
  expect(wrong.code).toBe(2);
});
