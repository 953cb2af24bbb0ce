/** What is to be read at the code host, and when (WORK-5): written down with the event that asks for it. */
import { jobOfLink } from "../../../../src/shared/rules/github/host.ts";
import { mergeableOf } from "../../../../src/shared/rules/work-state.ts";
import type { WorkEvent } from "../../../../src/shared/wire/work.ts";
import type { BoardLedger } from "../ledger.ts";
import { HOST_ALARM, waitingForHost } from "../work/derive.ts";
import { checksOf } from "../work/prs.ts";
import { type PrRow, prKey, prRow, prRows } from "../work/store.ts";

export const TOKEN = "github_token";
/** Ids of the events that a read itself makes. */
export const READ_EVENT = "read:";
/** Whether a read made an event; another source may call its own anything. */
export const isRead = ({ id, source }: WorkEvent): boolean =>
  source === "github" && id.startsWith(READ_EVENT);

/** A pull request by number, a base by branch, a job by number. */
export interface Wanted {
  kind: "pr" | "base" | "job";
  repo: string;
  what: string;
}
export interface WantedRow extends Wanted {
  tries: number;
}

/** Reads that wait, at most: a host that is away for days leaves no mountain. */
const MOST = 1000;
/** After a push the host tries the base's pull requests anew: asked at once it would not know yet. */
const AFTER_PUSH_MS = 5000;
const OF_A_BASE = 50;
/** Jobs of one merge whose logs are read. */
export const JOBS = 5;

/** Whether there is anything to read with (WORK-5): all without it is `unknown`. */
export function canRead({ db }: BoardLedger): boolean {
  return db.one("SELECT 1 FROM secrets WHERE name = ? LIMIT 1", TOKEN) !== undefined;
}

/** The repository as the team spells it, if it is one of the team's. */
export function teamRepo({ team }: BoardLedger, repo: string): string | undefined {
  return team.repositories.find((one) => one.repo.toLowerCase() === repo.toLowerCase())?.repo;
}

/** Asks for a read by then. One that failed keeps its own time. */
export function want(ledger: BoardLedger, { kind, repo, what }: Wanted, at = ledger.now): void {
  if (teamRepo(ledger, repo) === undefined) return;
  const waiting = ledger.db.one<{ n: number }>("SELECT count(*) AS n FROM host_reads")?.n ?? 0;
  if (waiting >= MOST) return;
  ledger.db.run(
    `INSERT INTO host_reads (kind, repo, what, due_at, tries) VALUES (?1, ?2, ?3, ?4, 0)
       ON CONFLICT DO UPDATE SET due_at = CASE WHEN tries = 0 THEN min(due_at, ?4) ELSE due_at END`,
    kind,
    repo,
    what,
    at,
  );
  ledger.alarm(HOST_ALARM, at);
}

const pull = ({ repo, number }: PrRow): Wanted => ({ kind: "pr", repo, what: String(number) });

/** Whether something of a pull request's head was not read yet: its files, or whether it merges cleanly. */
export function isUnread(ledger: BoardLedger, pr: PrRow): boolean {
  if (pr.state !== "open" || !pr.head_sha) return false;
  return mergeableOf(pr.fields) === "unknown" || filesSha(ledger, pr.key) !== pr.head_sha;
}

/** The head that a pull request's files were read of. */
export function filesSha({ db }: BoardLedger, pr: string): string | undefined {
  return db.one<{ sha: string }>("SELECT sha FROM pr_files WHERE pr = ? LIMIT 1", pr)?.sha;
}

/** The jobs behind the failed checks of a merge: those of the host's own Actions have a log to read. */
export function failedJobs(ledger: BoardLedger, api: string, pr: PrRow): Wanted[] {
  return checksOf(ledger, pr.repo, pr.merge_sha)
    .filter(({ status }) => status === "failure")
    .flatMap(({ url }) => {
      const job = url === null ? undefined : jobOfLink(url, api);
      return job ? [{ kind: "job" as const, repo: pr.repo, what: job.job }] : [];
    })
    .slice(0, JOBS);
}

/** Writes down what an event makes worth reading, in its transaction; the reading comes after (WORK-5). */
export function wantAfter(ledger: BoardLedger, event: WorkEvent): void {
  if (isRead(event) || !canRead(ledger)) return;
  const { pr, check, push, type } = event;
  if (push) return afterPush(ledger, push);
  const rows = check
    ? prRows(ledger, "repo = ? AND head_sha = ? LIMIT 20", check.repo, check.sha)
    : pr && type.startsWith("pr.")
      ? prRows(ledger, "key = ?", prKey(pr))
      : [];
  for (const row of rows) if (isUnread(ledger, row)) want(ledger, pull(row));
  const about = pr && prRow(ledger, prKey(pr));
  if (type === "pr.ready_to_merge" && about?.base)
    want(ledger, { kind: "base", repo: about.repo, what: about.base });
  if (about && (type === "merge.checks_failed" || type === "merge.timed_out"))
    for (const job of failedJobs(ledger, ledger.hostApi, about)) want(ledger, job);
  if (check) ledger.db.run("DELETE FROM host_bases WHERE repo = ? AND sha = ?", check.repo, check.sha);
}

function afterPush(ledger: BoardLedger, { repo, branch }: NonNullable<WorkEvent["push"]>): void {
  ledger.db.run("DELETE FROM host_bases WHERE repo = ? AND base = ?", repo, branch);
  const onIt = prRows(
    ledger,
    "repo = ? AND base = ? AND state = 'open' ORDER BY updated_at DESC LIMIT ?",
    repo,
    branch,
    OF_A_BASE,
  );
  for (const row of onIt) want(ledger, pull(row), ledger.now + AFTER_PUSH_MS);
}

/** A token was put: what waited for one is read, and what the one before it was refused is asked again. */
export function wantWaiting(ledger: BoardLedger): void {
  ledger.db.run("DELETE FROM host_held");
  ledger.db.run("UPDATE host_reads SET tries = 0, due_at = ?", ledger.now);
  ledger.alarm(HOST_ALARM, ledger.now);
  for (const row of waitingForHost(ledger)) want(ledger, pull(row));
}

/** The reads that are due, the oldest first; none while the host asked to be left alone. Sets the next alarm. */
export function dueReads(ledger: BoardLedger, most: number): WantedRow[] {
  const held = heldUntil(ledger);
  const next = ledger.db.one<{ at: number | null }>("SELECT min(due_at) AS at FROM host_reads")?.at;
  if (next === null || next === undefined) return [];
  if (held > ledger.now || next > ledger.now) {
    ledger.alarm(HOST_ALARM, Math.max(held, next));
    return [];
  }
  // Should this object die while it reads, the alarm reads again.
  ledger.alarm(HOST_ALARM, ledger.now + 60_000);
  return ledger.db.all<WantedRow>(
    "SELECT kind, repo, what, tries FROM host_reads WHERE due_at <= ? ORDER BY due_at LIMIT ?",
    ledger.now,
    most,
  );
}

/** Until when nothing is read, ms; 0 when nothing stands against it. */
export function heldUntil({ db }: BoardLedger): number {
  return db.one<{ until: number }>("SELECT until FROM host_held")?.until ?? 0;
}
