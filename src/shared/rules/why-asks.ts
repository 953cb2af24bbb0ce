import type { Action, ShownAsk } from "../wire/approval.ts";
import { counted, quoted } from "./note-words.ts";
import { classesOf, decidePolicy, matters, type Policy } from "./policy.ts";
import type { WhyDecision, WhyFact } from "./why.ts";
import { type Names, nameIn, namesIn } from "./why-words.ts";

/** An ask, and the policy that it was judged by: in the version that stood then (POL-2). */
export interface AskBehind {
  approval_id: string;
  agent_id: string;
  space_id: string;
  request: ShownAsk;
  rule?: string | undefined;
  policy: Policy;
  expires_at: string;
  via?: "person" | "policy" | "grant" | "expiry" | undefined;
  by?: string | undefined;
  grant_id?: string | undefined;
}

/** What happened to an ask, by which right (APR, POL). */
export function whyAsk(fact: WhyFact, ask: AskBehind | undefined, names: Names): WhyDecision[] {
  const { type, body, actor } = fact;
  const who = nameIn(names, actor.id);
  switch (type) {
    case "approval.requested":
      return ask ? [...judged(ask), ...putTo(ask, names)] : [unknownAsk(body)];
    case "approval.routed": {
      const { from, to, approvers } = body as { from: string; to?: string; approvers: string[] };
      if (to !== undefined)
        return [
          {
            rule: "APR-3",
            says: `${nameIn(names, from)} moved their right to decide to ${nameIn(names, to)}.`,
            facts: { from, to, approvers },
          },
        ];
      return [
        {
          rule: "APR-2",
          says: `${nameIn(names, from)} decides nothing here any more, so ${namesIn(names, approvers)} may.`,
          facts: { from, approvers },
        },
      ];
    }
    case "approval.decided":
      return ask ? decided(fact, ask, names) : [unknownAsk(body)];
    case "approval.expired":
      return [
        {
          rule: "APR-6",
          says: `Nobody decided in time, so it fell to its fallback: ${String(body["decision"])}.`,
          facts: { decision: body["decision"], ...(ask ? { expires_at: ask.expires_at } : {}) },
        },
      ];
    case "approval.cancelled": {
      const reason = String(body["reason"]);
      const rule = { harness: "APR-1", run_stopped: "TURN-4" }[reason] ?? "APR-9";
      const says = { harness: "Its harness took the ask back.", run_stopped: "Its turn was stopped." }[
        reason
      ];
      return [{ rule, says: says ?? "Its turn ended, which cancels its open asks.", facts: { reason } }];
    }
    case "grant.made": {
      const { because: _because, ...facts } = body;
      const says = `${who} allowed an ask for good, so the same ask again is allowed at once.`;
      return [{ rule: "APR-7", says, facts: { by: actor.id, ...facts } }];
    }
    default:
      return [
        {
          rule: "APR-7",
          says: `${who} took the grant back, as who gave it or as an owner or admin.`,
          facts: { by: actor.id, grant_id: body["grant_id"] },
        },
      ];
  }
}

function unknownAsk(body: WhyFact["body"]): WhyDecision {
  return { rule: "APR-1", says: "An agent asked people before it acts.", facts: { ...body } };
}

/** What the policy made of it: the function that judged it, over the version that stood then (POL-1 to POL-4). */
function judged(ask: AskBehind): WhyDecision[] {
  const { request, policy } = ask;
  const { action } = request;
  const judgement = decidePolicy(policy, {
    action,
    risk: request.risk,
    agent_id: ask.agent_id,
    space_id: ask.space_id,
  });
  const { rule, version, classes } = judgement;
  const of = rule === undefined ? undefined : policy.rules.find(({ id }) => id === rule);
  const verb = quoted(action.kind, 200);
  const says =
    rule === undefined
      ? `No rule of version ${version} of the policy matches ${verb}, so a person is asked.`
      : `Rule ${quoted(rule, 80)} of version ${version} of the policy is the first that matches ${verb}: ${of?.then}.`;
  const out: WhyDecision[] = [
    {
      rule: "POL-1",
      says,
      facts: { rule: rule ?? null, version, outcome: judgement.then, action: action.kind },
    },
  ];
  if (of && of.then !== judgement.then)
    out.push({
      rule: "POL-3",
      says: "The rule would allow it, but does not accept every class of risk that the ask has, so a person is asked.",
      facts: { accept_risk: of.accept_risk ?? [], classes },
    });
  const byVerb = classesOf(policy, { action, risk: [] });
  if (byVerb.length > 0)
    out.push({
      rule: "POL-4",
      says: `${verb} is ${byVerb.join(", ")} by the policy's classes.`,
      facts: { classes: byVerb },
    });
  if (matters(classes, action)) out.push(mattersWords(classes, action));
  return out;
}

function mattersWords(classes: readonly string[], action: Action): WhyDecision {
  const { external, irreversible, money_usd } = action;
  return {
    rule: "APR-4",
    says: "The ask matters, so no agent decides it.",
    facts: { classes, external, irreversible, money_usd },
  };
}

/** Who was asked, until when, and what happens if nobody says anything (APR-1, APR-2). */
function putTo(ask: AskBehind, names: Names): WhyDecision[] {
  const { approvers, fallback } = ask.request;
  if (approvers.length === 0) return atOnce(ask);
  return [
    {
      rule: "APR-2",
      says: `It was put to ${namesIn(names, approvers)}: ${counted(approvers.length, "approver")}.`,
      facts: { approvers },
    },
    {
      rule: "APR-1",
      says: `Undecided it falls to ${fallback} when it expires.`,
      facts: { fallback, expires_at: ask.expires_at },
    },
  ];
}

function atOnce({ via, grant_id, rule, policy }: AskBehind): WhyDecision[] {
  if (via === "grant")
    return [
      {
        rule: "APR-7",
        says: "A standing grant for exactly this ask allowed it at once.",
        facts: { grant_id },
      },
    ];
  const facts = { rule: rule ?? null, version: policy.version };
  return [{ rule: "APR-7", says: "The policy decided it, so nobody was asked.", facts }];
}

/** What decided: a person, the policy, or a grant; and what they changed (APR-3, APR-5, APR-7). */
function decided({ body, actor }: WhyFact, ask: AskBehind, names: Names): WhyDecision[] {
  const word = body["decision"] === "allow" ? "allowed" : "denied";
  const facts = { decision: body["decision"], via: body["via"] };
  const out: WhyDecision[] = [];
  const who = nameIn(names, actor.id);
  if (body["via"] === "grant") out.push(...atOnce({ ...ask, via: "grant" }));
  else if (body["by"] === undefined)
    out.push({
      rule: "POL-1",
      says: `The policy ${word} it without asking anybody.`,
      facts: { ...facts, rule: ask.rule ?? null, version: ask.policy.version },
    });
  else
    out.push({
      rule: "APR-3",
      says: `${who} ${word} it, as one of those who may decide, before anybody else did.`,
      facts: { ...facts, by: body["by"] },
    });
  if (actor.kind !== "person" && body["by"] !== undefined)
    out.push({
      rule: "APR-2",
      says: `The policy names the lead as an approver, and the ask is not one that matters.`,
      facts: { rule: ask.rule ?? null, version: ask.policy.version },
    });
  if (body["edited"] === true)
    out.push({
      rule: "APR-5",
      says: `${who} changed its input; the audit has both.`,
      facts: { edited: true },
    });
  if (body["grant_id"] !== undefined && body["via"] === "person")
    out.push({
      rule: "APR-7",
      says: "It was asked for and allowed for good, so it stands as a grant.",
      facts: { grant_id: body["grant_id"] },
    });
  return out;
}
