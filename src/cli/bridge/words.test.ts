import { describe, expect, test } from "vitest";
import { outputOf } from "./output.ts";
import { answerWords, fitted, isText, shortLine } from "./words.ts";

const plain = (chunks: Uint8Array[]) => {
  let tooMuch = 0;
  const output = outputOf("per-turn", { step: () => {}, usage: () => {}, tooMuch: () => tooMuch++ });
  for (const chunk of chunks) output.push(chunk);
  return { ...output.end(), tooMuch };
};
const bytes = (text: string) => new TextEncoder().encode(text);

describe("BRIDGE-1 plain output", () => {
  test("BRIDGE-1 the answer is the output, trimmed, a character cut in two made whole", () => {
    const all = bytes("\n  Zwölf 🌱\r\nLauch \n\n");
    const cut = Array.from(all, (_, i) => all.subarray(i, i + 1));
    expect(plain(cut)).toEqual({ text: "Zwölf 🌱\nLauch", tooMuch: 0 });
    expect(plain([])).toEqual({ text: "", tooMuch: 0 });
  });

  test("BRIDGE-1 output without end is cut off once, and not kept", () => {
    const chunk = new Uint8Array(1 << 20).fill(120);
    const { text, tooMuch } = plain(Array.from({ length: 40 }, () => chunk));
    expect(tooMuch).toBe(1);
    expect(text.length).toBeLessThanOrEqual(8 << 20);
  });

  test("BRIDGE-1 bytes that are no text are no answer", () => {
    expect(plain([Uint8Array.from({ length: 999 }, (_, i) => (i * 37) % 256)]).failure).toBe(
      "what it printed is no text",
    );
    expect(plain([bytes("half a character at the end "), Uint8Array.of(0xc3)]).failure).toBeUndefined();
    expect(isText("a\u0000b")).toBe(false);
  });
});

describe("BRIDGE-1 what the room is shown", () => {
  test("BRIDGE-1 an answer has nothing that a terminal obeys or that is unseen", () => {
    expect(answerWords("\u001B[31mred\u001B[0m \u0007\u{E0041}ok\u202E\n\tcode ")).toBe("red ok\n\tcode");
  });

  test("BRIDGE-1 an answer that is too long goes along as a file", () => {
    expect(fitted("short")).toEqual({ text: "short" });
    const long = "ü".repeat(60_000);
    const { text, whole } = fitted(long);
    expect(whole).toBe(long);
    expect(new TextEncoder().encode(text).byteLength).toBeLessThan(64 * 1024);
    expect(text).not.toContain("\uFFFD");
  });

  test("BRIDGE-1 steps and reasons are one short line", () => {
    const line = shortLine(`a\nb\r\n${"c ".repeat(5000)}`);
    expect(line).toMatch(/^a b c c/);
    expect(line.length).toBeLessThanOrEqual(200);
    expect(shortLine(`${"x".repeat(198)}🌱🌱`).isWellFormed()).toBe(true);
  });

  test.each([
    [
      "curl -H 'Authorization: Bearer abc.def-123456' https://x.example/a",
      "curl -H 'Authorization: …' https://x.example/a",
    ],
    ["login --password hunter2 now", "login --password … now"],
    ["API_KEY=s3cr3t npm test", "API_KEY=… npm test"],
    ["Incorrect API key provided: sk-proj-abcdefgh12345678", "Incorrect API key provided: …"],
    ["push ghp_abcdefghij0123456789 done", "push … done"],
    ["read /home/ann/secret-plans/notes.txt now", "read notes.txt now"],
    ["at /Users/ann/x/y.ts:3", "at y.ts:3"],
    ["it has 4f9d8c7b6a5f4e3d2c1b0a9f8e7d6c5b inside", "it has … inside"],
    ["npm run build && npm test", "npm run build && npm test"],
  ])("BRIDGE-1 no secrets and no places: %s", (text, shown) => {
    expect(shortLine(text)).toBe(shown);
  });
});
