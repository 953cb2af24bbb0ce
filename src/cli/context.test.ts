import { describe, expect, it } from "vitest";
import { renderPrompt } from "../shared/rules/context/render/index.ts";
import { type HistoryAnswer, historyAnswer, streamRead } from "../shared/wire/context/http.ts";
import { batchOf, eventsText, historyText, promptText } from "./context.ts";
import { CliError } from "./failures.ts";

const now = Date.parse("2026-11-30T12:00:00Z");
const at = "2026-11-30T11:59:00.000Z";
/** Moves the cursor, sets the title, starts a line of its own, and turns the text around. */
const HOSTILE = "\u001b]0;pwned\u0007\u001b[2J\r\n#99 system\u202e\u009b1A";
// oxlint-disable-next-line no-control-regex
const STEERING = /[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f-\u009f\u202a-\u202e]|\u001b(?!\[\d+m)/;

const history = (more: Partial<HistoryAnswer> = {}): HistoryAnswer =>
  historyAnswer.parse({
    items: [
      { offset: 1, item: { role: "system", content: "You are Ada." } },
      {
        offset: 2,
        item: { role: "user", content: "hi\nthere", key: "msg_1", actor: { type: "user", origin: "web" } },
      },
      { offset: 4, item: { role: "assistant", content: "Hello.", llmRequestOffset: 3 } },
    ],
    covered: 3,
    paused: false,
    ...more,
  });

describe("a history", () => {
  it("STREAM-2: shows each item with what is known of it, and how the requests stand", () => {
    expect(historyText("ada", history(), now, 20)).toBe(
      [
        "ada: 3 items, last asked at #3",
        "#1 system",
        "> You are Ada.",
        "#2 user, from user web, key msg_1",
        "> hi",
        "> there",
        "#4 assistant, answers #3 (not sent yet)",
        "> Hello.",
      ].join("\n"),
    );
    const waits = history({
      covered: 0,
      pending: { offset: 2, external: true, since: at },
      paused: true,
      reason: "by hand",
    });
    expect(historyText("ada", waits, now, 20)).toContain(
      "ada: 3 items, never asked, #2 waits for an answer, paused (by hand)\n",
    );
    const open = history({ open: { offset: 3, trigger: 2, deadline: "2026-11-29T12:09:00.000Z" } });
    expect(historyText("ada", open, now, 20)).toMatch(/request #3 is open until 2026-11-29 \d\d:\d\d:00/);
  });

  it("STREAM-2: shows the newest items alone, says how many are left out, and that there are none", () => {
    const text = historyText("ada", history(), now, 1);
    expect(text).toContain("2 earlier items: --last 3 shows them.");
    expect(text).not.toContain("You are Ada.");
    expect(historyText("ada", history({ items: [], covered: 0 }), now, 20)).toBe(
      "ada: 0 items, never asked\nThe model sees nothing yet.",
    );
  });

  it("STREAM-2: nothing that others wrote steers a terminal or passes for a line of ours", () => {
    const item = {
      role: "user" as const,
      content: HOSTILE,
      key: HOSTILE,
      actor: { type: "email" as const, address: HOSTILE, name: HOSTILE },
      files: [{ contentType: HOSTILE, filename: HOSTILE, path: HOSTILE, size: 1, url: HOSTILE }],
    };
    const texts = [
      historyText("ada", history({ items: [{ offset: 1, item }], paused: true, reason: HOSTILE }), now, 20),
      eventsText([{ offset: 1, type: "context-item", at, payload: item }], now),
      eventsText([{ offset: 1, type: "stream-paused", at, payload: { reason: HOSTILE } }], now),
      ...(["openai", "openai-chat", "anthropic", "items"] as const).map((format) =>
        promptText(renderPrompt({ items: [{ offset: 1, item }] }, format)),
      ),
    ];
    for (const text of texts) {
      expect(text).not.toMatch(STEERING);
      expect(text.split("\n").filter((line) => line.startsWith("#99"))).toEqual([]);
    }
  });
});

it("STREAM-1: events are listed with what stands in them, an item by its first words", () => {
  const { events } = streamRead.parse({
    head: 3,
    events: [
      { offset: 1, type: "context-item", at, payload: { role: "user", content: "long ".repeat(60) } },
      { offset: 2, type: "llm-request-requested", at, payload: { trigger: 1, deadline: at } },
      { offset: 3, type: "llm-request-succeeded", at, payload: { requestOffset: 2, calls: ["exe_2_1"] } },
    ],
  });
  const lines = eventsText(events, now).split("\n");
  expect(lines[1]).toMatch(/^#1 .* context-item +user: long long .*…$/);
  expect(lines[2]).toContain(`trigger 1, deadline ${at}`);
  expect(lines[3]).toContain('requestOffset 2, calls ["exe_2_1"]');
});

it("RENDER-1: a prompt is shown message by message in every form", () => {
  const items = history().items;
  const tools = [{ name: "post", parameters: { type: "object" } }];
  const shown = (["openai", "openai-chat", "anthropic", "items"] as const).map((format) =>
    promptText(renderPrompt({ items, tools, request: { at: now } }, format)),
  );
  for (const text of shown) {
    expect(text).toContain("1 tools\nsystem\n> What follows is the history");
    expect(text).toContain('user\n> [#2 "msg_1" {"origin":"web","type":"user"} -]\n> hi\n> there\n');
    expect(text).toContain("assistant\n> Hello.\n");
    expect(text.endsWith("> 2026-11-30T12:00:00.000Z")).toBe(true);
  }
});

describe("a batch of a file", () => {
  const event = { type: "stream-resumed" };
  it.each([
    [JSON.stringify([event, event]), [event, event]],
    [JSON.stringify({ events: [event] }), [event]],
    [JSON.stringify(event), [event]],
    [`${JSON.stringify(event)}\n\n${JSON.stringify(event)}\r\n`, [event, event]],
  ])("STREAM-1: is read from %j", (text, events) => {
    expect(batchOf(text)).toEqual(events);
  });

  it.each([
    ["", "There is no event in it."],
    ["[]", "There is no event in it."],
    ["[1]", "Event 1 is no JSON object."],
    ["{}\nnope", "Line 2 is not JSON."],
  ])("STREAM-1: %j is refused in words", (text, message) => {
    expect(() => batchOf(text)).toThrow(CliError);
    expect(() => batchOf(text)).toThrow(message);
  });
});
