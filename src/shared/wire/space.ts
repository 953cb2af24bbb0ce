/** Spaces and who is in them. */
import * as z from "zod";
import { fact, verb } from "./envelope.ts";
import { id, participantId } from "./ids.ts";
import { participantKind, spaceRole } from "./parts.ts";

const visibility = z.enum(["private", "open"]);
/** Checked for what it holds where it is written (LIMIT-1). */
const title = z.string().min(1).describe("1 to 80 characters.");
const ceiling = z
  .number()
  .nonnegative()
  .max(10_000)
  .nullable()
  .optional()
  .describe("What one job may spend, in US dollars; null is no limit.");

export const spaceCreate = verb("space.create", {
  title: title.optional(),
  visibility: visibility.default("private").describe("An open one can be found and joined by members."),
  direct: z
    .array(participantId)
    .min(1)
    .max(20)
    .optional()
    .describe("Makes it the one conversation of these and oneself, instead of a room with a title."),
  harness_id: id("hrn").optional().describe("Asks this harness to put one of its agents there."),
  agent_name: z.string().min(1).optional().describe("What that agent is called until it is there."),
}).describe("Makes a space with oneself as its owner.");
export const spaceRename = verb("space.rename", { space_id: id("spc"), title }).describe(
  "Gives a space another title.",
);
export const spaceArchive = verb("space.archive", { space_id: id("spc") }).describe(
  "Closes a space for posts. It can still be read.",
);
export const spaceUnarchive = verb("space.unarchive", { space_id: id("spc") }).describe(
  "Opens an archived space again.",
);
export const spaceClaim = verb("space.claim", { space_id: id("spc"), agent_id: id("agt") }).describe(
  "A harness puts its agent in the place that it holds in a space.",
);
/** Both verb and fact: the lead and the ceiling of a space. */
export const spaceSet = verb("space.set", {
  space_id: id("spc"),
  lead: id("agt", "hrn").nullable().optional().describe("The agent to whom unclaimed work goes."),
  ceiling_usd: ceiling,
}).describe("Sets a space's lead or its ceiling. What is left out stays.");
export const memberAdd = verb("member.add", {
  space_id: id("spc"),
  participant_id: participantId,
  role: spaceRole.optional(),
}).describe("Adds somebody to a space, or oneself to an open one.");
export const memberRemove = verb("member.remove", {
  space_id: id("spc"),
  participant_id: participantId,
}).describe("Takes somebody out of a space, or leaves it.");
export const memberRole = verb("member.role", {
  space_id: id("spc"),
  participant_id: participantId,
  role: spaceRole,
}).describe("Gives a member another standing in a space.");

export const spaceCreated = fact("space.created", {
  space_id: id("spc"),
  title: z.string(),
  visibility,
  direct: z.array(z.string()).optional(),
  harness_id: z.string().optional(),
  agent_name: z.string().optional(),
}).describe("A space was made.");
export const spaceRenamed = fact("space.renamed", {
  space_id: id("spc"),
  title: z.string(),
  previous: z.string(),
}).describe("A space has another title.");
export const spaceArchived = fact("space.archived", { space_id: id("spc") }).describe(
  "A space was closed for posts.",
);
export const spaceUnarchived = fact("space.unarchived", { space_id: id("spc") }).describe(
  "An archived space is open again.",
);
export const spaceClaimed = fact("space.claimed", {
  space_id: id("spc"),
  harness_id: z.string(),
  agent_id: z.string(),
}).describe("An agent took the place that its harness held in a space.");
export const spaceSetFact = fact("space.set", {
  space_id: id("spc"),
  lead: z.string().nullable().optional(),
  ceiling_usd: ceiling,
}).describe("A space's lead or ceiling changed. What is absent stayed as it was.");
export const memberJoined = fact("member.joined", {
  space_id: id("spc"),
  participant_id: z.string(),
  kind: participantKind,
  name: z.string(),
  role: spaceRole,
  handle: z.string().optional().describe("What follows the @ in a mention."),
}).describe("Somebody came into a space.");
export const memberLeft = fact("member.left", { space_id: id("spc"), participant_id: z.string() }).describe(
  "Somebody left a space or was taken out of it.",
);
export const memberRoleChanged = fact("member.role_changed", {
  space_id: id("spc"),
  participant_id: z.string(),
  role: spaceRole,
}).describe("A member has another standing in a space.");
