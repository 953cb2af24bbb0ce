/** People, harnesses and agents of a workspace, and its settings. */
import * as z from "zod";
import { event, verb } from "./envelope.ts";
import { id, participantId } from "./ids.ts";
import { workspaceRole } from "./parts.ts";

export const participantRename = verb("participant.rename", {
  participant_id: participantId.optional(),
  name: z.string().min(1),
});
export const participantRemove = verb("participant.remove", { participant_id: participantId });
export const participantRole = verb("participant.role", {
  participant_id: id("usr"),
  role: workspaceRole,
});
export const declaredAgent = z.object({ name: z.string().min(1), agent_id: id("agt").optional() });
export const agentDeclare = verb("agent.declare", { agents: z.array(declaredAgent).min(1).max(50) });
export const agentWithdraw = verb("agent.withdraw", { agent_id: id("agt") });

export const participantRenamed = event("participant.renamed", {
  participant_id: z.string(),
  name: z.string(),
  previous: z.string(),
});
export const participantRemoved = event("participant.removed", { participant_id: z.string() });
export const participantRoleChanged = event("participant.role_changed", {
  participant_id: z.string(),
  role: workspaceRole,
});
export const agentDeclared = event("agent.declared", {
  agent_id: z.string(),
  harness_id: z.string(),
  name: z.string(),
});
export const agentWithdrawn = event("agent.withdrawn", { agent_id: z.string(), harness_id: z.string() });

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
export const settingsSet = verb("settings.set", { settings: settingsPatch });
export const settingsChanged = event("settings.changed", { settings });

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
