/* oxlint-disable unicorn/no-thenable -- the word of a policy rule: data, never awaited */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, it, vi } from "vitest";
import { exportOf, type Step } from "../../shared/rules/replay.cases.ts";
import { defaultSettings } from "../../shared/wire/index.ts";
import { CliError } from "../failures.ts";
import { buildProgram } from "../program.ts";

const folder = mkdtempSync(join(tmpdir(), "bullpen-try-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let printed = "";
beforeEach(() => {
  printed = "";
  for (const stream of [process.stdout, process.stderr])
    vi.spyOn(stream, "write").mockImplementation((text) => {
      printed += String(text);
      return true;
    });
  return () => vi.restoreAllMocks();
});

function file(name: string, content: unknown): string {
  const path = join(folder, name);
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
}

const talk: Step[] = Array.from({ length: 6 }, (_, i) => ({
  do: "agent",
  by: i % 2 ? "agt_b" : "agt_a",
  to: [i % 2 ? "agt_a" : "agt_b"],
  repeat: false,
}));
const whole = [
  {
    type: "workspace",
    format: 1,
    workspace_id: "ws_1",
    name: "Acme",
    created_at: "2026-01-01T00:00:00.000Z",
    settings: defaultSettings(),
    head_seq: 9,
    exported_at: "2026-01-01T00:00:00.000Z",
  },
  ...exportOf(talk),
  { type: "end", lines: 12, sha256: "0" },
];
const lines = (of: readonly object[]): string => of.map((line) => `${JSON.stringify(line)}\n`).join("");
const exported = file("monday.ndjson", lines(whole));

async function bullpen(...args: string[]): Promise<string> {
  await buildProgram().parseAsync(args, { from: "user" });
  return printed;
}

async function refusal(...args: string[]): Promise<CliError> {
  const thrown: unknown = await bullpen(...args).catch((error: unknown) => error);
  if (!(thrown instanceof CliError)) throw new Error(`was taken: ${printed}`);
  return thrown;
}

describe("bullpen try", () => {
  it("WHY-2: says what would have been otherwise, in a table and as JSON, without a server", async () => {
    const settings = file("calmer.json", { guard: { hold: 5 } });
    const shown = await bullpen("try", exported, "--settings", settings);
    expect(shown).toMatch(/of them held +0 +2 +differs/);
    expect(shown).toMatch(/held +delivered +held +GUARD-2 +It would have been held: .*number 5/);
    printed = "";
    const { changes, totals } = JSON.parse(await bullpen("try", exported, "--settings", settings, "--json"));
    expect(changes).toHaveLength(2);
    expect(totals.held).toEqual({ was: 0, would: 2 });
  });

  it("WHY-2: with what stood anyway nothing is otherwise", async () => {
    const same = file("same.json", { guard: { hold: 48 } });
    expect(await bullpen("try", exported, "--settings", same)).toContain(
      "Nothing would have been otherwise.",
    );
    printed = "";
    const policy = file("policy.json", [{ id: "all", when: {}, then: "ask" }]);
    expect(await bullpen("try", exported, "--policy", policy)).toContain(
      "Nothing would have been otherwise.",
    );
  });

  it("WHY-2: files that cannot be used are told with what is wrong in them", async () => {
    const settings = file("good.json", { guard: { hold: 5 } });
    const cases: [string[], string][] = [
      [[exported], "nothing to try"],
      [[exported, "--settings", file("bad.json", { guard: { holds: 5 } })], "bad.json cannot be used"],
      [[exported, "--settings", file("text.json", "no")], "is no JSON object"],
      [[exported, "--policy", file("then.json", [{ id: "a", then: "maybe" }])], "then.json cannot be used"],
      [[join(folder, "nowhere.ndjson"), "--settings", settings], "cannot be read"],
      [[file("half.ndjson", lines(whole.slice(0, -1))), "--settings", settings], "cut short"],
      [[file("other.ndjson", lines(whole.slice(1))), "--settings", settings], "is no export"],
      [[file("words.ndjson", "hello\n"), "--settings", settings], "line 1 is no JSON"],
      [
        [file("new.ndjson", lines([{ ...whole[0], format: 2 }])), "--settings", settings],
        "cannot read: line 1",
      ],
    ];
    for (const [args, message] of cases) {
      const error = await refusal("try", ...args);
      expect(error.exitCode).toBe(2);
      expect(error.message).toContain(message);
    }
    expect((await refusal("try", exported, "--policy", join(folder, "then.json"))).hint).toContain(
      "rules.0.then",
    );
  });
});
