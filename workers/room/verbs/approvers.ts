/** Among whom an ask finds its approvers (APR-2). */
import { type ApproverMember, resolveApprovers } from "../../../src/shared/rules/approvers.ts";
import { matters, type PolicyDecision } from "../../../src/shared/rules/policy.ts";
import type { Verb } from "../../../src/shared/wire/index.ts";
import { refuse } from "../../kit/result.ts";
import { leadOf, members, space } from "../store/spaces.ts";
import type { ParticipantRow, RunRow } from "../types.ts";
import type { Writer } from "../writer.ts";

/** Who may decide, as ids (APR-2). */
export function approversFor(
  w: Writer,
  run: RunRow,
  judged: PolicyDecision,
  event: Verb<"approval.request">,
): string[] {
  const resolved = resolveApprovers({
    fromPolicy: judged.approvers,
    fromHarness: event.approvers,
    members: candidates(w, run.space_id),
    matters: matters(judged.classes, event.action),
    askerHarness: run.harness_id,
  });
  if (!resolved.ok) {
    const { path, message } = resolved;
    refuse("invalid", `An approver cannot be one: ${path} ${message}.`, { details: [{ path, message }] });
  }
  return resolved.approvers;
}

/** Everybody whom an ask may be put to: the workspace's people, and the agents of the space. */
function candidates(w: Writer, spaceId: string): ApproverMember[] {
  const here = members(w.db, spaceId);
  const of = space(w.db, spaceId);
  const lead = of && leadOf(of, here);
  const there = new Map(here.map((m) => [m.id, m]));
  const people = w.db.all<ParticipantRow>("SELECT * FROM participants WHERE kind = 'person'");
  return [...people, ...here.filter((m) => m.kind !== "person")].map((p) => ({
    id: p.id,
    kind: p.kind,
    space_role: there.get(p.id)?.space_role,
    workspace_role: p.role ?? undefined,
    gone: p.removed_at !== null || p.withdrawn !== 0,
    lead: p.id === lead,
    harness_id: p.harness_id ?? undefined,
  }));
}
