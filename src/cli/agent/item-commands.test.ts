import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { held, setUp } from "../../../test/sdk/agent-kit.ts";
import type { FakeOffice, Frame } from "../../../test/sdk/fake-office.ts";
import { settle } from "../../../test/sdk/fakes.ts";
import { ANSWERS } from "../../shared/wire/agent/index.ts";
import { buildProgram } from "../program.ts";
import { ItemDesk } from "./desk.ts";
import { OF_ITEM, OF_PERSON } from "./verbs.ts";

const brief = {
  id: "itm_7",
  title: "Fix\u001B[2J it",
  status: "queued",
  kind: "assigned",
  ticketKey: "BP-7",
};
const filed = { item: brief, waiting: true, work: [{ ...brief, id: "itm_8" }] };
const totals = {
  inputTokens: 1,
  outputTokens: 2,
  cacheReadTokens: 0,
  cacheCreationTokens: 0,
  tokens: 3,
  costUsd: 0.5,
  runs: 2,
};
/** What the office answers each request with. */
const ANSWER: Record<string, object> = {
  ask: { id: "q1", to: "milo", status: "answered", answer: "Blue." },
  roster: {
    members: [{ handle: "milo", name: "Milo", role: "dev", status: "idle" }],
    humans: [{ name: "Anna" }],
  },
  work_list: { items: [{ ...brief, current: true }] },
  work_status: { items: [{ workItemId: "itm_7", state: "done" }] },
  work_move: { item: brief },
  work_place: { item: brief },
  work_link: filed,
  work_queue: filed,
  work_attach: { ...filed, waiting: false, attached: {} },
  current_work: { text: "BP-7: Fix it" },
  ticket_prs: {
    ticket: "BP-7",
    status: "active",
    prs: [{ ref: "acme/shop#1", number: 1, title: "T", state: "open", authorKind: "agent" }],
  },
  pr_list: { prs: [], more: 0 },
  ci_log: { repo: "acme/shop", steps: [{ name: "test", lines: ["1 failed"], omitted: 4 }] },
  recall: {
    moments: [{ at: "2026-11-30T10:00:00Z", kind: "journal", who: "ada", excerpt: "the cookie" }],
    more: true,
  },
  ticket_usage: {
    ticket: "BP-7",
    own: totals,
    total: totals,
    subTickets: [],
    byModel: [],
    byKind: [],
    byPerson: [{ key: "ada", totals }],
  },
};

let desk: ItemDesk;
let office: FakeOffice;
let printed: string;

beforeEach(async () => {
  const { items, onItem } = held();
  const set = setUp({ onItem });
  office = set.office;
  const agent = set.connect();
  await agent.ready;
  office.queue("itm_1");
  await settle();
  const [item] = items;
  if (!item) throw new Error("no item was taken");
  office.onFrame = ({ type }) => {
    const payload = ANSWER[type];
    return payload && { type: ANSWERS[type as keyof typeof ANSWERS], payload: payload as never };
  };
  desk = await ItemDesk.open();
  for (const [name, value] of Object.entries(desk.admit({ item, agent, onEnd: () => {} }).env))
    vi.stubEnv(name, value);
  printed = "";
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    printed += String(text);
    return true;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  desk.close();
});

/** Runs `bullpen item …`; answers the frame that the office got. */
async function item(...args: string[]): Promise<Frame | undefined> {
  const before = office.socket.sent.length;
  await buildProgram().parseAsync(["item", ...args], { from: "user" });
  return office.socket.sent[before];
}

type Case = [args: string[], type: string, payload: object, prints: string];
const CASES: Case[] = [
  [["progress", "half", "way"], "progress", { text: "half way" }, "Said."],
  [["journal", "the cookie"], "journal", { text: "the cookie" }, "Said."],
  [["session", "s1", "--model", "m"], "session", { sessionId: "s1", model: "m" }, "Said."],
  [
    ["windows", "five_hour=0.82@2026-12-01T14:00:00Z", "seven_day=1"],
    "usage",
    {
      windows: [
        { name: "five_hour", utilization: 0.82, resetsAt: "2026-12-01T14:00:00.000Z" },
        { name: "seven_day", utilization: 1 },
      ],
    },
    "Said.",
  ],
  [
    [
      "handback",
      "all",
      "done",
      "--link",
      "The fix=https://x.example/1?a=b",
      "--link",
      "https://x.example/2=3",
    ],
    "handback",
    {
      summary: "all done",
      status: "done",
      links: [{ url: "https://x.example/1?a=b", title: "The fix" }, { url: "https://x.example/2=3" }],
    },
    "Handed back.",
  ],
  [
    ["handback", "--status", "blocked", "--review", "acme/shop#1"],
    "handback",
    { summary: "", status: "blocked", toReview: ["acme/shop#1"] },
    "Handed back.",
  ],
  [["fail", "no", "access"], "fail", { reason: "no access" }, "Handed back."],
  [["ask", "milo", "which", "colour?"], "ask", { to: "milo", question: "which colour?" }, "Blue."],
  [["roster"], "roster", {}, "Humans: Anna"],
  [
    ["recall", "login -cookie", "--about", "BP-7", "--limit", "5"],
    "recall",
    { query: "login -cookie", about: "BP-7", limit: 5 },
    "> the cookie",
  ],
  [
    ["made", "--pr", "acme/shop#12", "--ticket", "BP-7", "--page", "https://x.example/12"],
    "work_made",
    {
      ticket: "BP-7",
      pr: { repo: { owner: "acme", name: "shop" }, number: 12, url: "https://x.example/12" },
    },
    "Noted.",
  ],
  [
    ["doc", "doc_1", "The design", "https://x.example/d", "--ticket", "BP-7"],
    "doc_link",
    { doc: { id: "doc_1", title: "The design", url: "https://x.example/d" }, ticket: "BP-7" },
    "Noted.",
  ],
  [
    ["note", "added", "short", "summaries"],
    "notes_changed",
    { change: "added", note: "short summaries" },
    "Noted.",
  ],
  [["move", "itm_7", "canceled"], "work_move", { workItemId: "itm_7", status: "canceled" }, "itm_7"],
  [
    ["place", "itm_7", "after", "itm_8"],
    "work_place",
    { workItemId: "itm_7", position: "after", relativeTo: "itm_8" },
    "itm_7",
  ],
  [["check", "Fix", "it"], "work_check", { request: "Fix it" }, "It may be filed."],
  [["file", "BP-7", "Fix", "it"], "work_link", { ticket: "BP-7", request: "Fix it" }, "It waits at the end"],
  [
    ["file", "BP-7", "Fix it", "--for", "milo"],
    "work_file_for",
    { ticket: "BP-7", request: "Fix it", assignee: "milo" },
    "Noted.",
  ],
  [["queue", "Look", "--body", "Slow."], "work_queue", { title: "Look", body: "Slow." }, "itm_8"],
  [["attach", "#12", "--confirmed"], "work_attach", { target: "#12", confirmed: true }, "itm_7"],
  [["list"], "work_list", { workItemId: "itm_1" }, "*  itm_7"],
  [["status", "itm_7", "itm_8"], "work_status", { workItemIds: ["itm_7", "itm_8"] }, "itm_7  done"],
  [["work"], "current_work", {}, "BP-7: Fix it"],
  [
    ["prs", "--state", "all", "--repo", "acme/shop"],
    "pr_list",
    { state: "all", repo: "acme/shop", limit: 20 },
    "None.",
  ],
  [
    ["ticket-prs", "bp-7-x", "Fix it"],
    "ticket_prs",
    { headRef: "bp-7-x", title: "Fix it", body: "" },
    "BP-7 (active)",
  ],
  [
    ["ci-log", "https://x.example/job/1", "--lines", "7"],
    "ci_log",
    { url: "https://x.example/job/1", lines: 7 },
    "> 1 failed",
  ],
  [["usage", "BP-7"], "ticket_usage", { ticket: "BP-7" }, "$0.50"],
];

describe("AGENT-1: bullpen item", () => {
  it.each(CASES)("%j says %s", async (args, type, payload, prints) => {
    expect(await item(...args)).toMatchObject({ type, payload });
    expect(printed).toContain(prints);
    // What others wrote commands no terminal.
    expect(printed).not.toContain("\u001B");
  });

  it("ITEM-2: answers the question that the item is", async () => {
    expect(await item("answer", "Blue.")).toMatchObject({
      type: "answer",
      payload: { questionId: "itm_1", answer: "Blue." },
    });
  });

  it("tells who asked that it was begun, and shows the item again", async () => {
    expect(await item("report", "I have it.")).toMatchObject({
      type: "chat_report",
      payload: { workItemId: "itm_1", kind: "ack" },
    });
    await item("show");
    expect(printed).toContain('> "Title of itm_1"');
  });

  it("answers with JSON, as the office said it", async () => {
    await item("work", "--json");
    expect(JSON.parse(printed)).toEqual(ANSWER["current_work"]);
  });

  it("has a command for every request that a program may make", () => {
    const said = new Set(CASES.map(([, type]) => type));
    const missing = [...OF_ITEM, ...OF_PERSON].filter((type) => !said.has(type));
    // The first is tried above, the second reads standard input.
    expect(missing).toEqual(["answer", "doctor_report"]);
  });

  it.each([
    [["handback", "--link", "nowhere"], "must be a URL"],
    [["made"], "Say what was made"],
    [["made", "--pr", "12"], "OWNER/REPO#N"],
    [["windows", "lots"], "five_hour=0.82"],
    [["move", "itm_7", "done"], "Allowed choices"],
    [["ci-log", "job 1"], "must be a link"],
  ])("refuses what makes no sense: %j", async (args, words) => {
    const sent = office.socket.sent.length;
    vi.spyOn(process.stderr, "write").mockImplementation(() => true);
    await expect(buildProgram().parseAsync(["item", ...args], { from: "user" })).rejects.toThrow(words);
    expect(office.socket.sent).toHaveLength(sent);
  });
});
