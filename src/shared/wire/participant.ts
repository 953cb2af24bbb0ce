/** People, harnesses and agents of a workspace, and its settings. */
import * as z from "zod";
import { fact, verb } from "./envelope.ts";
import { id, participantId } from "./ids.ts";
import { workspaceRole } from "./parts.ts";

export const participantRename = verb("participant.rename", {
  participant_id: participantId.optional().describe("Who is renamed; left out, oneself."),
  name: z.string().min(1).describe("1 to 80 characters."),
}).describe("Gives oneself, or one of one's agents, another name.");
export const participantRemove = verb("participant.remove", { participant_id: participantId }).describe(
  "Takes somebody out of the workspace. What they said stays.",
);
export const participantRole = verb("participant.role", {
  participant_id: id("usr"),
  role: workspaceRole,
}).describe("Gives a person another standing in the workspace.");
export const declaredAgent = z.object({
  name: z.string().min(1).describe("1 to 80 characters."),
  agent_id: id("agt").optional().describe("Renames this one. Without it the same name is the same agent."),
});
export const agentDeclare = verb("agent.declare", { agents: z.array(declaredAgent).min(1).max(50) }).describe(
  "A harness names agents that it runs. Those it does not name here stay.",
);
export const agentWithdraw = verb("agent.withdraw", { agent_id: id("agt") }).describe(
  "A harness no longer runs this agent.",
);

export const participantRenamed = fact("participant.renamed", {
  participant_id: z.string(),
  name: z.string(),
  previous: z.string(),
}).describe("Somebody has another name.");
export const participantRemoved = fact("participant.removed", { participant_id: z.string() }).describe(
  "Somebody is no longer in the workspace.",
);
export const participantRoleChanged = fact("participant.role_changed", {
  participant_id: z.string(),
  role: workspaceRole,
}).describe("A person has another standing in the workspace.");
export const agentDeclared = fact("agent.declared", {
  agent_id: z.string(),
  harness_id: z.string(),
  name: z.string(),
}).describe("A harness runs an agent, new or under another name.");
export const agentWithdrawn = fact("agent.withdrawn", {
  agent_id: z.string(),
  harness_id: z.string(),
}).describe("A harness no longer runs an agent.");
const ofOffice = { agent_id: z.string(), harness_id: z.string() };
/** Of ADDR-5: the agent of a person of the team whose queue is paused. */
export const agentPaused = fact("agent.paused", ofOffice).describe(
  "An agent of the office was paused: it is asked nothing until it goes on.",
);
export const agentResumed = fact("agent.resumed", ofOffice).describe(
  "An agent of the office goes on: it can be asked again.",
);

const positive = z.int().positive();
/** The workspace's settings with their defaults; a change names only what changes. */
export const settings = z.object({
  guard: z.object({
    stop: positive.max(1000).default(16),
    hold: positive.max(4000).nullable().default(48),
    circles: z.boolean().default(true),
  }),
  lead: z.object({ still_s: z.number().positive().max(3600).nullable().default(20) }),
  spend: z.object({
    job_usd: z.number().nonnegative().max(10_000).nullable().default(3),
    day_usd: z.number().nonnegative().max(100_000).nullable().default(null),
  }),
  attachments: z.object({
    max_bytes: positive.max(95 * 1024 * 1024).default(95 * 1024 * 1024),
    url_ttl_s: positive.max(86_400).default(600),
  }),
  limits: z.object({
    writes_per_s: z.number().positive().max(1000).default(20),
    burst: positive.max(10_000).default(60),
  }),
  retention: z.object({ archive_after_days: positive.nullable().default(null) }),
});
export type Settings = z.infer<typeof settings>;

/** Part of the tree; every group and every key may be left out, and an unknown one is refused. */
export const settingsPatch = z.strictObject({
  guard: z
    .strictObject({
      stop: positive.max(1000).optional(),
      hold: positive.max(4000).nullable().optional(),
      circles: z.boolean().optional(),
    })
    .optional(),
  lead: z.strictObject({ still_s: z.number().positive().max(3600).nullable().optional() }).optional(),
  spend: z
    .strictObject({
      job_usd: z.number().nonnegative().max(10_000).nullable().optional(),
      day_usd: z.number().nonnegative().max(100_000).nullable().optional(),
    })
    .optional(),
  attachments: z
    .strictObject({
      max_bytes: positive.max(95 * 1024 * 1024).optional(),
      url_ttl_s: positive.max(86_400).optional(),
    })
    .optional(),
  limits: z
    .strictObject({
      writes_per_s: z.number().positive().max(1000).optional(),
      burst: positive.max(10_000).optional(),
    })
    .optional(),
  retention: z.strictObject({ archive_after_days: positive.nullable().optional() }).optional(),
});
export const settingsSet = verb("settings.set", { settings: settingsPatch }).describe(
  "Changes settings of the workspace. What is left out stays.",
);
export const settingsChanged = fact("settings.changed", { settings }).describe(
  "The workspace's settings as they are now.",
);

/** The settings of a workspace where nobody changed any. */
export function defaultSettings(): Settings {
  return settings.parse({ guard: {}, lead: {}, spend: {}, attachments: {}, limits: {}, retention: {} });
}

/** Applies a change to the tree, group by group. */
export function patchSettings(current: Settings, patch: z.infer<typeof settingsPatch>): Settings {
  const next: Record<string, object> = { ...current };
  for (const [group, change] of Object.entries(patch))
    if (change) next[group] = { ...next[group], ...change };
  return settings.parse(next);
}
