/**
 * Where a program speaks for its item: a small endpoint on this machine's own address, with a secret that is good
 * for one item alone. It has neither the agent's token nor a connection of its own.
 */
import * as z from "zod";
import type { Agent } from "../../agent/agent.ts";
import { OfficeError } from "../../agent/errors.ts";
import { readPayload } from "../../agent/frames.ts";
import type { HandBack, Item } from "../../agent/item.ts";
import { systemClock, within } from "../../sdk/clock.ts";
import type { AgentPayload } from "../../shared/wire/agent/index.ts";
import { Loopback, type Reply } from "../loopback.ts";
import { type ItemVerb, KEPT, OF_ITEM, OF_PERSON, OWN, type PersonVerb, type Verb } from "./verbs.ts";

/** An item, and the agent that it is of. */
export interface Speaker {
  item: Item;
  agent: Pick<Agent, "request">;
  /** Told once the round was ended from inside. */
  onEnd: (how: string) => void;
}

export interface ItemAdmission {
  /** For the program's environment. */
  env: { BULLPEN_ITEM_URL: string; BULLPEN_ITEM_TOKEN: string; BULLPEN_ITEM_ID: string };
  close(): void;
}

/** A frame's limit (OFF-1). */
const BODY_BYTES = 1024 * 1024;
/** So long is waited for the office's word on what is written down in any case. */
const KEPT_MS = 15_000;

const said = z.strictObject({
  verb: z.enum([...OF_ITEM, ...OF_PERSON, ...OWN]),
  payload: z.record(z.string(), z.unknown()),
});

/** The endpoint of one agent, for all of its items. */
export class ItemDesk {
  readonly #loopback: Loopback<Speaker>;

  private constructor(loopback: Loopback<Speaker>) {
    this.#loopback = loopback;
  }

  static async open(): Promise<ItemDesk> {
    return new ItemDesk(
      await Loopback.open<Speaker>({
        path: "/item",
        bytes: BODY_BYTES,
        stranger: "No item that is worked on has this token.",
        answer,
      }),
    );
  }

  /** Lets one item's program speak for it. */
  admit(speaker: Speaker): ItemAdmission {
    const admitted = this.#loopback.admit(speaker);
    return {
      env: {
        BULLPEN_ITEM_URL: admitted.url,
        BULLPEN_ITEM_TOKEN: admitted.token,
        BULLPEN_ITEM_ID: speaker.item.id,
      },
      close: () => admitted.close(),
    };
  }

  close(): void {
    this.#loopback.close();
  }
}

async function answer(speaker: Speaker, body: unknown, gone: AbortSignal): Promise<Reply> {
  const asked = said.safeParse(body);
  if (!asked.success) return { status: 422, body: { error: z.prettifyError(asked.error) } };
  const { verb, payload } = asked.data;
  try {
    if (verb === "show")
      return { status: 200, body: { offer: speaker.item.offer, prompt: speaker.item.prompt } };
    if (verb === "acknowledge") {
      await speaker.item.acknowledge(z.object({ text: z.string().min(1) }).parse(payload).text);
      return { status: 200, body: {} };
    }
    const full = isOfItem(verb) ? { ...payload, ...named(verb, speaker.item.id) } : payload;
    const read = readPayload(verb, full);
    if (!read.ok) return { status: 422, body: { error: `${verb}: ${read.fault}` } };
    return { status: 200, body: await speak(speaker, verb, read.payload, gone) };
  } catch (error) {
    if (error instanceof z.ZodError) return { status: 422, body: { error: z.prettifyError(error) } };
    if (!(error instanceof OfficeError)) throw error;
    const passing = error.code === "timeout" || error.code === "closed";
    return { status: passing ? 409 : 400, body: { error: `${error.message} (${error.code})` } };
  }
}

function isOfItem(verb: Verb): verb is ItemVerb {
  return (OF_ITEM as readonly string[]).includes(verb);
}

/** The item under the name that the request has for it. */
function named(verb: ItemVerb, id: string): object {
  return verb === "answer" ? { questionId: id } : { workItemId: id };
}

async function speak(
  { item, agent, onEnd }: Speaker,
  verb: ItemVerb | PersonVerb,
  payload: unknown,
  gone: AbortSignal,
): Promise<object> {
  switch (verb) {
    case "handback": {
      const { summary, status, links, toReview, usage } = payload as AgentPayload<"handback">;
      const ending: HandBack = { summary, status, links, toReview, usage };
      return await kept(item.handback(ending).then(() => onEnd(status)));
    }
    case "fail": {
      const { reason, usage } = payload as AgentPayload<"fail">;
      return await kept(item.fail(reason, usage).then(() => onEnd("failed")));
    }
    case "journal":
      return await kept(item.journal((payload as AgentPayload<"journal">).text));
    case "answer":
      return await kept(item.answer((payload as AgentPayload<"answer">).answer));
    case "progress":
      await item.progress((payload as AgentPayload<"progress">).text);
      return {};
    default:
      return await agent.request(verb, payload as AgentPayload<PersonVerb>, { signal: gone });
  }
}

/** What is written down needs no waiting: the office's word is passed on where it comes in time. */
async function kept(done: Promise<unknown>): Promise<object> {
  // A refusal after that shows in the agent's own output.
  done.catch(() => {});
  if (!(await within(systemClock, KEPT_MS, done))) return KEPT;
  await done;
  return {};
}
