/** Which code takes which verb: a new verb is one file and one row here. */
import type { Verb, VerbType } from "../../../src/shared/wire/index.ts";
import type { Extras, Writer } from "../writer.ts";
import * as agents from "./agents.ts";
import * as approvals from "./approvals.ts";
import * as members from "./members.ts";
import * as messages from "./messages.ts";
import * as participants from "./participants.ts";
import * as policy from "./policy.ts";
import * as questions from "./questions.ts";
import * as runs from "./runs.ts";
import * as spaces from "./spaces.ts";

/**
 * Decides a verb and appends its facts, one of them `main`. What it returns is the receipt of a write that
 * changed nothing, such as a run that was started before.
 */
type Handler<T extends VerbType> = (w: Writer, event: Verb<T>) => Extras | void;

const HANDLERS: { [T in VerbType]: Handler<T> } = {
  "message.post": messages.post,
  "message.edit": messages.edit,
  "message.delete": messages.remove,
  "message.heard": messages.heard,
  "space.create": spaces.create,
  "space.rename": spaces.rename,
  "space.archive": spaces.archive,
  "space.unarchive": spaces.unarchive,
  "space.claim": spaces.claim,
  "space.set": spaces.set,
  "member.add": members.add,
  "member.remove": members.remove,
  "member.role": members.role,
  "participant.rename": participants.rename,
  "participant.remove": participants.remove,
  "participant.role": participants.role,
  "agent.declare": participants.declare,
  "agent.withdraw": participants.withdraw,
  "settings.set": participants.setSettings,
  "approval.request": approvals.request,
  "approval.decide": approvals.decide,
  "approval.route": approvals.route,
  "approval.cancel": approvals.cancel,
  "question.ask": questions.ask,
  "question.answer": questions.answer,
  "policy.set": policy.set,
  "grant.revoke": policy.revokeGrant,
  "run.start": runs.start,
  "run.step": runs.step,
  "run.usage": runs.usage,
  "run.end": runs.end,
  "run.pause": runs.pause,
  "run.resume": runs.resume,
  "run.stop": runs.stop,
  "agents.pause": agents.pause,
  "agents.resume": agents.resume,
};

export function handlerOf<T extends VerbType>(type: T): Handler<T> {
  return HANDLERS[type];
}
