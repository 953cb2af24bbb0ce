/**
 * Ada and Milo: agent teammates of the office that work by a script. They take what a room asks of them and the
 * tickets of the board, ask each other, and hand back; no model is called.
 */
import { setTimeout as pause } from "node:timers/promises";
import { type Agent, connectAgent, type HandBack, type Item } from "../src/agent/index.ts";
import { type BullpenHttp, newId } from "../src/sdk/index.ts";
import { orderIn } from "./dispatch.ts";
import type { DemoOptions } from "./scout.ts";

export const TEAMMATES = [
  { handle: "ada", name: "Ada", role: "maker" },
  { handle: "milo", name: "Milo", role: "maker" },
] as const;
export type Teammate = (typeof TEAMMATES)[number]["handle"];

/** The team of a demo that has none yet; whoever asks in its rooms is trusted to. */
export function demoTeam(spaceId: string, owner: { participant_id: string; name: string }): object {
  return {
    version: 1,
    key: "DEMO",
    notify: spaceId,
    humans: [{ name: owner.name, user: owner.participant_id, lead: true }],
    roles: { maker: { title: "Maker", summary: "Makes things, by a script" } },
    people: TEAMMATES.map((one) => ({ ...one, runtime: "script", model: "none" })),
  };
}

/** What a teammate does with an item, in order. */
export interface Plan {
  steps: string[];
  /** What it hands back, unless it has somebody to ask first. */
  summary: string;
  ask?: { whom: string; what: string };
}

/** The whole of a teammate's mind. */
export function planFor(kind: string, text: string): Plan {
  if (kind === "question")
    return {
      steps: ["thinking it over"],
      summary: /\b(dry|dries|paint)/i.test(text) ? "Four hours, in this weather." : "I would have to guess.",
    };
  if (kind === "chat") {
    const order = orderIn(text);
    if (order) return { steps: ["looking who knows"], summary: "", ask: order };
    return {
      steps: ["reading"],
      summary:
        "I am a demo and work by a script. Give me a ticket, or tell me to ask Milo how long the paint dries.",
    };
  }
  return { steps: ["sanding", "painting", "letting it dry"], summary: "Sanded, painted, and dry." };
}

export interface TeammateOptions extends DemoOptions {
  handle: Teammate;
  stateDir: string;
  /** Where it tells of tickets that are done. */
  spaceId: string;
}

/** Connects a teammate. How long a step takes is only for the eye. */
export function connectTeammate(options: TeammateOptions, stepMs = 400): Agent {
  const { spaceId, ...connection } = options;
  const agent: Agent = connectAgent({
    ...connection,
    agentVersion: "demo",
    onItem: (item) => work(item, { http: agent.http, spaceId, stepMs }),
  });
  return agent;
}

interface Workshop {
  http: BullpenHttp;
  spaceId: string;
  stepMs: number;
}

async function work(item: Item, shop: Workshop): Promise<HandBack> {
  const plan = planFor(item.kind, askedOf(item));
  for (const step of plan.steps) {
    await item.progress(step);
    await pause(shop.stepMs, undefined, { signal: item.signal });
  }
  if (plan.ask) return await askFirst(item, plan.ask);
  const { subject } = item.offer.workItem;
  if (item.kind === "assigned" && subject?.type === "ticket")
    return await finishTicket(item, subject.ref, plan.summary, shop);
  if (item.kind === "assigned") {
    await say(item, `${item.title}: ${plan.summary}`, shop);
    return { summary: plan.summary, toReview: [item.title] };
  }
  return { summary: plan.summary };
}

/** Asks a teammate: the first round waits for the answer, and the same question has it in the next. */
async function askFirst(item: Item, { whom, what }: { whom: string; what: string }): Promise<HandBack> {
  const question = what.replace(/[?.!]*$/u, "?");
  const { status, answer = "", to } = await item.ask(whom, question);
  if (status === "answered") return { summary: `${nameOf(to)} says: ${answer}` };
  await item.journal(`Asked ${to}: ${question}`);
  return { summary: `I have asked ${nameOf(to)}.`, status: "waiting" };
}

/** Says on the ticket and in the room that it is done. Its keys make both once, however often it is done. */
async function finishTicket(item: Item, key: string, summary: string, shop: Workshop): Promise<HandBack> {
  await shop.http.patch(`/v1/tickets/${encodeURIComponent(key)}`, { status: "done" });
  await say(item, `${key} is done. ${summary}`, shop);
  return { summary, toReview: [`${key} is done`] };
}

async function say(item: Item, text: string, { http, spaceId }: Workshop): Promise<void> {
  const event = {
    v: 1,
    type: "message.post",
    id: newId("evt"),
    idempotency_key: `${item.id}/done`,
    space_id: spaceId,
    text,
  };
  await http.post("/v1/events", event);
}

/** What is asked: the newest words of somebody, else the item's title. */
function askedOf({ offer, title }: Item): string {
  return offer.context.feedback?.at(-1)?.body ?? title;
}

function nameOf(handle: string): string {
  return TEAMMATES.find((one) => one.handle === handle)?.name ?? handle;
}
