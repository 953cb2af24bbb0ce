/** What a merge is decided on, and what failed after one (OFFER-8, WORK-5). */

import type { CheckRead } from "../../../../src/shared/rules/github/host.ts";
import { jobOfLink } from "../../../../src/shared/rules/github/host.ts";
import { type Merge, othersOf } from "../../../../src/shared/rules/merge-context.ts";
import { ciOf, mergeableOf, textOf } from "../../../../src/shared/rules/work-state.ts";
import type { Wake } from "../../../../src/shared/wire/agent/index.ts";
import { shown as shownStep } from "../host/ci-log.ts";
import { storedJob } from "../host/store.ts";
import { canRead } from "../host/wants.ts";
import type { BoardLedger } from "../ledger.ts";
import { type CheckRow, checksOf, ciOfHead, openThreads, prAuthor, verdictOf } from "../work/prs.ts";
import { type PrRow, prRows } from "../work/store.ts";
import { iso, known } from "./words.ts";

type FailedCheck = NonNullable<Wake["failedChecks"]>[number];

/** Merges into the base that are shown, and failing checks of one commit. */
const MERGES = 10;
const CHECKS = 30;
/** Lines of each failed step that an offer has; `ci_log` reads more. */
const LOG_LINES = 50;
const OPEN = 1000;

/** The pull request, its repository's others, the latest merges into its base, and the base's checks. */
export function mergeOf(ledger: BoardLedger, pr: PrRow): Merge {
  const { approvedBy, changesRequestedBy } = verdictOf(ledger, pr);
  const failing = failingOf(checksOf(ledger, pr.repo, pr.head_sha));
  const open = prRows(ledger, "repo = ? AND state = 'open' ORDER BY updated_at DESC LIMIT ?", pr.repo, OPEN);
  const items = ledger.team.pipeline.context.items;
  const { others, more } = othersOf(pr, open, sharedFiles(ledger, pr), items);
  return {
    pr: known({
      ref: pr.key,
      number: pr.number,
      title: titled(pr),
      url: textOf(pr.fields, "url"),
      head: pr.head ?? "",
      base: pr.base ?? "",
      draft: pr.draft === 1,
      approvedBy,
      changesRequestedBy,
      ci: ciOfHead(ledger, pr),
      failing,
      mergeable: mergeableOf(pr.fields),
      unresolvedThreads: openThreads(ledger, pr.key),
    }),
    base: baseOf(ledger, pr),
    others: others.map(({ pr: other, relation, files }) => {
      const verdict = verdictOf(ledger, other);
      return known({
        ref: other.key,
        number: other.number,
        title: titled(other),
        url: textOf(other.fields, "url"),
        author: prAuthor(ledger, other).name,
        draft: other.draft === 1,
        approved: verdict.approvedBy.length > 0 && verdict.changesRequestedBy.length === 0,
        ci: ciOfHead(ledger, other),
        mergeable: mergeableOf(other.fields),
        relation,
        files,
      });
    }),
    ...(more > 0 && { moreOthers: more }),
    recentMerges: mergesInto(ledger, pr),
  };
}

const titled = (pr: PrRow): string => textOf(pr.fields, "title") ?? pr.key;

function failingOf(checks: readonly { name: string; status: string; url?: string | null }[]) {
  return checks
    .filter(({ status }) => status === "failure")
    .slice(0, CHECKS)
    .map(({ name, url }) => known({ name, url: url ?? undefined }));
}

/** The checks of the base's head, as they were read at the host; without a token nobody knows (WORK-5). */
function baseOf(ledger: BoardLedger, { repo, base }: PrRow): Merge["base"] {
  const row = ledger.db.one<{ checks: string }>(
    "SELECT checks FROM host_bases WHERE repo = ? AND base = ?",
    repo,
    base ?? "",
  );
  if (!row) return { ref: base ?? "", ci: "unknown", failing: [] };
  const checks = JSON.parse(row.checks) as CheckRead[];
  return { ref: base ?? "", ci: ciOf(checks.map(({ status }) => status)), failing: failingOf(checks) };
}

/** The files that other open pull requests change too, as far as they were read. */
function sharedFiles({ db }: BoardLedger, pr: PrRow): Map<string, string[]> {
  const rows = db.all<{ pr: string; path: string }>(
    `SELECT y.pr, y.path FROM pr_files x JOIN pr_files y ON y.path = x.path AND y.pr <> x.pr
       JOIN prs p ON p.key = y.pr AND p.repo = ? AND p.state = 'open' WHERE x.pr = ? ORDER BY y.pr, y.path LIMIT 10000`,
    pr.repo,
    pr.key,
  );
  const files = new Map<string, string[]>();
  for (const { pr, path } of rows) files.set(pr, [...(files.get(pr) ?? []), path]);
  return files;
}

const mergedAt = (row: PrRow): number => row.fields["state:merged"]?.at ?? row.updated_at;

function mergesInto(ledger: BoardLedger, pr: PrRow): Merge["recentMerges"] {
  return prRows(
    ledger,
    "repo = ? AND base = ? AND state = 'merged' AND key <> ? ORDER BY updated_at DESC LIMIT ?",
    pr.repo,
    pr.base ?? "",
    pr.key,
    MERGES * 3,
  )
    .toSorted((a, b) => mergedAt(b) - mergedAt(a))
    .slice(0, MERGES)
    .map((row) =>
      known({
        ref: row.key,
        number: row.number,
        title: titled(row),
        url: textOf(row.fields, "url"),
        author: prAuthor(ledger, row).name,
        at: iso(mergedAt(row)),
      }),
    );
}

/** Each check of the merge commit that failed, or that still ran when its time was over, with its log's end. */
export function failedChecksOf(
  ledger: BoardLedger,
  pr: PrRow,
  timedOut: boolean,
  secrets: readonly string[],
): FailedCheck[] | undefined {
  if (!pr.merge_sha) return undefined;
  const checks = checksOf(ledger, pr.repo, pr.merge_sha).filter(
    ({ status }) => status === "failure" || (timedOut && status === "pending"),
  );
  if (checks.length === 0) return undefined;
  return checks.slice(0, CHECKS).map((check) =>
    known({
      pr: pr.key,
      sha: pr.merge_sha ?? undefined,
      name: check.name,
      url: check.url ?? undefined,
      timedOut: check.status === "pending" ? true : undefined,
      ...stepsOf(ledger, pr.repo, check, secrets),
    }),
  );
}

/** The failed steps as they were read, or why there are none. */
function stepsOf(
  ledger: BoardLedger,
  repo: string,
  { status, url }: CheckRow,
  secrets: readonly string[],
): Pick<FailedCheck, "steps" | "note"> {
  if (status === "pending") return { steps: [], note: "It was still running when its time was over." };
  const job = url === null ? undefined : jobOfLink(url, ledger.hostApi);
  if (!job) return { steps: [], note: "It is no job of the code host's own: read its log at its link." };
  const kept = storedJob(ledger, repo, job.job);
  if (kept)
    return {
      steps: kept.steps.map((step) => shownStep(step, LOG_LINES, secrets)),
      ...(kept.note === undefined ? {} : { note: kept.note }),
    };
  const note = canRead(ledger)
    ? "The code host did not answer in time: ask for the log of its link."
    : "The office has no token of the code host to read its log with.";
  return { steps: [], note };
}
