import { describe, expect, it } from "vitest";
import {
  type OfficeItem,
  officeItem,
  type PersonAnswer,
  personAnswer,
  ticketAnswer,
  traceAnswer,
} from "../shared/wire/office.ts";
import { pickItem } from "./commands/queue.ts";
import { eventsText, itemText, peopleText, queueText, ticketsText, ticketText, traceText } from "./office.ts";

const now = Date.parse("2026-11-30T12:00:00Z");
const at = "2026-11-30T11:59:00.000Z";
const id = (n: number) => `itm_01K4ZQPX00000000000000000${n}`;
/** Moves the cursor, sets the title, starts a line of its own, and turns the text around. */
const HOSTILE = "\u001b]0;pwned\u0007\u001b[2J\r\nfake: line\u202e\u009b1A";
// oxlint-disable-next-line no-control-regex
const STEERING = /[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f-\u009f\u202a-\u202e]|\u001b(?!\[\d+m)/;

const item = (more: Partial<OfficeItem> = {}): OfficeItem =>
  officeItem.parse({
    id: id(1),
    kind: "assigned",
    title: "Paint the door",
    state: "queued",
    priority: 50,
    position: 1,
    offered: false,
    accepted: false,
    round: 0,
    created_at: at,
    history: [{ at, to: "queued", by: "Anna" }],
    ...more,
  });
const scout = (more: Partial<PersonAnswer> = {}): PersonAnswer =>
  personAnswer.parse({
    handle: "scout",
    name: "Scout",
    role: "dev",
    status: "idle",
    queued: 1,
    connected: true,
    notes: [],
    items: [item()],
    ...more,
  });

describe("a queue", () => {
  it("QUEUE-4: shows the items in their order, what each is about, and why it waits", () => {
    const running = item({
      id: id(2),
      title: "Oil the hinges",
      state: "active",
      position: undefined,
      accepted: true,
      ticket: "BP-7",
      progress: "sanding",
      progress_at: at,
    });
    const text = queueText(
      scout({
        status: "working",
        current: "Oil the hinges",
        items: [running, item({ why_waiting: "Scout is on something else." })],
      }),
      now,
    );
    expect(text.split("\n")).toEqual([
      "Scout (scout, dev): working, on Oil the hinges",
      `     active   Oil the hinges (assigned, priority 50, BP-7)  ${id(2)}`,
      "              > sanding (1 minute ago)",
      `  #1 queued   Paint the door (assigned, priority 50)  ${id(1)}`,
      "              Scout is on something else.",
    ]);
  });

  it("QUEUE-4: says who paused it and until when, and hides what has ended", () => {
    const person = scout({
      status: "paused",
      connected: false,
      paused: { by: "Anna", reason: "lunch", at, until: "2026-12-01T09:00:00.000Z" },
      items: [item({ state: "done", position: undefined })],
    });
    expect(queueText(person, now)).toMatch(
      /paused \(agent not connected\)\n {2}paused by Anna until 2026-12-01 \d\d:00:00: lunch\nNothing is in the queue\.\n1 finished lately/,
    );
    expect(queueText(person, now, true)).toContain("done     Paint the door");
  });

  it("ITEM-1: shows how it goes of what runs only, also when all is shown", () => {
    for (const state of ["queued", "waiting", "blocked", "done", "canceled", "active"] as const) {
      const one = item({ state, progress: "sanding", progress_at: at });
      const runs = state === "active";
      expect(queueText(scout({ items: [one] }), now, true).includes("sanding")).toBe(runs);
      expect(itemText(one, now).includes("sanding")).toBe(runs);
    }
  });

  it("ITEM-5: tells what of the agent's surroundings is not as it should be", () => {
    const checks = [
      { name: "Tools", status: "ok" as const, detail: "all there" },
      { name: "Disk", status: "fail" as const, detail: "is full", fix: "make room" },
    ];
    const text = queueText(scout({ doctor: { at, checks } }), now);
    expect(text).toContain("fails: Disk: is full (make room)");
    expect(text).not.toContain("Tools");
  });

  it("picks an item by its number, its id or its title, and names the candidates otherwise", () => {
    const items = [
      item(),
      item({ id: id(2), title: "Twin", position: 2 }),
      item({ id: id(3), title: "Twin" }),
    ];
    expect(pickItem(items, "#2").id).toBe(id(2));
    expect(pickItem(items, id(3)).id).toBe(id(3));
    expect(pickItem(items, "paint the door").id).toBe(id(1));
    expect(() => pickItem(items, "Twin")).toThrow("more than one item");
    expect(() => pickItem(items, "#9")).toThrow("no item");
  });
});

/** Everything that is shown, with these words wherever others' words can stand. */
function shown(words: string): [string, string][] {
  const ticket = ticketAnswer.parse({
    key: words,
    title: words,
    status: "review",
    assignee: words,
    source: "jira",
    created_at: at,
    updated_at: at,
    description: words,
    children: [words],
    prs: [{ ref: words, title: words, state: "open" }],
    docs: [{ id: words, url: words }],
    comments: [{ id: "c", author: words, at, body: words }],
    more_comments: 3,
  });
  const trace = traceAnswer.parse({
    event: {
      event_id: words,
      taken_at: at,
      by: words,
      trusted: false,
      trust: words,
      id: words,
      type: "ticket.commented",
      at,
      actor: { id: words },
      source: words,
      ticket: { key: words },
    },
    decisions: [
      {
        rule: words,
        decision: "act",
        kind: words,
        person: words,
        act: words,
        why: words,
        at,
        result: { ok: false, results: [words], error: words, at },
      },
    ],
  });
  const hostile = item({
    title: words,
    kind: words,
    progress: words,
    why_waiting: words,
    stuck: words,
    ticket: words,
    pr: words,
    summary: words,
    requester: { id: words },
    links: [{ url: words, title: words }],
    history: [{ at, from: "active", to: "blocked", by: words, why: words }],
  });
  const paused = { by: words, reason: words, at };
  const person = scout({
    name: words,
    role: words,
    current: words,
    paused,
    held: { until: at, why: words },
    usage: { window: words, utilization: 0.5 },
    doctor: { at, checks: [{ name: words, status: "warn", detail: words, fix: words }] },
    items: [hostile],
  });
  const event = {
    event_id: words,
    type: "pr.opened",
    source: words,
    at,
    actor: words,
    about: words,
  } as const;

  return [
    ["people", peopleText([person])],
    ["a queue", queueText(person, now)],
    ["an item", itemText(hostile, now)],
    ["tickets", ticketsText([ticket])],
    ["a ticket", ticketText(ticket, now)],
    ["events", eventsText([{ ...event, trusted: true, decided: [words] }], now)],
    ["a trace", traceText(trace, now)],
  ];
}

/** How many lines are ours: what has several of others' stands behind a mark on each of them. */
const ours = (of: string) => of.split("\n").filter((line) => !line.startsWith(">")).length;

describe("other people's words", () => {
  const plain = new Map(shown("plain"));
  it.each(shown(HOSTILE))(
    "PIPE-4: nothing in %s steers the terminal or begins a line of its own",
    (what, text) => {
      expect(text).toContain("fake: line");
      expect(text).not.toMatch(STEERING);
      expect(ours(text)).toBe(ours(plain.get(what) ?? ""));
    },
  );
});
