/** What the tests of offers ask a Board with: a team, things that happen, and an item that is about to be offered. */
import { expect } from "vitest";
import { AGENT_MESSAGES, type Wake } from "../../src/shared/wire/agent/index.ts";
import type { WorkEvent } from "../../src/shared/wire/work.ts";
import type { OfferAnswer, OfferAsk } from "../office/letters.ts";
import { aBoard, type TestBoard, value } from "./board.ts";

/** Noon of a day to come: a board's clock does not go back behind its making. */
export const NOW = Math.ceil(Date.now() / 86_400_000 + 1) * 86_400_000 + 43_200_000;
export const iso = (s = 0) => new Date(NOW + s * 1000).toISOString();
const TEAM = {
  key: "BP",
  humans: [{ name: "Anna", identities: { github: "anna", jira: "anna" } }],
  people: [
    { handle: "scout", name: "Scout", role: "dev", identities: { github: "scout-bot", jira: "scout" } },
    { handle: "bob", name: "Bob", role: "dev", identities: { github: "bob-bot", jira: "bob" } },
  ],
  repositories: [{ repo: "acme/shop" }],
};

export async function board(more: object = {}): Promise<TestBoard> {
  const made = await aBoard({ ...TEAM, ...more });
  await made.at(NOW);
  return made;
}

let ids = 0;
/** Tells the board of something; the board's id of it. */
export async function tell(
  to: TestBoard,
  type: WorkEvent["type"],
  more: Partial<WorkEvent> = {},
): Promise<string> {
  ids += 1;
  const source = more.source ?? (type.startsWith("ticket") || type.startsWith("doc") ? "jira" : "github");
  const event = { id: `e${ids}`, type, source, at: iso(ids - 3600), actor: { id: "anna" }, ...more };
  await to.letter("room", "event", event);
  const [row] = await to.sql("SELECT id FROM events WHERE source_id = ?", `e${ids}`);
  return row.id;
}

const ask = (more: Partial<OfferAsk> = {}): OfferAsk => ({
  handle: "scout",
  item: "itm_1",
  kind: "assigned",
  trigger: "human",
  events: [],
  refs: [],
  feedback: [],
  ...more,
});
type Stands = Extract<OfferAnswer, { stands: true }>;
export async function offered(of: TestBoard, more: Partial<OfferAsk>): Promise<Stands> {
  const answer = value(await of.calls.offer(ask(more)));
  if (!answer.stands) throw new Error(`it does not stand: ${answer.why}`);
  // What goes out is what the contract says.
  const context = AGENT_MESSAGES.offer.shape.payload.shape.context.safeParse({ ...answer, journal: [] });
  expect(context.error).toBeUndefined();
  return answer;
}
export const whyNot = async (of: TestBoard, more: Partial<OfferAsk>) => {
  const answer = value(await of.calls.offer(ask(more)));
  return answer.stands ? "stands" : answer.why;
};
export const ticket = (key: string) => ({ type: "ticket" as const, ref: key });
export const prRef = (n: number) => ({ type: "pr" as const, ref: `acme/shop#${n}` });
export const pr = (number: number, more: Partial<NonNullable<WorkEvent["pr"]>> = {}) => ({
  repo: "acme/shop",
  number,
  title: `Pull ${number}`,
  author: "scout-bot",
  state: "open" as const,
  draft: false,
  head: `h${number}`,
  head_sha: `sha${number}`,
  base: "main",
  ...more,
});
export const whys = (wake: Wake | undefined) =>
  [
    ...(wake?.tickets ?? []).map((t) => [t.key, t.why] as const),
    ...(wake?.prs ?? []).map((p) => [p.ref, p.why] as const),
    ...(wake?.docs ?? []).map((d) => [d.id, d.why] as const),
    ...(wake?.chats ?? []).map((c) => [`${c.channel}/${c.thread}`, c.why] as const),
  ].map(([ref, why]) => `${ref} ${why.role} ${why.source}`);
