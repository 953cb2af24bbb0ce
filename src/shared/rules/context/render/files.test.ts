import { expect, it } from "vitest";
import type { ContextItem } from "../../../wire/context/item.ts";
import { type HistoryItem, pathsToSend, renderPrompt } from "./index.ts";

function history(...items: Partial<ContextItem>[]): HistoryItem[] {
  return items.map((item, i) => ({
    offset: (i + 1) * 10,
    item: { role: "user", content: "hello", ...item },
  }));
}

const PNG = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const PDF = [...Buffer.from("%PDF-1.7")];

/** A file of this size that begins so, in base64. */
function bytes(head: number[], size: number): string {
  const all = new Uint8Array(size);
  all.set(head);
  return Buffer.from(all).toString("base64");
}

function file(path: string, size: number, contentType = "image/png", filename = path) {
  return { contentType, filename, path, size, url: "u" };
}

it("RENDER-3: images and PDF documents go with a user's message, by what their bytes are", () => {
  const items = history({
    content: "see",
    // A wrong type of the two is put right.
    files: [file("a", 20, "image/jpeg"), file("b", 30, "application/pdf; x=1", 'pl"an')],
  });
  const files = new Map([
    ["a", bytes(PNG, 20)],
    ["b", bytes(PDF, 30)],
  ]);
  const [png, pdf] = [...files.values()] as [string, string];
  expect(renderPrompt({ items, files }, "openai").input[1]?.content).toMatchObject([
    { type: "input_text" },
    { type: "input_image", detail: "auto", image_url: `data:image/png;base64,${png}` },
    { type: "input_file", filename: "pl_an.pdf", file_data: `data:application/pdf;base64,${pdf}` },
  ]);
  expect(renderPrompt({ items, files }, "openai-chat").messages[1]?.content).toMatchObject([
    { type: "text" },
    { type: "image_url", image_url: { url: `data:image/png;base64,${png}` } },
    { type: "file", file: { filename: "pl_an.pdf", file_data: `data:application/pdf;base64,${pdf}` } },
  ]);
  expect(renderPrompt({ items, files }, "anthropic").messages[0]?.content).toMatchObject([
    { type: "text" },
    { type: "image", source: { type: "base64", media_type: "image/png", data: png } },
    {
      type: "document",
      title: "pl_an.pdf",
      source: { type: "base64", media_type: "application/pdf", data: pdf },
    },
  ]);
  expect(pathsToSend(items)).toEqual(["a", "b"]);
});

it("RENDER-3: a result's files follow it in a user's message where its role carries none", () => {
  const items = history({ role: "developer", content: "{}", key: "exe_1_1", files: [file("a", 8)] });
  const files = new Map([["a", bytes(PNG, 8)]]);
  const header = expect.stringMatching(/^\[#10 "exe_1_1" [^\n]+\]$/);
  expect(renderPrompt({ items, files }, "openai").input.slice(1)).toMatchObject([
    { role: "developer", content: expect.stringMatching(/\n\{\}$/) },
    { role: "user", content: [{ text: header }, { type: "input_image" }] },
  ]);
  expect(renderPrompt({ items, files }, "openai-chat").messages.slice(1)).toMatchObject([
    { role: "system", content: expect.stringMatching(/\n\{\}$/) },
    { role: "user", content: [{ text: header }, { type: "image_url" }] },
  ]);
  expect(renderPrompt({ items, files }, "anthropic").messages).toMatchObject([
    { role: "user", content: [{ type: "text" }, { type: "image" }] },
  ]);
});

it.each([
  ["has another length than was said", file("a", 21), bytes(PNG, 20)],
  ["is no image, whatever it says", file("a", 20), bytes([...Buffer.from("<svg>")], 20)],
  ["is of a type that providers do not take", file("a", 20, "image/svg+xml"), bytes(PNG, 20)],
  ["is empty", file("a", 0), ""],
  ["is too large", file("a", 5 * 1024 * 1024 + 1), bytes(PNG, 5 * 1024 * 1024 + 1)],
  ["is not there", file("b", 20), bytes(PNG, 20)],
])("RENDER-3: a file that %s is only named", (_, one, base64) => {
  const items = history({ files: [one] });
  expect(renderPrompt({ items, files: new Map([["a", base64]]) }, "openai")).toEqual(
    renderPrompt({ items }, "openai"),
  );
});

it("RENDER-3: of more than 20 MiB the newest are sent, and no assistant's or system's", () => {
  const size = 5 * 1024 * 1024;
  const items = history(
    ...["a", "b", "c", "d", "e"].map((path) => ({ files: [file(path, size)] })),
    { role: "assistant", files: [file("f", 8)] },
    { role: "system", files: [file("g", 8)] },
  );
  expect(pathsToSend(items)).toEqual(["e", "d", "c", "b"]);
  const many = Array.from({ length: 60 }, (_, i) => ({ files: [file(`p${i}`, 8)] }));
  expect(pathsToSend(history(...many))).toHaveLength(50);
});
