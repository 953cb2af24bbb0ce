/**
 * Every message of the rooms' wire, by type: the only definition of each. Types are inferred from here,
 * JSON Schemas and OpenAPI generated (HTTP-4).
 */
import type * as z from "zod";
import * as approval from "./approval.ts";
import * as connection from "./connection.ts";
import { errorFrame } from "./errors.ts";
import * as message from "./message.ts";
import * as participant from "./participant.ts";
import * as policy from "./policy.ts";
import * as question from "./question.ts";
import * as run from "./run.ts";
import * as space from "./space.ts";

/** What a client sends and the log keeps (LOG-2). */
export const VERBS = {
  "message.post": message.messagePost,
  "message.edit": message.messageEdit,
  "message.delete": message.messageDelete,
  "message.heard": message.messageHeard,
  "space.create": space.spaceCreate,
  "space.rename": space.spaceRename,
  "space.archive": space.spaceArchive,
  "space.unarchive": space.spaceUnarchive,
  "space.claim": space.spaceClaim,
  "space.set": space.spaceSet,
  "member.add": space.memberAdd,
  "member.remove": space.memberRemove,
  "member.role": space.memberRole,
  "participant.rename": participant.participantRename,
  "participant.remove": participant.participantRemove,
  "participant.role": participant.participantRole,
  "agent.declare": participant.agentDeclare,
  "agent.withdraw": participant.agentWithdraw,
  "settings.set": participant.settingsSet,
  "approval.request": approval.approvalAsk,
  "approval.decide": approval.approvalDecide,
  "approval.route": approval.approvalRoute,
  "approval.cancel": approval.approvalCancel,
  "question.ask": question.questionAsk,
  "question.answer": question.questionAnswer,
  "policy.set": policy.policySet,
  "grant.revoke": approval.grantRevoke,
  "run.start": run.runStart,
  "run.step": run.runStep,
  "run.usage": run.runUsage,
  "run.end": run.runEnd,
  "run.pause": run.runPause,
  "run.resume": run.runResume,
  "run.stop": run.runStop,
  "agents.pause": run.agentsPause,
  "agents.resume": run.agentsResume,
} as const;
export type VerbType = keyof typeof VERBS;
/** A verb of one type, parsed and stamped. */
export type Verb<T extends VerbType = VerbType> = z.infer<(typeof VERBS)[T]>;
/** A verb as a client may write it: what the server stamps or fills in left out (LOG-7). */
export type VerbInput<T extends VerbType = VerbType> = T extends VerbType
  ? Omit<z.input<(typeof VERBS)[T]>, "v" | "ts" | "workspace_id" | "seq" | "actor" | "id" | "idempotency_key">
  : never;

/** What a client sends and nothing keeps. */
export const SIGNALS = {
  ack: connection.ack,
  read: connection.read,
  typing: connection.typing,
  synced: connection.synced,
  watch: connection.watch,
} as const;
export type SignalType = keyof typeof SIGNALS;
export type Signal = z.infer<(typeof SIGNALS)[SignalType]>;

/** What the log keeps, in the past tense (LOG-1), as people are sent it. */
export const FACTS = {
  "message.posted": message.messagePosted,
  "message.edited": message.messageEdited,
  "message.deleted": message.messageDeleted,
  "message.heard": message.messageHeardFact,
  "message.handed": message.messageHanded,
  "space.created": space.spaceCreated,
  "space.renamed": space.spaceRenamed,
  "space.archived": space.spaceArchived,
  "space.unarchived": space.spaceUnarchived,
  "space.claimed": space.spaceClaimed,
  "space.set": space.spaceSetFact,
  "member.joined": space.memberJoined,
  "member.left": space.memberLeft,
  "member.role_changed": space.memberRoleChanged,
  "participant.renamed": participant.participantRenamed,
  "participant.removed": participant.participantRemoved,
  "participant.role_changed": participant.participantRoleChanged,
  "agent.declared": participant.agentDeclared,
  "agent.withdrawn": participant.agentWithdrawn,
  "agent.paused": participant.agentPaused,
  "agent.resumed": participant.agentResumed,
  "settings.changed": participant.settingsChanged,
  "approval.requested": approval.approvalRequested,
  "approval.routed": approval.approvalRouted,
  "approval.decided": approval.approvalDecided,
  "approval.expired": approval.approvalExpired,
  "approval.cancelled": approval.approvalCancelled,
  "question.asked": question.questionAsked,
  "question.answered": question.questionAnswered,
  "policy.changed": policy.policyChanged,
  "grant.made": approval.grantMade,
  "grant.revoked": approval.grantRevoked,
  "run.started": run.runStarted,
  "run.stepped": run.runStepped,
  "run.used": run.runUsed,
  "run.ended": run.runEnded,
  "run.paused": run.runPaused,
  "run.resumed": run.runResumed,
  "run.stopped": run.runStopped,
  "agents.paused": run.agentsPaused,
  "agents.resumed": run.agentsResumed,
  "notice.posted": run.noticePosted,
  "file.transcribed": message.fileTranscribed,
} as const;
export type FactType = keyof typeof FACTS;
export type Fact<T extends FactType = FactType> = z.infer<(typeof FACTS)[T]>;

/** What only the server makes and only a harness is sent, worked out from the log (NEW-1). */
export const DELIVERIES = {
  "message.new": message.messageNew,
  "message.overheard": message.messageOverheard,
} as const;
/** What a harness is sent of a fact about its own run (TURN-4); named as the person's verb. */
export const WISHES = {
  "run.pause": run.runPauseSent,
  "run.resume": run.runResumeSent,
  "run.stop": run.runStopSent,
} as const;
export type Wish = z.infer<(typeof WISHES)[keyof typeof WISHES]>;
export type DeliveryType = keyof typeof DELIVERIES;

/** Frames of the connection itself, from the server. */
export const SERVER_FRAMES = {
  welcome: connection.welcome,
  caught_up: connection.caughtUp,
  sync: connection.sync,
  receipt: connection.receipt,
  error: errorFrame,
  typing: connection.typingNow,
  presence: connection.presence,
  read: connection.readMark,
  "office.changed": connection.officeChanged,
} as const;

export type ServerEvent = Fact | Wish | message.MessageNew | message.MessageOverheard;
/** Anything that a server may send on a room's socket. */
export type ServerFrame = ServerEvent | z.infer<(typeof SERVER_FRAMES)[keyof typeof SERVER_FRAMES]>;

/** A schema of `schemas/room/`, and which end of the wire sends what it describes. */
export interface Published {
  schema: z.ZodType;
  sentBy: "server" | "client" | "either";
}

/**
 * The published schemas of `schemas/room/`, by file name (HTTP-4). Where a name is both a client's and a
 * server's frame, the client's stands under `<type>.client`.
 */
export function publishedSchemas(): Record<string, Published> {
  const out: Record<string, Published> = {};
  const server = {
    ...FACTS,
    ...DELIVERIES,
    ...WISHES,
    ...SERVER_FRAMES,
    "approval.request": approval.approvalRequest,
  };
  for (const [type, schema] of Object.entries(server)) out[type] = { schema, sentBy: "server" };
  const take = (type: string, schema: z.ZodType) => {
    out[type in server ? `${type}.client` : type] = { schema, sentBy: "client" };
  };
  for (const [type, schema] of Object.entries({ hello: connection.hello, ...SIGNALS }))
    take(type, asTaken(schema, ["v"]));
  for (const [type, schema] of Object.entries(VERBS)) take(type, asTaken(schema, STAMPED));
  return out;
}

/** What the server fills in or replaces on the way in (ENV-2). */
const STAMPED = ["v", "ts", "workspace_id", "actor", "seq"];

/** A client's frame as it is taken: what the server fills in may be left out. */
function asTaken(schema: z.ZodObject, stamped: readonly string[]): z.ZodObject {
  const mask: Record<string, true> = {};
  for (const field of stamped) mask[field] = true;
  return schema.partial(mask).meta(schema.meta() ?? {});
}

export * from "./approval.ts";
export * from "./connection.ts";
export * from "./envelope.ts";
export * from "./errors.ts";
export * from "./export.ts";
export * from "./ids.ts";
export * from "./message.ts";
export * from "./participant.ts";
export * from "./parts.ts";
export * from "./policy.ts";
export * from "./question.ts";
export * from "./run.ts";
export * from "./space.ts";
