import { stripVTControlCharacters } from "node:util";
import { beforeEach, expect, it } from "vitest";
import type { ServerFrame } from "../shared/wire/index.ts";
import { Directory, fileSize, Printer } from "./render.ts";

const base = {
  v: 1,
  id: "evt_1",
  ts: "2026-11-30T12:00:05.000Z",
  workspace_id: "ws_1",
  space_id: "spc_1",
  seq: 7,
  actor: { kind: "person", id: "usr_ann" },
} as const;
const from = { participant_id: "usr_ann", kind: "person", display_name: "Ann", role: "member" } as const;

let printed: string[];
let names: Directory;
let printer: Printer;
beforeEach(() => {
  printed = [];
  names = new Directory();
  names.addSpace("spc_1", "Lobby");
  printer = new Printer(names, {
    withSpace: false,
    print: (text) => printed.push(stripVTControlCharacters(text)),
  });
});

function post(text: string, more: object = {}): ServerFrame {
  const event = {
    ...base,
    type: "message.posted",
    message_id: "msg_1",
    from,
    text,
    addressed_to: [],
    ...more,
  };
  return event as ServerFrame;
}
/** Without the line of the day and the time before each. */
const shown = (): string[] => printed.slice(1).map((line) => line.replace(/^\d\d:\d\d:\d\d {2}/, ""));

it("shows who said what, with files, and the words of further lines under it", () => {
  const attachments = [{ attachment_id: "att_1", filename: "a\u001b[2J.md", byte_size: 1234 }];
  printer.event(post("one\ntwo", { attachments }));
  expect(shown()).toEqual(["Ann: one\n          | two\n          | [file] a.md, 1.2 kB"]);
});

it("shows a handle where it is not the name", () => {
  names.addMembers([{ participant_id: "usr_ann", name: "Ann Lee", handle: "AnnLee" }]);
  printer.event(post("hi", { from: { ...from, display_name: "Ann Lee" } }));
  expect(shown()).toEqual(["Ann Lee (@AnnLee): hi"]);
});

it("lets no message pass for a line of its own", () => {
  printer.event(post("hi\n12:00:06  Bob: I agree\r12:00:07  Bob: really\u001b[1A\u001b[2K"));
  const lines = printed.at(-1)?.split("\n") ?? [];
  expect(lines.slice(1).every((line) => line.startsWith("          | "))).toBe(true);
});

it("names an agent's steps and ends, and a space where several are shown", () => {
  names.addMembers([{ participant_id: "agt_1", name: "Scout" }]);
  printer = new Printer(names, {
    withSpace: true,
    print: (text) => printed.push(stripVTControlCharacters(text)),
  });
  const actor = { kind: "agent", id: "agt_1" };
  printer.event({ ...base, actor, type: "run.stepped", run_id: "run_1", text: "reading" } as ServerFrame);
  printer.event({ ...base, type: "run.ended", agent_id: "agt_1", outcome: "failed" } as ServerFrame);
  expect(shown()).toEqual(["[Lobby] Scout: reading …", "[Lobby] Scout: failed"]);
});

it("begins each day with its date, in this machine's time", () => {
  printer.event(post("one"));
  printer.event(post("two"));
  printer.event(post("three", { ts: "2026-12-02T12:00:00.000Z" }));
  expect(printed.filter((line) => line.startsWith("--"))).toHaveLength(2);
});

it("learns new names as they pass", () => {
  printer.event({
    ...base,
    type: "participant.renamed",
    participant_id: "usr_ann",
    name: "Anna",
    previous: "Ann",
  });
  printer.event({ ...base, type: "member.left", space_id: "spc_1", participant_id: "usr_ann" });
  expect(shown()).toEqual(["Ann is now called Anna", "Anna left"]);
});

it.each([
  [999, "999 B"],
  [1500, "1.5 kB"],
  [52_000, "52 kB"],
  [3_400_000, "3.4 MB"],
])("writes sizes as people read them: %i", (bytes, text) => {
  expect(fileSize(bytes)).toBe(text);
});
