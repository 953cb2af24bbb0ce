import { counted, handleWords, lasting, localTime, quoted } from "./note-words.ts";
import { byteLength } from "./text.ts";

/** A member of the room as a note speaks of it; `harness` is a harness's name, `reachable` whether it can answer. */
export interface NoteMember {
  participant_id: string;
  kind: "person" | "agent" | "harness";
  name: string;
  handle?: string | undefined;
  harness?: string | undefined;
  lead?: boolean | undefined;
  guest?: boolean | undefined;
  time_zone?: string | undefined;
  reachable: boolean;
}

/** Who takes the turn that a note is for. */
export interface NoteTaker {
  id: string;
  name: string;
  handle?: string | undefined;
  lead?: boolean | undefined;
}

/** What a note is made of; handles come without their `@`, minutes are whole. */
export interface NoteInput {
  taker: NoteTaker;
  members: readonly NoteMember[];
  working: readonly { participant_id: string; minutes: number; step?: string | undefined }[];
  idle: readonly { participant_id: string; minutes: number }[];
  truncated: boolean;
  handedAsLead: boolean;
  spend?: { spent_usd: number; ceiling_usd: number; uncounted_runs: number } | undefined;
  now: Date;
}

const MOST_NAMED = 40;
const MOST_BYTES_A_GROUP = 6 * 1024;
const MOST_IN_NAME = 80;
const MOST_IN_STEP = 100;

/**
 * The note at the top of a taker's turn (NOTE-2), in plain words: that it was handed this as the lead, if so; who
 * it is; the people and the other agents, each on a line with handle, time, work and whether they can answer;
 * whether older lines were left out; what the job has spent; and `roomRules` at its end. It names 40 members at
 * most, the taker included (WIN-8), and 6 KiB of people and of agents each, so that fifty takers' notes fit one
 * frame; agents have half the places if they need them, working ones and the lead first. Nothing that people or
 * agents wrote can begin a line of it.
 */
export function roomNote(input: NoteInput): string {
  const { taker } = input;
  const others = orderMembers(input.members.filter((member) => member.participant_id !== taker.id));
  const people = others.filter(isPerson);
  const agents = others.filter((member) => !isPerson(member));
  const places = MOST_NAMED - 1;
  const agentPlaces = Math.min(agents.length, Math.max(Math.floor(places / 2), places - people.length));
  const urgent = (member: NoteMember) =>
    Boolean(member.lead) || input.working.some((turn) => turn.participant_id === member.participant_id);
  const lines: string[] = [];
  if (input.handedAsLead) {
    lines.push(
      "This message was nobody's turn and the room went still, so it is handed to you as the room's lead.",
    );
  }
  const who = `You are ${quoted(taker.name, MOST_IN_NAME)} ${handleWords(taker.handle)}`;
  lines.push(taker.lead ? `${who}, the lead of this room: you hand out its work.` : `${who}.`);
  if (others.length === 0) lines.push("Nobody else is in this room.");
  lines.push(
    ...group("People in this room:", firstOf(people, places - agentPlaces, urgent), people, input),
    ...group("Other agents in this room:", firstOf(agents, agentPlaces, urgent), agents, input),
  );
  if (input.truncated) lines.push("Older lines of the room were left out of what you are shown.");
  if (input.spend) lines.push(spendWords(input.spend));
  lines.push(roomRules(input));
  return lines.join("\n");
}

/**
 * The words that a note ends with (NOTE-2). They depend only on whether the taker has other agents beside it, so
 * they stay the same while the space's agents do, and hold nothing that somebody wrote.
 */
export function roomRules(input: Pick<NoteInput, "taker" | "members">): string {
  const rules =
    "Everyone in this room reads what you write. Only those you @-mention by their handle act on it: " +
    "a name without its @ calls nobody.";
  const besideAgents = input.members.some(
    (member) => !isPerson(member) && member.participant_id !== input.taker.id,
  );
  return besideAgents
    ? `${rules} If you have nothing to add, answer with NO_REPLY alone, and nothing is posted.`
    : rules;
}

const collator = new Intl.Collator("und");

/** Members as lists show them (NOTE-1, WIN-8): people first, then agents, each by name, ties by id. */
export function orderMembers<M extends Pick<NoteMember, "kind" | "name" | "participant_id">>(
  members: readonly M[],
): M[] {
  return members.toSorted(
    (a, b) =>
      Number(isPerson(b)) - Number(isPerson(a)) ||
      collator.compare(a.name, b.name) ||
      (a.participant_id < b.participant_id ? -1 : Number(a.participant_id > b.participant_id)),
  );
}

function isPerson(member: Pick<NoteMember, "kind">): boolean {
  return member.kind === "person";
}

/** The members to name when there are too many: the urgent before the others, in the order they came in. */
function firstOf(
  members: readonly NoteMember[],
  count: number,
  urgent: (member: NoteMember) => boolean,
): NoteMember[] {
  if (members.length <= count) return [...members];
  const chosen = new Set([...new Set([...members.filter(urgent), ...members])].slice(0, count));
  return members.filter((member) => chosen.has(member));
}

function group(
  title: string,
  named: readonly NoteMember[],
  all: readonly NoteMember[],
  input: NoteInput,
): string[] {
  if (all.length === 0) return [];
  const lines: string[] = [];
  let bytes = 0;
  for (const member of named) {
    const line = `- ${memberWords(member, input)}`;
    bytes += byteLength(line) + 1;
    if (bytes > MOST_BYTES_A_GROUP) break;
    lines.push(line);
  }
  const more = all.length - lines.length;
  if (more > 0) lines.push(`- and ${more} more`);
  return [title, ...lines];
}

function memberWords(member: NoteMember, input: NoteInput): string {
  const facts = [`${quoted(member.name, MOST_IN_NAME)} ${handleWords(member.handle)}`];
  if (member.guest) facts.push("a guest");
  if (member.harness !== undefined) facts.push(`on ${quoted(member.harness, MOST_IN_NAME)}`);
  if (member.lead) facts.push("the lead");
  if (isPerson(member) && member.time_zone !== undefined) {
    const time = localTime(input.now, member.time_zone);
    if (time !== undefined) facts.push(`local time ${time} (${member.time_zone})`);
  }
  const turn = input.working.find(({ participant_id }) => participant_id === member.participant_id);
  const rest = input.idle.find(({ participant_id }) => participant_id === member.participant_id);
  if (turn) {
    const step = quoted(turn.step ?? "", MOST_IN_STEP);
    facts.push(`working for ${lasting(turn.minutes)}${step === '""' ? "" : ` on ${step}`}`);
  } else if (rest) facts.push(`idle for ${lasting(rest.minutes)}`);
  if (!member.reachable) facts.push("cannot answer now");
  return facts.join(", ");
}

function spendWords(spend: NonNullable<NoteInput["spend"]>): string {
  const uncounted =
    spend.uncounted_runs > 0 ? `, not counting ${counted(spend.uncounted_runs, "turn")} without a cost` : "";
  return `This job has spent $${spend.spent_usd.toFixed(2)} of the $${spend.ceiling_usd.toFixed(2)} it may${uncounted}.`;
}
