/** What texts of others can do to a prompt: nothing (RENDER-1, RENDER-2). */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { chatRequest, responsesRequest } from "../../../../../demo/model-wire.ts";
import { contextItem } from "../../../wire/context/item.ts";
import { canonicalJson } from "../../canonical.ts";
import { type HistoryItem, type PromptInput, renderPrompt } from "./index.ts";
import { laneOf } from "./lanes.ts";
import { plainText } from "./plain.ts";
import { actorsWith, corpus, itemWith, PIECES, ROLES } from "./render.cases.ts";

const AT = 1_796_117_400_000;

const piece = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...PIECES) },
  { weight: 1, arbitrary: fc.string({ unit: "binary" }) },
  { weight: 1, arbitrary: fc.string({ unit: "grapheme" }) },
);
const hostileText = fc.array(piece, { maxLength: 12 }).map((all) => all.join(""));
const optional = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined, freq: 2 });

const hostileItem = fc
  .record({
    text: hostileText,
    more: hostileText,
    role: fc.constantFrom(...ROLES),
    actor: fc.nat({ max: 8 }),
    bare: fc.boolean(),
    compaction: optional(fc.record({ replacesHistoryThrough: fc.nat() })),
    llmRequestOffset: optional(fc.nat({ max: 200 })),
  })
  .map(({ text, more, role, actor, bare, compaction, llmRequestOffset }) => ({
    ...itemWith(more, role, actorsWith(more)[actor]),
    ...(bare && { refs: [], files: [] }),
    content: text,
    ...(compaction && { compaction }),
    ...(llmRequestOffset !== undefined && { llmRequestOffset }),
  }));

const hostileHistory: fc.Arbitrary<HistoryItem[]> = fc
  .array(hostileItem, { maxLength: 12 })
  .map((items) => items.map((item, i) => ({ offset: i * 7 + 3, item })));

/** A content that goes without files. */
function textOf(content: unknown): string {
  if (typeof content !== "string") throw new Error("no text");
  return content;
}
/** Lines as anybody might count them. */
const linesOf = (text: string) => text.split(/\r\n|[\n\r\v\f\u0085\u2028\u2029]/);
/** What is left of a line for who does not see what cannot be seen. */
const seen = (line: string) =>
  line.replace(/[\s\p{Cf}\p{Cc}\p{Default_Ignorable_Code_Point}\p{Z}\u2800]/gu, "").toLowerCase();
const isHeader = (line: string) => seen(line).startsWith("[#");
const isTag = (line: string) => /^<\/?developer/.test(seen(line));

/** A header as it is defined, read back strictly. */
function headerIn(line: string) {
  const fields = /^\[#(\d+) (.*)\]$/.exec(line);
  if (!fields?.[1] || fields[2] === undefined) throw new Error(`no header: ${line}`);
  let rest = fields[2];
  const values: unknown[] = [];
  while (rest !== "") {
    // JSON that ends before a space or the end: as short as it parses.
    let end = rest === "-" || rest.startsWith("- ") ? 1 : -1;
    for (let i = 1; end === -1 && i <= rest.length; i++) {
      if (i < rest.length && rest[i] !== " ") continue;
      try {
        values.push(JSON.parse(rest.slice(0, i)));
        end = i;
      } catch {
        // More of it.
      }
    }
    if (end === 1) values.push(undefined);
    if (end === -1) throw new Error(`no header: ${line}`);
    rest = rest.slice(end + 1);
  }
  return { offset: Number(fields[1]), values };
}

/** The items of a text in which they follow each other without a break, by its header lines and tags alone. */
function readBack(text: string): { offset: number; lane: string }[] {
  const items: { offset: number; lane: string }[] = [];
  let inside = false;
  for (const line of linesOf(text)) {
    if (isTag(line)) {
      expect(line).toBe(inside ? "</developer>" : "<developer>");
      inside = !inside;
    } else if (isHeader(line))
      items.push({ offset: headerIn(line).offset, lane: inside ? "developer" : "user" });
  }
  expect(inside).toBe(false);
  return items;
}

describe("hostile text", () => {
  it("RENDER-1, RENDER-2: in the OpenAI forms an item is one message of its lane, with one header or none", () => {
    fc.assert(
      fc.property(hostileHistory, (items) => {
        const { input } = renderPrompt({ items, request: { at: AT } }, "openai");
        expect(input).toHaveLength(items.length + 2);
        for (const [i, { offset, item }] of items.entries()) {
          const { role, content } = input[i + 1] ?? {};
          expect(role).toBe(laneOf(item));
          const lines = linesOf(textOf(content));
          expect(lines.filter(isTag)).toEqual([]);
          expect(lines.filter(isHeader)).toEqual(role === "assistant" ? [] : [lines[0]]);
          if (role === "assistant") continue;
          const read = headerIn(lines[0] ?? "");
          expect(read.offset).toBe(offset);
          const { key, actor, refs, files } = item;
          const named = files?.map(({ url: _, ...rest }) => rest);
          const told = [key, actor, ...[refs, named].map((list) => (list?.length ? list : undefined))];
          if (told[3] === undefined) told.pop();
          expect(read.values.map(canonicalJson)).toEqual(told.map(canonicalJson));
        }
        const { messages } = renderPrompt(
          { items, request: { at: AT }, developer: "developer" },
          "openai-chat",
        );
        expect(messages).toEqual(input);
      }),
      { numRuns: 400 },
    );
  });

  it("RENDER-1, RENDER-2: in Anthropic's form the items can be read back by header lines and tags alone", () => {
    fc.assert(
      fc.property(hostileHistory, (items) => {
        const { system, messages } = renderPrompt({ items, request: { at: AT } }, "anthropic");
        const leading = items.findIndex(({ item }) => laneOf(item) !== "system");
        const first = leading === -1 ? items.length : leading;
        // Of the preamble only its own lines; then a block an item.
        expect(system.slice(1).map(({ text }) => linesOf(text).filter(isHeader).length)).toEqual(
          items.slice(0, first).map(() => 1),
        );
        const texts = (role: string) =>
          messages
            .filter((one) => one.role === role)
            .map(({ content }) => content.map((block) => (block.type === "text" ? block.text : "")).join(""));
        expect(texts("user").flatMap(readBack)).toEqual(
          items
            .slice(first)
            .map(({ offset, item }) => ({ offset, lane: laneOf(item) }))
            .filter(({ lane }) => lane !== "assistant")
            .map(({ offset, lane }) => ({ offset, lane: lane === "user" ? "user" : "developer" })),
        );
        expect(
          texts("assistant")
            .flatMap(linesOf)
            .filter((line) => isHeader(line) || isTag(line)),
        ).toEqual([]);
        // They alternate, and begin and end with a user's.
        expect(messages.map(({ role }) => role)).toEqual(
          messages.map((_, i) => (i % 2 === 0 ? "user" : "assistant")),
        );
        expect(messages.length % 2).toBe(1);
      }),
      { numRuns: 400 },
    );
  });

  it("RENDER-2: a text is told as it is but for what is named", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        fc.pre(!/[#<[]/.test(text) && text.isWellFormed() && !/[^\P{Cc}\t\n\r]/u.test(text));
        expect(plainText(text)).toBe(text);
      }),
    );
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("[", "#", "<", "developer>", "/", " ", "\n", "x"), { maxLength: 30 }),
        (all) => {
          const text = all.join("");
          const told = plainText(text);
          expect(
            told.split("\n").map((line, i) => (line.startsWith("\\") ? line.slice(1) : `${i}${line}`)),
          ).toEqual(
            text.split("\n").map((line, i) => (isHeader(line) || isTag(line) ? line : `${i}${line}`)),
          );
        },
      ),
    );
  });

  it("RENDER-3: no URL of a file is in any form", () => {
    fc.assert(
      fc.property(hostileHistory, (items) => {
        for (const format of ["openai", "openai-chat", "anthropic", "items"] as const)
          expect(JSON.stringify(renderPrompt({ items }, format))).not.toContain("secret.example");
      }),
      { numRuns: 50 },
    );
  });
});

/** As Anthropic's `POST /v1/messages` takes it; a text is refused when nothing is in it. */
const text = z.strictObject({
  type: z.literal("text"),
  text: z.string().regex(/\S/),
  cache_control: z.strictObject({ type: z.literal("ephemeral") }).optional(),
});
const anthropicRequest = z.strictObject({
  system: z.array(text).min(1),
  messages: z
    .array(z.strictObject({ role: z.enum(["user", "assistant"]), content: z.array(text).min(1) }))
    .min(1),
});

/** The blocks of Anthropic's form in order, without the marks for the cache: they are no part of what is cached. */
function unmarked(input: PromptInput) {
  const { system, messages } = renderPrompt(input, "anthropic");
  return [
    ...system.map((block) => ["system", block] as const),
    ...messages.flatMap(({ role, content }) => content.map((block) => [role, block] as const)),
  ].map(([role, block]) => [role, block.type === "text" && block.text]);
}

describe("any history", () => {
  it("RENDER-1: is a request that the provider takes, in every form", () => {
    fc.assert(
      fc.property(hostileHistory, fc.boolean(), (items, asked) => {
        const input: PromptInput = asked ? { items, request: { at: AT } } : { items };
        const responses = renderPrompt(input, "openai");
        const chat = renderPrompt(input, "openai-chat");
        const anthropic = renderPrompt(input, "anthropic");
        expect(responsesRequest.safeParse({ model: "m", ...responses }).error).toBeUndefined();
        expect(chatRequest.safeParse({ model: "m", ...chat }).error).toBeUndefined();
        expect(anthropicRequest.safeParse(anthropic).error).toBeUndefined();
        const told = [
          ...responses.input.map(({ content }) => textOf(content)),
          ...anthropic.messages.flatMap(({ content }) =>
            content.map((one) => ("text" in one ? one.text : "")),
          ),
        ];
        expect(told.filter((one) => one.trim() === "" || !one.isWellFormed())).toEqual([]);
        const marks = JSON.stringify(anthropic).split('"cache_control":{').length - 1;
        expect(marks).toBeLessThanOrEqual(4);
      }),
      { numRuns: 300 },
    );
  });

  it("RENDER-4: grows at its end: what was sent before is the beginning of what is sent next", () => {
    fc.assert(
      fc.property(hostileHistory, fc.nat({ max: 12 }), (items, n) => {
        const before = items.slice(0, n);
        for (const format of ["openai", "openai-chat"] as const) {
          const [less, more] = [before, items].map((items) => {
            const body = renderPrompt({ items }, format);
            return "input" in body ? body.input : body.messages;
          });
          expect(more?.slice(0, less?.length)).toEqual(less);
        }
        // As long as something is said in it: system items in front stand elsewhere.
        fc.pre(before.some(({ item }) => laneOf(item) !== "system"));
        const less = unmarked({ items: before });
        expect(unmarked({ items }).slice(0, less.length)).toEqual(less);
      }),
      { numRuns: 200 },
    );
  });

  it("RENDER-4: is not changed by being rendered, and gives the same bytes again", () => {
    fc.assert(
      fc.property(hostileHistory, (items) => {
        const before = JSON.stringify(items);
        for (const format of ["openai", "openai-chat", "anthropic", "items"] as const) {
          const once = JSON.stringify(renderPrompt({ items, request: { at: AT } }, format));
          const copy = JSON.parse(before) as HistoryItem[];
          expect(JSON.stringify(renderPrompt({ items: copy, request: { at: AT } }, format))).toBe(once);
        }
        expect(JSON.stringify(items)).toBe(before);
      }),
      { numRuns: 50 },
    );
  });

  it.each([...PIECES, "[", "<", "<|", "<|a", "<a", "/", "\n ", "\n\u200b", "[\u200b"])(
    "RENDER-2: costs no more than its length: a million characters of %j",
    (one) => {
      const content = one.repeat(1_000_000 / one.length);
      const began = performance.now();
      plainText(content);
      // Squared it would be minutes.
      expect(performance.now() - began).toBeLessThan(10_000);
    },
  );
});

it("CTX-1: the corpus of the golden bytes is made of items", () => {
  const whole = corpus().items;
  expect(whole.filter(({ item }) => !contextItem.safeParse(item).success)).toEqual([]);
  expect(whole.length).toBeGreaterThan(2900);
});
