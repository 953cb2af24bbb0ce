import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { outputOf } from "./output.ts";
import { StreamReader } from "./reader.ts";

function recorded(name: string): string {
  return readFileSync(new URL(`../../../test/fixtures/streams/${name}.ndjson`, import.meta.url), "utf8");
}

/** Reads a whole stream, cut into chunks of so many bytes. */
function read(bytes: Uint8Array, size = bytes.byteLength || 1) {
  const steps: [string, string?][] = [];
  const usage: object[] = [];
  const output = outputOf("stream-json", {
    step: (text, id) => steps.push(id === undefined ? [text] : [text, id]),
    usage: (totals) => usage.push(totals),
    tooMuch: () => {},
  });
  for (let from = 0; from < bytes.byteLength; from += size) output.push(bytes.subarray(from, from + size));
  return { ...output.end(), steps, usage };
}
const readText = (text: string, size?: number) => read(new TextEncoder().encode(text), size);
const costing = (cost: number) => JSON.stringify({ type: "result", total_cost_usd: cost, result: "ok" });
const line = (event: object) => `${JSON.stringify(event)}\n`;

describe("BRIDGE-1 Claude Code's stream", () => {
  test("BRIDGE-1 a run with tools: steps, a failed one among them, the last words, cost and tokens", () => {
    expect(readText(recorded("claude-tools"))).toEqual({
      text: "Beans and leeks. The leeks were sown on 3 March.",
      failure: undefined,
      understood: true,
      steps: [
        ["Bash: List the beds", "toolu_example1"],
        ["Read leeks.md", "toolu_example2"],
        ["weather: forecast", "toolu_example3"],
        ["weather: forecast (failed)", "toolu_example3"],
      ],
      usage: [{ cost_usd: 0.0421, input_tokens: 19_812, output_tokens: 240 }],
    });
  });

  test("BRIDGE-1 a result that is an error is one, though its subtype says success", () => {
    const { failure, usage } = readText(recorded("claude-not-signed-in"));
    expect(failure).toBe("Not logged in · Please run /login");
    expect(usage).toEqual([{ cost_usd: 0, input_tokens: 0, output_tokens: 0 }]);
  });

  test("BRIDGE-1 an error without words has its reason, and no path of the machine", () => {
    expect(readText(recorded("claude-error")).failure).toBe("Permission denied: cannot write to notes.txt");
    expect(readText(line({ type: "result", subtype: "error_max_turns", is_error: true })).failure).toBe(
      "it reached its limit of turns",
    );
  });

  test("BRIDGE-1 what a subagent says is not the reply, what it does is a step", () => {
    const content = [
      { type: "text", text: "found it" },
      { type: "tool_use", id: "toolu_a", name: "Grep", input: { pattern: "leeks" } },
    ];
    const own = {
      type: "assistant",
      parent_tool_use_id: null,
      message: { content: [{ type: "text", text: "Mine" }] },
    };
    const { text, steps } = readText(
      line(own) + line({ type: "assistant", parent_tool_use_id: "toolu_t", message: { content } }),
    );
    expect(text).toBe("Mine");
    expect(steps).toEqual([["Grep leeks", "toolu_a"]]);
  });
});

describe("BRIDGE-1 Codex's stream", () => {
  test("BRIDGE-1 a run with commands: one step each, the last words, tokens", () => {
    expect(readText(recorded("codex-command"))).toEqual({
      text: "There are beans and leeks, and no peas.",
      failure: undefined,
      understood: true,
      steps: [
        ["Command: ls beds", "item_1"],
        ["Command: cat beds/peas.md", "item_2"],
        ["Command: cat beds/peas.md (failed)", "item_2"],
      ],
      usage: [{ input_tokens: 6100, output_tokens: 220 }],
    });
  });

  test("BRIDGE-1 a run with a search, an MCP tool and changed files; an item of trouble ends nothing", () => {
    const { text, failure, steps } = readText(recorded("codex-tools"));
    expect(text).toBe("Sow in March, 15 cm apart. The plan is in `plan.md`.");
    expect(failure).toBeUndefined();
    expect(steps.map(([step]) => step)).toEqual([
      "Web search",
      "Web search: when to sow leeks",
      "weather: forecast",
      "Files: add plan.md, update leeks.md",
    ]);
  });

  test("BRIDGE-1 a failed turn says why, in the provider's words", () => {
    expect(readText(recorded("codex-failed")).failure).toBe("The model does not take this setting.");
  });

  test("BRIDGE-1 an error that passes is none", () => {
    const stream =
      line({ type: "error", message: "Reconnecting... 1/5" }) +
      line({ type: "item.completed", item: { id: "i", type: "agent_message", text: "Here." } }) +
      line({ type: "turn.completed", usage: { input_tokens: 1, output_tokens: 1 } });
    expect(readText(stream)).toMatchObject({ text: "Here.", failure: undefined });
  });
});

describe("BRIDGE-1 hostile streams", () => {
  const names = [
    "claude-tools",
    "claude-not-signed-in",
    "claude-error",
    "codex-command",
    "codex-tools",
    "codex-failed",
  ];

  test.each(names)("BRIDGE-1 %s reads the same in chunks of any size, characters cut in two", (name) => {
    const bytes = new TextEncoder().encode(recorded(name));
    const whole = read(bytes);
    for (const size of [1, 2, 3, 7, 64, 1000]) expect(read(bytes, size)).toEqual(whole);
  });

  test("BRIDGE-1 lines that are nothing known are passed over", () => {
    const noise = [
      "",
      "warming up…",
      "{",
      "[1]",
      "null",
      '{"type":7}',
      '{"type":"item.completed"}',
      "{}",
      '"x"',
    ];
    const stream = [...noise, recorded("codex-command").trimEnd(), ...noise].join("\n");
    expect(readText(stream)).toEqual(readText(recorded("codex-command")));
    expect(readText(noise.slice(0, 6).join("\n"))).toMatchObject({ text: "", understood: false });
  });

  test("BRIDGE-1 fields of the wrong kind are as if they were not there", () => {
    const odd = [
      null,
      7,
      [],
      "x",
      { content: 7 },
      { content: [null, 7, { type: "tool_use", name: 7, input: 7 }] },
    ];
    for (const message of odd) expect(() => readText(line({ type: "assistant", message }))).not.toThrow();
    for (const item of [
      null,
      7,
      { type: "file_change", changes: [null, 7] },
      { type: "todo_list", items: [null] },
    ])
      expect(() => readText(line({ type: "item.completed", item }))).not.toThrow();
    const usage = { input_tokens: -1, output_tokens: "9" };
    expect(readText(line({ type: "result", total_cost_usd: 1e9, usage, result: "ok" })).usage).toEqual([]);
    expect(readText('{"type":"result","total_cost_usd":1e999,"result":"ok"}').usage).toEqual([]);
  });

  test("BRIDGE-1 totals never go down, and a lower one is not reported (SPEND-4)", () => {
    const reader = new StreamReader();
    expect(reader.line(costing(2))).toEqual([{ kind: "usage", usage: { cost_usd: 2 } }]);
    expect(reader.line(costing(1))).toEqual([{ kind: "usage", usage: { cost_usd: 2 } }]);
  });

  test("BRIDGE-1 a line without an end does not fill the memory, and the lines after it are read", () => {
    const long = `{"type":"assistant","x":"${"x".repeat(9 * 1024 * 1024)}"}\n`;
    expect(readText(long + recorded("codex-command"), 1 << 20)).toEqual(readText(recorded("codex-command")));
  });

  test("BRIDGE-1 bytes that are no text, and escapes of a terminal, do no harm", () => {
    const bytes = Uint8Array.from({ length: 5000 }, (_, i) => (i * 7) % 256);
    expect(read(bytes, 100)).toMatchObject({ text: "", understood: false });
    const command = "\u001B[2Jls \u202Etxt.\u0007";
    const item = { id: "i", type: "command_execution", command, status: "in_progress" };
    expect(readText(line({ type: "item.started", item })).steps).toEqual([["Command: ls txt.", "i"]]);
    const said = { id: "j", type: "agent_message", text: "\u001B]0;own\u0007\u001B[31mred\u001B[0m" };
    expect(readText(line({ type: "item.completed", item: said })).text).toBe("red");
  });

  test("BRIDGE-1 a flood of steps is held in bounds", () => {
    const reader = new StreamReader();
    for (let i = 0; i < 20_000; i++)
      reader.line(
        JSON.stringify({ type: "item.started", item: { id: `i${i}`, type: "mcp_tool_call", server: "s" } }),
      );
    expect(reader.end.understood).toBe(true);
  });
});
