import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeEach, describe, expect, it, vi } from "vitest";
import { EXAMPLE } from "../../../scripts/team-docs.ts";
import { checkTeam } from "../../shared/rules/team-check.ts";
import { team as teamSchema } from "../../shared/wire/team.ts";
import { CliError, EXIT, explain } from "../failures.ts";
import { buildProgram } from "../program.ts";
import { yamlOf } from "./team.ts";

const folder = mkdtempSync(join(tmpdir(), "bullpen-team-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let printed = "";
let noted = "";
beforeEach(() => {
  printed = "";
  noted = "";
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    noted += String(text);
    return true;
  });
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    printed += String(text);
    return true;
  });
  return () => vi.restoreAllMocks();
});

function file(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

async function check(path: string, ...more: string[]): Promise<string> {
  await buildProgram().parseAsync(["team", "check", path, ...more], { from: "user" });
  return printed;
}

async function refusal(path: string): Promise<CliError> {
  const thrown: unknown = await check(path).catch((error: unknown) => error);
  expect(thrown).toBeInstanceOf(CliError);
  return thrown as CliError;
}

describe("team check", () => {
  it("TEAM-4: the example of the docs is right, and --json shows it with its defaults", async () => {
    const path = file("team.yaml", EXAMPLE);
    expect(await check(path)).toBe(`${path} is right: 2 agents, 1 human, 1 repository.\n`);
    printed = "";
    expect(noted).toBe("");
    expect(JSON.parse(await check(path, "--json"))).toMatchObject({
      key: "SHOP",
      policies: { stuck_minutes: 60 },
    });
  });

  it("TEAM-1: every fault stands on a line of its own with file, line and path, and the exit code is a refusal's", async () => {
    const path = file(
      "bad.yaml",
      "version: 1\nkey: lower\npeople:\n  - {handle: Ada!, name: Ada, role: dev}\nnonsense: 1\n",
    );
    const { exitCode, message, hint } = await refusal(path);
    expect(exitCode).toBe(EXIT.refused);
    const lines = message.split("\n");
    expect(lines).toContainEqual(expect.stringMatching(new RegExp(`^${path}:2: key: `)));
    expect(lines).toContainEqual(expect.stringMatching(new RegExp(`^${path}:4: people\\.0\\.handle: `)));
    expect(message).toContain("nonsense");
    expect(hint).toBe(`${lines.length} faults; nothing was changed.`);
    const said = explain(await refusal(path))
      .text.trimEnd()
      .split("\n");
    for (const line of said.slice(0, -1)) expect(line.startsWith(`${path}:`)).toBe(true);
  });

  it("PIPE-5: says so where nobody here could wake an agent", async () => {
    await check(file("alone.yaml", EXAMPLE.replace(/user: \w+, /, "")));
    expect(noted).toContain("No human has a `user`");
  });

  it("TEAM-1: a file that is no document, and one that is not there, are told apart", async () => {
    expect((await refusal(file("broken.json", "{"))).exitCode).toBe(EXIT.refused);
    expect((await refusal(join(folder, "none.yaml"))).exitCode).toBe(EXIT.usage);
  });

  it("PIPE-4: a fault quotes nothing that steers the terminal", async () => {
    const { message } = await refusal(file("hostile.yaml", 'people: []\n"\\e[2J\\r\\nfake: 1": 1\n'));
    // oxlint-disable-next-line no-control-regex
    expect(message).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
    expect(message).not.toMatch(/^fake/m);
  });
});

describe("team show", () => {
  const words = fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 });
  it("TEAM-1: prints YAML that reads back as the same config, and steers no terminal", async () => {
    const hostile = fc.constantFrom(
      "\u009b2J",
      "a\u202eb",
      "\u2028x",
      "yes",
      "1e3",
      "- x",
      "# y",
      "null",
      " z ",
    );
    await fc.assert(
      fc.asyncProperty(fc.oneof(words, hostile), fc.oneof(words, hostile), async (title, summary) => {
        const team = teamSchema.parse({
          // A name is only such as rooms show (TEAM-3): other texts of the config may be anything.
          roles: { dev: { title, summary } },
          people: [{ handle: "ada", name: "Ada", role: "dev" }],
        });
        const text = await yamlOf(team);
        expect(text).not.toMatch(/[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/);
        expect(checkTeam(text, "yaml")).toEqual({ team });
      }),
    );
  });
});
