/**
 * What follows from the state by itself: checks that failed, a pull request that can be merged, a merge whose
 * checks failed or never ended. The board makes these events, each once a head or merge, by its name (PIPE-1).
 */
import { OFFICE_ACTOR } from "../../../../src/shared/rules/trust.ts";
import { haveFailed } from "../../../../src/shared/rules/work-state.ts";
import type { WorkEvent } from "../../../../src/shared/wire/work.ts";
import type { BoardLedger } from "../ledger.ts";
import { mergerOf, statusesOf, verdictOf } from "./prs.ts";
import { type PrRow, prKey, prRow, prRows } from "./store.ts";
import { takeEvent } from "./take.ts";

/** The alarm of merges whose checks may run too long. */
export const MERGES_ALARM = "merges";

/** The alarm of pull requests that wait for nothing but the host's word on whether they merge cleanly (WORK-5). */
export const HOST_ALARM = "host";

/** Those pull requests. Whoever reads the host for them takes in `pr.updated` with what it says. */
export function waitingForHost(ledger: BoardLedger): PrRow[] {
  return prRows(ledger, "state = 'open' AND draft = 0 ORDER BY updated_at DESC LIMIT 500").filter(
    (pr) => verdictOf(ledger, pr).onlyHostMissing,
  );
}

type Derived = "pr.checks_failed" | "pr.ready_to_merge" | "merge.checks_failed" | "merge.timed_out";

function derived(type: Derived, pr: PrRow, sha: string, at: string): WorkEvent {
  const { repo, number } = pr;
  return {
    id: `${type}:${pr.key}:${sha}`,
    source: "board",
    type,
    at,
    actor: { ...OFFICE_ACTOR },
    pr: { repo, number },
  };
}

/** Pull requests that an event may have changed something of. */
function touched(ledger: BoardLedger, event: WorkEvent): PrRow[] {
  const { pr, check } = event;
  if (check)
    return [
      ...prRows(ledger, "repo = ? AND head_sha = ?", check.repo, check.sha),
      ...prRows(ledger, "repo = ? AND merge_sha = ?", check.repo, check.sha),
    ];
  const row = pr && event.type.startsWith("pr.") ? prRow(ledger, prKey(pr)) : undefined;
  return row ? [row] : [];
}

/** The events that follow from an event. Those taken before are taken once, so it does not matter how often. */
export function derivedFrom(ledger: BoardLedger, event: WorkEvent): WorkEvent[] {
  if (event.source === "board") return [];
  return touched(ledger, event).flatMap((pr) =>
    pr.state === "merged" ? afterMerge(ledger, pr, event.at) : whileOpen(ledger, pr, event.at),
  );
}

function whileOpen(ledger: BoardLedger, pr: PrRow, at: string): WorkEvent[] {
  if (pr.state !== "open" || !pr.head_sha) return [];
  const found: WorkEvent[] = [];
  if (haveFailed(statusesOf(ledger, pr.repo, pr.head_sha)))
    found.push(derived("pr.checks_failed", pr, pr.head_sha, at));
  const verdict = verdictOf(ledger, pr);
  if (verdict.notReady === undefined) found.push(derived("pr.ready_to_merge", pr, pr.head_sha, at));
  if (verdict.onlyHostMissing) ledger.alarm(HOST_ALARM, ledger.now);
  return found;
}

function afterMerge(ledger: BoardLedger, pr: PrRow, at: string): WorkEvent[] {
  if (!pr.merge_sha || !mergerOf(ledger, pr)) return [];
  const failed = haveFailed(statusesOf(ledger, pr.repo, pr.merge_sha));
  if (failed) return [derived("merge.checks_failed", pr, pr.merge_sha, at)];
  const mergedAt = pr.fields["state:merged"]?.at ?? ledger.now;
  const due = mergedAt + ledger.team.policies.merge_checks.timeout_minutes * 60_000;
  const written = ledger.db.run(
    "INSERT OR IGNORE INTO merges (pr, sha, due_at) VALUES (?, ?, ?)",
    pr.key,
    pr.merge_sha,
    due,
  );
  if (written > 0) ledger.alarm(MERGES_ALARM, due);
  return [];
}

/** The alarm: merges whose time is over and whose checks still run are told of (PIPE-1). */
export function mergesDue(ledger: BoardLedger): void {
  const due = ledger.db.all<{ pr: string; sha: string }>(
    "SELECT pr, sha FROM merges WHERE due_at <= ? ORDER BY due_at LIMIT 100",
    ledger.now,
  );
  for (const { pr, sha } of due) {
    ledger.db.run("UPDATE merges SET due_at = ? WHERE pr = ? AND sha = ?", NEVER, pr, sha);
    const row = prRow(ledger, pr);
    if (row && statusesOf(ledger, row.repo, sha).includes("pending"))
      takeEvent(ledger, derived("merge.timed_out", row, sha, new Date(ledger.now).toISOString()));
  }
  const next = ledger.db.one<{ at: number | null }>(
    "SELECT min(due_at) AS at FROM merges WHERE due_at < ?",
    NEVER,
  );
  if (next?.at) ledger.alarm(MERGES_ALARM, next.at);
}

/** A merge that was looked at: its row stays, so that a late event of it does not wait a second time. */
const NEVER = Number.MAX_SAFE_INTEGER;
