import type { Exported } from "../wire/index.ts";
import { decideAddressees } from "./addressing.ts";
import { afterMessage, afterWork, judge, type Verdict } from "./guard.ts";
import type { Replay } from "./replay.ts";
import { leadIsNew } from "./replay-lead.ts";
import { handed, type Outcome, pauseAgents, personActed } from "./replay-room.ts";
import { leadIn, partiesOf, type ReplayedSpace, spentOut } from "./replay-state.ts";
import { type GuardFacts, heldBy } from "./why-held.ts";
import { type HandedFacts, type PostedFacts, wantedOf } from "./why-messages.ts";

type Fact = Exported<"fact">;
type Posted = PostedFacts & { role: string; workspace_role?: string; reply_to?: string };

/** A message, judged again: whom it would be for, and whether it would be held. */
export function replayPost(replay: Replay, space: ReplayedSpace, fact: Fact): Outcome[] {
  const { state, out } = replay;
  const body = fact.body as unknown as Posted;
  const { message_id } = body;
  state.messages.set(message_id, {
    id: message_id,
    author: fact.actor.id,
    fact: { seq: fact.seq, id: fact.id, at: fact.at, space_id: fact.space_id },
    deleted: false,
    heldWas: new Set(body.held_from),
    heldWould: new Set(),
  });
  space.stillFrom = Math.max(space.stillFrom, Date.parse(fact.at));
  const stopping = fact.run_id !== undefined && state.runs.get(fact.run_id)?.stopping === true;
  const meant = addresseesOf(replay, space, fact, body);
  tellAddressed(replay, fact, body, meant);
  const wanted = stopping ? [] : meant;
  const was = body.after_stop ? [] : wantedOf(body);
  if (was.length > 0) out.totals.messages_for_agents.was += 1;
  if (wanted.length > 0) out.totals.messages_for_agents.would += 1;
  tellStopped(replay, fact, body, wanted, meant);
  return fact.actor.kind === "person"
    ? byPerson(replay, space, fact, body, wanted)
    : byAgent(replay, space, fact, body, wanted);
}

/** Whom the words are for; of deleted ones only what was decided is known. */
function addresseesOf(replay: Replay, space: ReplayedSpace, fact: Fact, body: Posted): readonly string[] {
  const { actor, words } = fact;
  if (!words) return wantedOf(body);
  const answered = body.reply_to === undefined ? undefined : replay.state.messages.get(body.reply_to)?.author;
  const author =
    answered !== undefined && answered === space.harness ? (space.claimedBy ?? answered) : answered;
  return decideAddressees({
    sender: {
      id: actor.id,
      kind: actor.kind === "system" ? "harness" : actor.kind,
      guest: body.role === "guest" || body.workspace_role === "guest",
    },
    members: partiesOf(replay.state, space).map((party) => ({
      ...party,
      addressable: party.addressable && !replay.state.paused.has(party.id),
    })),
    mentions: words.mentions,
    // Where it counts it goes before all else, so the rule that decided says whether it stood there.
    everyone: body.why === "everyone",
    replyToAuthor: author === undefined ? undefined : { id: author },
  }).addressed_to;
}

function tellAddressed(replay: Replay, fact: Fact, body: Posted, meant: readonly string[]): void {
  const was = wantedOf(body);
  if (same(was, meant)) return;
  replay.change(fact, {
    what: "addressed",
    id: body.message_id,
    was: listed(was),
    would: listed(meant),
    rule: fact.actor.kind === "person" ? "ADDR-3" : "ADDR-4",
    says: "It would have been for others.",
  });
}

/** Its run would have been asked to stop, or would not (TURN-4). */
function tellStopped(
  replay: Replay,
  fact: Fact,
  body: Posted,
  wanted: readonly string[],
  meant: readonly string[],
): void {
  const was = body.after_stop !== undefined;
  const would = wanted.length < meant.length;
  if (was === would) return;
  replay.change(fact, {
    what: "addressed",
    id: body.message_id,
    was: was ? "for nobody" : listed(meant),
    would: would ? "for nobody" : listed(meant),
    rule: "TURN-4",
    says: would ? "Its turn would have been stopped." : "Its turn would not have been stopped.",
  });
}

/** A person's words are held only where everything is, and are an act (GUARD-1, GUARD-5, SPEND-5). */
function byPerson(
  replay: Replay,
  space: ReplayedSpace,
  fact: Fact,
  body: Posted,
  wanted: readonly string[],
): Outcome[] {
  const { state } = replay;
  if (space.pause?.cause === "day" && spentOut(state, space, fact.at) !== "day") space.pause = undefined;
  const lasting = space.pause?.lasting === true;
  const held = wanted.length > 0 && (lasting || spentOut(state, space, fact.at) === "day");
  tellHeld(replay, space, fact, body, held ? wanted : [], lasting ? PAUSED : SPENT);
  const act = { seq: fact.seq, at: fact.at, by: fact.actor.id };
  const outcomes = personActed(state, space, act);
  if (held && !space.pause) outcomes.push(...pauseAgents(space, "day", true));
  if (leadIsNew(replay) && body.why === "nobody" && leadIn(state, space) !== undefined)
    space.unclaimed.push(body.message_id);
  return outcomes;
}

const PAUSED = { rule: "GUARD-5", because: "the agents would have been paused until somebody resumes them" };
const SPENT = { rule: "SPEND-5", because: "the workspace would have reached its ceiling for the day" };

/** The guard, with the very counts and repeats that it had (GUARD-1 to GUARD-7). */
function byAgent(
  replay: Replay,
  space: ReplayedSpace,
  fact: Fact,
  body: Posted,
  wanted: readonly string[],
): Outcome[] {
  const { state } = replay;
  const { seq, actor } = fact;
  const at = Date.parse(fact.at);
  const toAgents = wanted.length > 0;
  const before = space.exchange;
  if (body.made) {
    const work = afterWork(before, { seq, at, by: actor.id, made: "file" });
    space.exchange = { ...work, total: before.total + (toAgents ? 1 : 0) };
  } else if (toAgents) {
    const repeat = body.repeat && { kind: body.repeat };
    const message = { message_id: body.message_id, seq, at, by: actor.id };
    space.exchange = afterMessage(before, { ...message, ...(repeat ? { repeat } : {}) });
  }
  if (!toAgents) {
    tellHeld(replay, space, fact, body, [], undefined);
    return [];
  }
  const verdict = judge(space.exchange, state.settings.guard, space.pause !== undefined);
  tellHeld(replay, space, fact, body, verdict.held ? wanted : [], heldBy(guardOf(replay, space, verdict)));
  return verdict.pause && !space.pause ? pauseAgents(space, "guard", false) : [];
}

function guardOf(replay: Replay, space: ReplayedSpace, { circling }: Verdict): GuardFacts {
  const { stop, hold } = replay.state.settings.guard;
  const { count, total, since } = space.exchange;
  return {
    count,
    total,
    stop,
    hold,
    since: since.kind,
    since_seq: since.seq,
    ...(circling ? { circling } : {}),
    ...(space.pause ? { pause: space.pause.cause } : {}),
  };
}

/** Keeps whom a message is held from, and says where that differs. */
function tellHeld(
  replay: Replay,
  space: ReplayedSpace,
  fact: Fact,
  body: Posted,
  from: readonly string[],
  by: { rule: string; because: string } | undefined,
): void {
  const { held } = replay.out.totals;
  const message = replay.state.messages.get(body.message_id);
  for (const id of from) {
    space.held.set(id, body.message_id);
    message?.heldWould.add(id);
  }
  const was = body.held === true;
  const would = from.length > 0;
  if (was) held.was += 1;
  if (would) held.would += 1;
  if (was === would) return;
  replay.change(fact, {
    what: "held",
    id: body.message_id,
    was: was ? "held" : "delivered",
    would: would ? "held" : "delivered",
    rule: would ? (by?.rule ?? "GUARD-4") : "GUARD-4",
    says: would
      ? `It would have been held: ${by?.because ?? "the agents were paused"}.`
      : "It would have gone through.",
  });
}

/** A hand-over of the log: the room would still have made it, or would not. */
export function replayHanded(replay: Replay, space: ReplayedSpace, fact: Fact): Outcome[] {
  const body = fact.body as unknown as HandedFacts;
  const { handed: total } = replay.out.totals;
  const message = replay.state.messages.get(body.message_id);
  total.was += 1;
  for (const id of body.takers) message?.heldWas.delete(id);
  const no = body.why === "held" ? notReleased(replay, body) : notPassedOn(replay, space, fact, body);
  if (no === undefined) {
    total.would += 1;
    return [];
  }
  replay.change(fact, {
    what: "handed",
    id: body.message_id,
    was: `handed to ${listed(body.takers)}`,
    would: "not handed",
    ...no,
  });
  return [];
}

/** Takes a hand-over of a held message off what the room would have done. */
function notReleased(replay: Replay, body: HandedFacts): { rule: string; says: string } | undefined {
  const at = replay.pending.findIndex(
    ({ outcome }) =>
      outcome.kind === "handed" &&
      outcome.messageId === body.message_id &&
      same(outcome.takers, body.takers.toSorted()),
  );
  if (at < 0)
    return { rule: "GUARD-4", says: "It would not have been held, or another one would be handed over." };
  replay.pending.splice(at, 1);
  return undefined;
}

/** Why the lead would not be handed a message that it was (LEAD-2, TURN-7, SPEND-3). */
function notPassedOn(
  replay: Replay,
  space: ReplayedSpace,
  fact: Fact,
  body: HandedFacts,
): { rule: string; says: string } | undefined {
  const { state } = replay;
  const message = state.messages.get(body.message_id);
  if (body.why === "lead" && state.settings.lead.still_s === null)
    return { rule: "LEAD-2", says: "What is nobody's turn would be left to people." };
  if (body.why === "not_picked_up" && message?.heldWould.has(body.because?.waited_for ?? ""))
    return {
      rule: "GUARD-4",
      says: "It would have been held, so nobody would have waited for it to be begun.",
    };
  if (space.pause) return { rule: "GUARD-5", says: "The agents would have been paused." };
  if (body.why === "lead" && spentOut(state, space, fact.at) !== undefined)
    return { rule: "SPEND-3", says: "No turn would have been handed out: a ceiling was reached." };
  handed(state, space, body.message_id, body.takers);
  return undefined;
}

function same(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((id, i) => id === b[i]);
}

function listed(ids: readonly string[]): string {
  return ids.length === 0 ? "nobody" : ids.join(", ");
}
