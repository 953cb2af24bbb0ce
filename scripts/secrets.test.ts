import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { expect, it, onTestFinished } from "vitest";
import { writeSecrets } from "./secrets.ts";

it("writes random secrets once, for this user alone", () => {
  const folder = mkdtempSync(join(tmpdir(), "secrets-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [one, other] = [join(folder, "one"), join(folder, "other")];
  expect([writeSecrets(one), writeSecrets(other)]).toEqual([true, true]);
  const secrets = [one, other].flatMap((file) => Object.values(parseEnv(readFileSync(file, "utf8"))));
  expect(new Set(secrets).size).toBe(6);
  expect(secrets.every((secret) => secret?.length === 43)).toBe(true);
  expect(statSync(one).mode & 0o777).toBe(0o600);

  const before = readFileSync(one, "utf8");
  expect(writeSecrets(one)).toBe(false);
  expect(readFileSync(one, "utf8")).toBe(before);
});
