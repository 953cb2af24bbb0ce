/** Spaces and who is in them. */
import * as z from "zod";
import { event, verb } from "./envelope.ts";
import { id, participantId } from "./ids.ts";
import { participantKind, spaceRole } from "./parts.ts";

const visibility = z.enum(["private", "open"]);
/** 1 to 80 characters; checked for what it holds where it is written (LIMIT-1). */
const title = z.string().min(1);

export const spaceCreate = verb("space.create", {
  title: title.optional(),
  visibility: visibility.default("private"),
  direct: z.array(participantId).min(1).max(20).optional(),
  harness_id: id("hrn").optional(),
  agent_name: z.string().min(1).optional(),
});
export const spaceRename = verb("space.rename", { space_id: id("spc"), title });
export const spaceArchive = verb("space.archive", { space_id: id("spc") });
export const spaceUnarchive = verb("space.unarchive", { space_id: id("spc") });
export const spaceClaim = verb("space.claim", { space_id: id("spc"), agent_id: id("agt") });
/** Both verb and fact: the lead and the ceiling of a space. */
export const spaceSet = verb("space.set", {
  space_id: id("spc"),
  lead: id("agt", "hrn").nullable().optional(),
  ceiling_usd: z.number().nonnegative().max(10_000).nullable().optional(),
});
export const memberAdd = verb("member.add", {
  space_id: id("spc"),
  participant_id: participantId,
  role: spaceRole.optional(),
});
export const memberRemove = verb("member.remove", { space_id: id("spc"), participant_id: participantId });
export const memberRole = verb("member.role", {
  space_id: id("spc"),
  participant_id: participantId,
  role: spaceRole,
});

export const spaceCreated = event("space.created", {
  space_id: id("spc"),
  title: z.string(),
  visibility,
  direct: z.array(z.string()).optional(),
  harness_id: z.string().optional(),
  agent_name: z.string().optional(),
});
export const spaceRenamed = event("space.renamed", {
  space_id: id("spc"),
  title: z.string(),
  previous: z.string(),
});
export const spaceArchived = event("space.archived", { space_id: id("spc") });
export const spaceUnarchived = event("space.unarchived", { space_id: id("spc") });
export const spaceClaimed = event("space.claimed", {
  space_id: id("spc"),
  harness_id: z.string(),
  agent_id: z.string(),
});
export const spaceSetFact = event("space.set", {
  space_id: id("spc"),
  lead: z.string().nullable().optional(),
  ceiling_usd: z.number().nullable().optional(),
});
export const memberJoined = event("member.joined", {
  space_id: id("spc"),
  participant_id: z.string(),
  kind: participantKind,
  name: z.string(),
  role: spaceRole,
  handle: z.string().optional(),
});
export const memberLeft = event("member.left", { space_id: id("spc"), participant_id: z.string() });
export const memberRoleChanged = event("member.role_changed", {
  space_id: id("spc"),
  participant_id: z.string(),
  role: spaceRole,
});
