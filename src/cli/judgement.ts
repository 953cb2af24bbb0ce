/** What is asked of people, and what was decided, as lines of a terminal. */
import type * as z from "zod";
import type { approvalItem } from "../shared/wire/http.ts";
import type { Fact, ServerFrame, ShownAsk } from "../shared/wire/index.ts";
import type { Directory } from "./render.ts";
import { bold, dim, safeLine, safeText } from "./terminal.ts";
import { clockTime, day, span } from "./times.ts";

/** What a card needs to know of its reader. */
export interface Reader {
  /** Milliseconds since 1970. */
  now: number;
  /** How the reader types a command of ours: what goes before and after it. */
  command: (rest: string) => string;
}

/** A head, and lines that stand under it, each marked so that no text of others passes for a head. */
export interface Card {
  head: string;
  lines: string[];
}

/** So much of an input or a preview is shown; the rest is there with --json. */
const MOST_LINES = 20;
const MOST_CHARACTERS = 2000;

/** An ask in a few words: the question, or the action where none was written. */
export function titleOf(ask: Pick<ShownAsk, "question" | "action">): string {
  return safeLine(ask.question ?? `May I do ${ask.action.kind}?`);
}

/** What an approver has to know, in the order in which they ask it themselves. */
function askLines(ask: ShownAsk): string[] {
  const { action, risk, effect, preview, sources = [] } = ask;
  const { kind, input, money_usd, irreversible } = action;
  const classes = [
    ...risk.map((one) => one.replaceAll("_", " ")),
    ...(money_usd === undefined ? [] : [`costs $${money_usd}`]),
    ...(irreversible ? ["cannot be undone"] : []),
  ];
  const shown = input === undefined ? "" : ` ${cut(safeLine(JSON.stringify(input)))}`;
  return [
    ...(effect === undefined ? [] : [`effect: ${safeLine(effect)}`]),
    `risk: ${classes.length === 0 ? "none that was named" : classes.join(", ")}`,
    `action: ${safeLine(kind)}${shown}`,
    ...(ask.editable ? ["its input may be changed: --input JSON"] : []),
    ...(ask.lasts === "standing" ? ["a yes stands: the same ask again is allowed at once"] : []),
    ...sources.map(({ kind: from, label }) => `rests on: ${safeLine(label)} (${from})`),
    ...(preview ? previewLines(preview) : []),
  ];
}

function previewLines({ title, body }: NonNullable<ShownAsk["preview"]>): string[] {
  const lines = cut(safeText(body)).split("\n");
  const more = lines.length - MOST_LINES;
  return [
    `preview: ${safeLine(title ?? "")}`.trimEnd(),
    ...lines.slice(0, MOST_LINES).map((line) => dim(`  > ${line}`)),
    ...(more > 0 ? [dim(`  … ${more} more lines`)] : []),
  ];
}

function cut(text: string): string {
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text;
}

interface Asked {
  id: string;
  agent: string;
  request: ShownAsk;
  approvers: readonly string[];
  expiresAt: string;
}

/** An ask that waits: the question first, then what it is about, who may answer, how long, and how. */
function askCard(asked: Asked, names: Directory, reader: Reader): Card {
  const { id, request, approvers, expiresAt } = asked;
  const left = Date.parse(expiresAt) - reader.now;
  const otherwise = request.fallback === "allow" ? "allowed" : "denied";
  const until = `until ${day(expiresAt)} ${clockTime(expiresAt)} (${left > 0 ? `${span(left)} left` : "over"})`;
  // Nobody may where the policy or a grant decides at once.
  const who = approvers.map((one) => names.who(one)).join(", ");
  const open = approvers.length > 0;
  return {
    head: `${bold(names.who(asked.agent))} asks: ${bold(titleOf(request))}`,
    lines: [
      ...askLines(request),
      ...(open ? [`who may answer: ${who}; ${until}, then it is ${otherwise}`] : []),
      ...(open && left > 0 ? [reader.command(`approve ${id}`), reader.command(`refuse ${id}`)] : []),
    ],
  };
}

/** An ask as a list shows it. */
export function itemCard(item: z.infer<typeof approvalItem>, names: Directory, reader: Reader): Card {
  const { approval_id: id, agent_id: agent, request, state, decided } = item;
  if (state === "pending")
    return askCard(
      { id, agent, request, approvers: item.approvers, expiresAt: item.expires_at },
      names,
      reader,
    );
  const by = decided?.by === undefined ? (decided?.via ?? "") : names.who(decided.by);
  const when = decided ? ` ${day(decided.at)} ${clockTime(decided.at)}` : "";
  const changed = decided?.edited ? [`with this input: ${cut(safeLine(JSON.stringify(decided.input)))}`] : [];
  return {
    head: `${bold(names.who(agent))} asked: ${bold(titleOf(request))}`,
    lines: [...askLines(request), ...changed, `${state}${by ? ` by ${by}` : ""}${when}  ${dim(id)}`],
  };
}

function questionCard(event: Fact<"question.asked">, names: Directory, reader: Reader): Card {
  const { agent_id, question_id, text, options = [], to = [] } = event;
  const [first = "", ...rest] = safeText(text).split("\n");
  return {
    head: `${bold(names.who(agent_id))} asks: ${bold(first)}`,
    lines: [
      ...rest,
      ...options.map((option) => `- ${safeLine(option)}`),
      ...(to.length > 0 ? [`who may answer: ${to.map((one) => names.who(one)).join(", ")}`] : []),
      reader.command(`answer ${question_id} "…"`),
    ],
  };
}

const DECIDED = { allow: "allowed", deny: "denied" } as const;
const ROOMS_OWN = { policy: "The policy", grant: "A standing yes", expiry: "The clock", person: "Somebody" };

function decidedText(event: Fact<"approval.decided">, names: Directory): string {
  const { via, by, decision, edited } = event;
  const who = by === undefined ? ROOMS_OWN[via] : names.who(by);
  return `${who} ${DECIDED[decision]}${edited ? " with changes" : ""}: ${names.ask(event.approval_id)}`;
}

/** One event of the room's judgement; undefined for any other, and where a notice says it already. */
export function judgementText(
  event: ServerFrame,
  names: Directory,
  reader: Reader,
): Card | string | undefined {
  switch (event.type) {
    case "approval.requested": {
      const { approval_id: id, agent_id: agent, approvers, expires_at: expiresAt } = event;
      return askCard({ id, agent, request: event, approvers, expiresAt }, names, reader);
    }
    case "approval.routed": {
      const from = names.who(event.from);
      const may = event.approvers.map((one) => names.who(one)).join(", ");
      return event.to === undefined
        ? `${from} can answer no more, ${may} may: ${names.ask(event.approval_id)}`
        : `${from} handed this to ${names.who(event.to)}: ${names.ask(event.approval_id)}`;
    }
    case "approval.decided":
      return decidedText(event, names);
    case "approval.expired":
      return `Nobody answered in time, so it is ${DECIDED[event.decision]}: ${names.ask(event.approval_id)}`;
    case "approval.cancelled":
      return `Asked no more: ${names.ask(event.approval_id)}`;
    case "question.asked":
      return questionCard(event, names, reader);
    case "question.answered":
      return `${names.who(event.by)} answered: ${safeLine(event.text)}`;
    case "run.paused":
      return `${names.who(event.actor.id)} paused ${names.who(event.agent_id)}`;
    case "run.resumed":
      return `${names.who(event.actor.id)} let ${names.who(event.agent_id)} go on`;
    case "agents.paused":
      if (event.cause !== "person") return undefined;
      return `${names.who(event.actor.id)} paused the agents${event.lasting ? " until they are resumed" : ""}`;
    case "agents.resumed":
      return "the agents go on";
    case "policy.changed":
      return `${names.who(event.actor.id)} changed the policy: version ${event.version}`;
    case "grant.made":
      return `From now to ${day(event.expires_at)} the same ask by ${names.who(event.agent_id)} is allowed (${reader.command(`revoke-grant ${event.grant_id}`)})`;
    case "grant.revoked":
      return `${names.who(event.actor.id)} took back a standing yes for ${names.who(event.agent_id)}`;
    default:
      return undefined;
  }
}
