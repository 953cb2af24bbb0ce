/** Writes down what a read of the code host brought, or why it brought nothing (WORK-5). */
import { failedSteps, LINES, type StepLog } from "../../../../src/shared/rules/ci-log.ts";
import type { CheckRead, JobRead, PullRead } from "../../../../src/shared/rules/github/host.ts";
import { mergeableOf } from "../../../../src/shared/rules/work-state.ts";
import type { BoardLedger } from "../ledger.ts";
import { setFiles } from "../work/prs.ts";
import { prRow } from "../work/store.ts";
import { takeEvent } from "../work/take.ts";
import { tell } from "../work/tell.ts";
import type { Missing, Read } from "./api.ts";
import { READ_EVENT, type WantedRow } from "./wants.ts";

const FIRST_WAIT_MS = 3000;
const LONGEST_WAIT_MS = 3_600_000;
const TRIES = 8;
const DENIED_MS = 600_000;
/** Logs that are kept, and the size of one. */
const JOBS_KEPT = 100;
const STEPS_CHARACTERS = 400_000;

/** What one read brought. */
export type Brought =
  | { kind: "pr"; pull: Read<PullRead>; files?: Read<string[]> }
  | { kind: "base"; checks: Read<{ sha?: string; checks: CheckRead[] }> }
  | { kind: "job"; job: Read<JobRead>; log?: Read<string> };

/** Keeps what was read, and asks again later for what was not. */
export function storeRead(
  ledger: BoardLedger,
  read: WantedRow,
  brought: Brought,
  secrets: readonly string[],
): void {
  if (brought.kind === "pr") return storePull(ledger, read, brought);
  if (brought.kind === "base") {
    const { checks } = brought;
    if (!checks.ok) return failed(ledger, read, checks);
    ledger.db.run(
      "INSERT OR REPLACE INTO host_bases (repo, base, sha, checks, at) VALUES (?, ?, ?, ?, ?)",
      read.repo,
      read.what,
      checks.value.sha ?? null,
      JSON.stringify(checks.value.checks),
      ledger.now,
    );
    return over(ledger, read);
  }
  const { job, log } = brought;
  if (!job.ok) return failed(ledger, read, job);
  if (!job.value.ended) return again(ledger, read);
  if (log && !log.ok && log.why !== "not_found") return failed(ledger, read, log);
  storeJob(ledger, read, job.value, log?.ok ? log.value : undefined, secrets);
  over(ledger, read);
}

/** The end of an ended job's log, kept for ever as it is; the oldest logs go (WORK-5). */
export function storeJob(
  ledger: BoardLedger,
  { repo, what }: { repo: string; what: string },
  job: JobRead,
  log: string | undefined,
  secrets: readonly string[],
): void {
  ledger.db.run(
    "INSERT OR REPLACE INTO host_jobs (repo, job, steps, note) VALUES (?, ?, ?, ?)",
    repo,
    what,
    JSON.stringify(fitting(failedSteps(log ?? "", job.steps, LINES.most, secrets))),
    log === undefined ? "The code host has no log of it." : null,
  );
  ledger.db.run("DELETE FROM host_jobs WHERE n <= (SELECT max(n) FROM host_jobs) - ?", JOBS_KEPT);
}

/** Steps in one row: the earliest lines give way. */
function fitting(steps: StepLog[]): StepLog[] {
  let left = STEPS_CHARACTERS;
  return steps.map(({ name, lines, omitted }) => {
    let first = lines.length;
    while (first > 0 && left >= (lines[first - 1] as string).length) {
      first -= 1;
      left -= (lines[first] as string).length;
    }
    return { name, lines: lines.slice(first), omitted: omitted + first };
  });
}

/** What is kept of a job's log. */
export function storedJob(
  { db }: BoardLedger,
  repo: string,
  job: string,
): { steps: StepLog[]; note?: string } | undefined {
  const row = db.one<{ steps: string; note: string | null }>(
    "SELECT steps, note FROM host_jobs WHERE repo = ? AND job = ?",
    repo,
    job,
  );
  return row && { steps: JSON.parse(row.steps) as StepLog[], ...(row.note !== null && { note: row.note }) };
}

function storePull(ledger: BoardLedger, read: WantedRow, { pull, files }: Brought & { kind: "pr" }): void {
  const key = `${read.repo}#${read.what}`;
  const row = prRow(ledger, key);
  if (!pull.ok) return failed(ledger, read, pull);
  if (!row || row.state !== "open") return over(ledger, read);
  const { headSha, mergeable } = pull.value;
  // The host is asked about a head that it has not heard of yet, or we have not.
  if (headSha === undefined || headSha !== row.head_sha) return again(ledger, read);
  if (files?.ok) setFiles(ledger, key, headSha, files.value);
  if (mergeable !== "unknown" && mergeableOf(row.fields) !== mergeable)
    takeEvent(ledger, {
      id: `${READ_EVENT}${key}:${headSha}:${ledger.now}`,
      source: "github",
      type: "pr.updated",
      at: new Date(ledger.now).toISOString(),
      actor: { id: "github", kind: "bot" },
      pr: { repo: row.repo, number: row.number, head_sha: headSha, mergeable },
    });
  if (files && !files.ok && files.why !== "not_found") return failed(ledger, read, files);
  return mergeable === "unknown" ? again(ledger, read) : over(ledger, read);
}

function over({ db }: BoardLedger, { kind, repo, what }: WantedRow): void {
  db.run("DELETE FROM host_reads WHERE kind = ? AND repo = ? AND what = ?", kind, repo, what);
}

/** Later, each time longer; in the end not at all. The next event about it asks anew. */
function again(ledger: BoardLedger, read: WantedRow): void {
  if (read.tries + 1 >= TRIES) return over(ledger, read);
  ledger.db.run(
    "UPDATE host_reads SET tries = tries + 1, due_at = ? WHERE kind = ? AND repo = ? AND what = ?",
    ledger.now + Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** read.tries),
    read.kind,
    read.repo,
    read.what,
  );
}

function failed(ledger: BoardLedger, read: WantedRow, { why, until }: Missing): void {
  if (why === "not_found") return over(ledger, read);
  if (why === "limited") return hold(ledger, until ?? ledger.now + 60_000, why);
  if (why === "denied") {
    hold(ledger, ledger.now + DENIED_MS, why);
    const day = new Date(ledger.now).toISOString().slice(0, 10);
    tell(
      ledger,
      `github_token:${day}`,
      "GitHub refuses the office's token. Put a new one: PUT /v1/secrets/github_token.",
    );
    return;
  }
  again(ledger, read);
}

/** Nothing is read until then. */
export function hold({ db }: BoardLedger, until: number, why: string): void {
  db.run("INSERT OR REPLACE INTO host_held (one, until, why) VALUES (1, ?, ?)", until, why);
}
