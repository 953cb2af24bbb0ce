/** What is decided once, when a message is handed to agents, so that a replay hands over the same (WIN-2, NEW-3). */
import { workingRuns } from "../store/runs.ts";
import type { MemberRow } from "../store/spaces.ts";
import type { PostedBody } from "../types.ts";
import type { Writer } from "../writer.ts";

/** The turns going in a space, that deliveries name as `working_turns`. */
export function turnsNow(w: Writer, spaceId: string): Pick<PostedBody, "turns"> {
  const turns = workingRuns(w.db, spaceId, w.now).map((run): [string, string] => [run.agent_id, run.id]);
  return turns.length > 0 ? { turns } : {};
}

/** Where each taker's harness had begun its last words here, or its joining (WIN-2). */
export function sinceOf(
  w: Writer,
  spaceId: string,
  here: readonly MemberRow[],
  takers: readonly string[],
): Pick<PostedBody, "since"> {
  if (takers.length === 0) return {};
  const joined = new Map<string, number>();
  for (const member of here) {
    if (member.kind === "person") continue;
    const harness = member.harness_id ?? member.id;
    joined.set(harness, Math.min(joined.get(harness) ?? member.joined_seq, member.joined_seq));
  }
  const since: Record<string, number> = {};
  for (const id of takers) {
    const harness = here.find((m) => m.id === id)?.harness_id ?? id;
    const spoke = w.db.one<{ since_seq: number }>(
      "SELECT since_seq FROM spoke WHERE space_id = ? AND harness_id = ?",
      spaceId,
      harness,
    );
    since[harness] = spoke?.since_seq ?? joined.get(harness) ?? 0;
  }
  return { since };
}
