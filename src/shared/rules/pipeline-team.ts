/** The team's own rules: whether one is about an event, and what it decides (PIPE-1, TEAM-4). */
import { OPS, type OpType } from "../wire/agent/ops.ts";
import type { Team, TeamRule } from "../wire/team.ts";
import type { WorkEvent } from "../wire/work.ts";
import { matchesGlob } from "./globs.ts";
import type { Decision, Facts, OpDraft } from "./pipeline-types.ts";
import { ruleWake } from "./pipeline-wakes.ts";
import { repoOf } from "./repo-of.ts";

const list = (value: string | string[] | undefined): string[] =>
  value === undefined ? [] : Array.isArray(value) ? value : [value];

/** Whose ticket, pull request or document an event is about, or whom it names. */
export function personOfEvent({ named, pr, ticket, doc }: Facts): string | undefined {
  return named ?? pr?.owner ?? ticket?.owner ?? doc?.owner;
}

/** What the team may call who did it. A name that a source merely shows is not among them (PIPE-5). */
function actorNames(event: WorkEvent, { who }: Facts): string[] {
  const known = who.kind === "human" || who.kind === "person" ? [who.name] : [];
  return [event.actor.id, ...(who.handle ? [who.handle] : []), ...(who.user ? [who.user] : []), ...known];
}

const folded = (text: string): string => text.normalize("NFKC").toLowerCase();

/** Whether a value is what a pattern means: case aside, `*` stands for any characters. */
function fits(pattern: string, value: string): boolean {
  const [first = "", ...rest] = folded(pattern).split("*");
  const text = folded(value);
  const last = rest.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first) || !text.endsWith(last)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at <= text.length - last.length;
}

/** Whether a rule is about an event. One that does not say so is about trusted events alone. */
export function ruleMatches(rule: TeamRule, event: WorkEvent, facts: Facts): boolean {
  const { actor, repo, ticket, person, trusted, text } = rule.when;
  if (!list(rule.on).some((type) => type === "*" || matchesGlob(type, event.type))) return false;
  if (facts.who.trusted !== (trusted ?? true)) return false;
  const any = (wanted: string | string[] | undefined, have: (string | undefined)[]): boolean =>
    wanted === undefined ||
    list(wanted).some((pattern) => have.some((v) => v !== undefined && fits(pattern, v)));
  if (!any(actor, actorNames(event, facts))) return false;
  if (!any(repo, [facts.pr?.repo ?? repoOf(event)])) return false;
  if (!any(ticket, [facts.ticket?.key, facts.pr?.ticket?.key])) return false;
  if (!any(person, [personOfEvent(facts)])) return false;
  return text === undefined || folded(textOf(event)).includes(folded(text));
}

/** Every word that an event has. */
function textOf(event: WorkEvent): string {
  const { ticket, pr, doc, comment, review, chat, question, check } = event;
  return [
    ticket?.title,
    ticket?.description,
    pr?.title,
    pr?.body,
    doc?.title,
    comment?.body,
    review?.body,
    chat?.text,
    question?.text,
    check?.name,
    check?.summary,
  ]
    .filter((part) => part !== undefined)
    .join("\n");
}

/** An op of a rule with what the event gives put in, or what is wrong with it. */
function fill(
  raw: Record<string, unknown>,
  event: WorkEvent,
  facts: Facts,
): { op: OpDraft } | { fault: string } {
  const { pr, doc } = facts;
  const ticket = facts.ticket ?? pr?.ticket;
  const words: Record<string, string | undefined> = {
    ticket: ticket?.key,
    pr: pr?.ref,
    repo: pr?.repo,
    number: pr && String(pr.number),
    doc: doc?.id,
    actor: facts.who.name,
    person: personOfEvent(facts),
    title: pr?.title ?? ticket?.title ?? doc?.title,
    url: pr?.url ?? ticket?.url ?? doc?.url,
    type: event.type,
  };
  // One pass: what the event says is never read for words to put in.
  const put = (text: string): string => text.replace(/\{(\w+)\}/g, (as, name: string) => words[name] ?? as);
  const given = Object.fromEntries(
    Object.entries(raw).map(([name, v]) => [name, typeof v === "string" ? put(v) : v]),
  );
  const type = String(given["op"]) as OpType;
  const onDoc = type === "comment" && doc !== undefined && ticket === undefined;
  const filled: Record<string, unknown> = {
    ...(onDoc && given["ticket"] === undefined ? { doc: doc.id } : {}),
    ...(onDoc || (given["doc"] !== undefined && type === "comment") ? {} : { ticket: ticket?.key }),
    ...(type === "link_pr" ? { pr: pr?.ref, url: pr?.url ?? "", title: pr?.title ?? pr?.ref } : {}),
    ...(type === "link_doc" && doc
      ? { doc: { id: doc.id, title: doc.title ?? doc.id, url: doc.url ?? "" } }
      : {}),
    ...given,
  };
  const parsed = OPS[type]?.safeParse({ ...filled, key: "-" });
  if (parsed?.success) {
    const { key: _, ...op } = parsed.data;
    return { op };
  }
  const first = parsed?.error.issues[0];
  return {
    fault: `${type} of the rule lacks what this event does not give: ${first?.path.join(".") ?? "op"}`,
  };
}

/** What a matching rule decides. */
export function ruleDecides(rule: TeamRule, event: WorkEvent, facts: Facts, team: Team): Decision[] {
  const why = "a rule of the team's";
  const by = { rule: rule.id, why };
  if (rule.then === "ignore") return [{ ...by, decision: "ignore", ...(rule.to ? { person: rule.to } : {}) }];
  const person = rule.to ?? personOfEvent(facts);
  if (rule.then === "wake") {
    if (!person || !team.people.some((p) => p.handle === person))
      return [
        { rule: rule.id, decision: "ignore", why: "the rule names nobody, and it is nobody's of the team" },
      ];
    const kind = rule.kind ?? "review_feedback";
    const key = `rule:${rule.id}:${facts.eventId}:${person}`;
    return [{ ...by, decision: "wake", person, key, wake: ruleWake(kind, event, facts) }];
  }
  const filled = (rule.ops ?? []).map((op) => fill(op, event, facts));
  const faults = filled.flatMap((f): Decision[] =>
    "fault" in f ? [{ rule: rule.id, decision: "ignore", why: f.fault }] : [],
  );
  const ops = filled.flatMap((f) => ("op" in f ? [f.op] : []));
  if (ops.length === 0) return faults;
  const key = `rule:${rule.id}:${facts.eventId}`;
  return [...faults, { ...by, decision: "act", key, ops, ...(person ? { person } : {}) }];
}
