import { stripVTControlCharacters } from "node:util";
import { beforeEach, describe, expect, it } from "vitest";
import type { ServerFrame } from "../shared/wire/index.ts";
import { type Card, itemCard, judgementText } from "./judgement.ts";
import { cardText, Directory } from "./render.ts";
import { commandLine } from "./session.ts";
import { span } from "./times.ts";

const NOW = Date.parse("2026-11-30T12:00:00.000Z");
const reader = { now: NOW, command: (rest: string) => `npx bullpen ${rest} --profile demo` };
const base = {
  v: 1,
  id: "evt_1",
  ts: "2026-11-30T12:00:00.000Z",
  workspace_id: "ws_1",
  space_id: "spc_1",
  seq: 7,
  actor: { kind: "person", id: "usr_ann" },
};
const request = {
  approval_id: "apr_1",
  action: { kind: "email.send", input: { to: "dana@example.com" }, irreversible: true, money_usd: 2 },
  question: "Send Dana the summary?",
  effect: "An e-mail leaves.",
  risk: ["external_communication"] as const,
  preview: { format: "plain", title: "The mail", body: "Dear Dana,\nrisk: none\u001b[2K" },
  expires_in: 3600,
  fallback: "deny",
  approvers: ["usr_ann"],
  editable: true,
};
const requested = {
  ...base,
  ...request,
  type: "approval.requested",
  agent_id: "agt_1",
  expires_at: "2026-11-30T12:59:30.000Z",
};

let names: Directory;
beforeEach(() => {
  names = new Directory();
  names.addMembers([
    { participant_id: "usr_ann", name: "Ann" },
    { participant_id: "agt_1", name: "Dispatch" },
  ]);
});

/** An event as it is shown, without styles; a card as its lines. */
function shown(event: object): string[] {
  const frame = event as ServerFrame;
  names.learn(frame);
  const text = judgementText(frame, names, reader) ?? "";
  return stripVTControlCharacters(typeof text === "string" ? text : cardText(text, "")).split("\n");
}

describe("APR-1: an ask at a terminal", () => {
  it("APR-1: the question stands first, then what it does, who may answer, how long, and the commands", () => {
    expect(shown(requested)).toEqual([
      "Dispatch asks: Send Dana the summary?",
      "| effect: An e-mail leaves.",
      "| risk: external communication, costs $2, cannot be undone",
      '| action: email.send {"to":"dana@example.com"}',
      "| its input may be changed: --input JSON",
      "| preview: The mail",
      "|   > Dear Dana,",
      "|   > risk: none",
      expect.stringMatching(
        /^\| who may answer: Ann; until 2026-11-30 \S+ \(59 minutes left\), then it is denied$/,
      ),
      "| npx bullpen approve apr_1 --profile demo",
      "| npx bullpen refuse apr_1 --profile demo",
    ]);
  });

  it("APR-6: one that is over says so, and not how to answer it", () => {
    const lines = shown({ ...requested, expires_at: "2026-11-30T11:00:00.000Z", question: undefined });
    expect(lines[0]).toBe("Dispatch asks: May I do email.send?");
    expect(lines.at(-1)).toContain("(over)");
  });

  it("APR-7: one that nobody is asked names nobody", () => {
    expect(shown({ ...requested, approvers: [] }).join("\n")).not.toContain("who may answer");
  });

  it("shows no more of a long preview than a screen", () => {
    const body = Array.from({ length: 50 }, (_, n) => `line ${n}`).join("\n");
    const lines = shown({ ...requested, preview: { format: "plain", body } });
    expect(lines.filter((line) => line.includes("> line"))).toHaveLength(20);
    expect(lines).toContain("|   … 30 more lines");
  });

  it.each([
    [
      { decision: "allow", via: "person", by: "usr_ann", edited: true },
      "Ann allowed with changes: Send Dana the summary?",
    ],
    [{ decision: "deny", via: "policy" }, "The policy denied: Send Dana the summary?"],
    [{ decision: "allow", via: "grant" }, "A standing yes allowed: Send Dana the summary?"],
  ])("APR-6: says how it was decided: %j", (fields, text) => {
    shown(requested);
    expect(shown({ ...base, type: "approval.decided", approval_id: "apr_1", ...fields })).toEqual([text]);
  });

  it("APR-3, APR-6, APR-9: says that it was handed on, expired or cancelled", () => {
    shown(requested);
    const ask = { ...base, approval_id: "apr_1" };
    expect([
      shown({ ...ask, type: "approval.routed", from: "usr_ann", to: "usr_bob", approvers: ["usr_bob"] })[0],
      shown({ ...ask, type: "approval.routed", from: "usr_bob", approvers: ["usr_ann"] })[0],
      shown({ ...ask, type: "approval.expired", decision: "deny" })[0],
      shown({ ...ask, type: "approval.cancelled", reason: "run_ended" })[0],
    ]).toEqual([
      "Ann handed this to usr_bob: Send Dana the summary?",
      "usr_bob can answer no more, Ann may: Send Dana the summary?",
      "Nobody answered in time, so it is denied: Send Dana the summary?",
      "Asked no more: Send Dana the summary?",
    ]);
  });

  it("APR-3: a list shows what became of it", () => {
    const item = {
      approval_id: "apr_1",
      space_id: "spc_1",
      run_id: "run_1",
      agent_id: "agt_1",
      state: "allowed",
      request,
      approvers: ["usr_ann"],
      asked_seq: 7,
      asked_at: base.ts,
      expires_at: requested.expires_at,
      version: 0,
      decided: {
        decision: "allow",
        via: "person",
        by: "usr_ann",
        at: base.ts,
        input: { to: "x" },
        edited: true,
      },
    };
    const { head, lines }: Card = itemCard(item as unknown as Parameters<typeof itemCard>[0], names, reader);
    expect(stripVTControlCharacters(head)).toBe("Dispatch asked: Send Dana the summary?");
    expect(lines).toContain('with this input: {"to":"x"}');
    expect(stripVTControlCharacters(lines.at(-1) ?? "")).toMatch(/^allowed by Ann 2026-11-30 \S+ {2}apr_1$/);
  });
});

describe("ASK-1, TURN-4, GUARD-5: the rest of the room's judgement", () => {
  it("ASK-1: a question with its options and the command that answers it", () => {
    const asked = { ...base, type: "question.asked", agent_id: "agt_1", question_id: "qst_1" };
    expect(shown({ ...asked, text: "Which?\nSay one.", options: ["red", "blue"], to: ["usr_ann"] })).toEqual([
      "Dispatch asks: Which?",
      "| Say one.",
      "| - red",
      "| - blue",
      "| who may answer: Ann",
      '| npx bullpen answer qst_1 "…" --profile demo',
    ]);
    expect(shown({ ...base, type: "question.answered", by: "usr_ann", text: "red" })).toEqual([
      "Ann answered: red",
    ]);
  });

  it.each([
    [{ type: "run.paused", agent_id: "agt_1" }, "Ann paused Dispatch"],
    [{ type: "run.resumed", agent_id: "agt_1" }, "Ann let Dispatch go on"],
    [
      { type: "agents.paused", cause: "person", lasting: true },
      "Ann paused the agents until they are resumed",
    ],
    [{ type: "agents.paused", cause: "spend", lasting: false }, ""],
    [{ type: "agents.resumed" }, "the agents go on"],
    [{ type: "policy.changed", version: 3 }, "Ann changed the policy: version 3"],
    [{ type: "grant.revoked", agent_id: "agt_1" }, "Ann took back a standing yes for Dispatch"],
    [{ type: "message.deleted" }, ""],
  ])("says in a line: %j", (fields, text) => {
    expect(shown({ ...base, ...fields })).toEqual([text]);
  });
});

it("types a command as its reader does, and shows no token", () => {
  const npx = { npm_lifecycle_event: "npx" };
  expect(commandLine({ profile: "demo" }, npx)("approve apr_1")).toBe(
    "npx bullpen approve apr_1 --profile demo",
  );
  expect(commandLine({ url: "http://localhost:1", token: "bp_x" }, {})("grants")).toBe(
    "bullpen grants --url http://localhost:1",
  );
});

it.each([
  [90_000, "1 minute"],
  [7_200_000, "2 hours"],
  [200_000_000, "2 days"],
  [5, "a moment"],
])("says a span as people do: %i", (ms, text) => {
  expect(span(ms)).toBe(text);
});
