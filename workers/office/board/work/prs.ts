/** Pull requests with what belongs to them: checks, verdicts, threads, stacks, overlapping files (WORK-1). */
import { withoutSuites } from "../../../../src/shared/rules/github/checks.ts";
import { type MergeFacts, mergeVerdict, type Verdict } from "../../../../src/shared/rules/merge-ready.ts";
import { personOf, type Who, whoIs } from "../../../../src/shared/rules/trust.ts";
import {
  type CheckStatus,
  type Ci,
  ciOf,
  type Fields,
  mergeableOf,
  type ReviewState,
  requestedOf,
  reviewState,
  textOf,
} from "../../../../src/shared/rules/work-state.ts";
import type { BoardLedger } from "../ledger.ts";
import { type PrRow, prRow, prRows, type StoredActor } from "./store.ts";

export interface CheckRow {
  app: string;
  name: string;
  status: CheckStatus;
  url: string | null;
  summary: string | null;
}
export interface ReviewRow {
  id: string;
  at: number;
  who: Who;
  state: ReviewState;
  body: string;
  url?: string;
  sha?: string;
}

/** The checks of a commit, each its newest run. */
export function checksOf(ledger: BoardLedger, repo: string, sha: string | null | undefined): CheckRow[] {
  if (!sha) return [];
  return withoutSuites(
    ledger.db.all<CheckRow>(
      "SELECT app, name, status, url, summary FROM checks WHERE repo = ? AND sha = ? ORDER BY name, app",
      repo,
      sha,
    ),
  );
}

export const statusesOf = (
  ledger: BoardLedger,
  repo: string,
  sha: string | null | undefined,
): CheckStatus[] => checksOf(ledger, repo, sha).map((check) => check.status);

/** The combined state of a pull request's checks on its head. */
export const ciOfHead = (ledger: BoardLedger, pr: PrRow): Ci =>
  ciOf(statusesOf(ledger, pr.repo, pr.head_sha));

/** Its reviews, oldest first. Who wrote each is worked out from the team as it is now (PIPE-5). */
export function reviewsOf(ledger: BoardLedger, pr: PrRow): ReviewRow[] {
  const rows = ledger.db.all<{ id: string; at: number; actor: string; fields: string }>(
    "SELECT id, at, actor, fields FROM reviews WHERE pr = ? ORDER BY at, id",
    pr.key,
  );
  return rows.map(({ id, at, actor, fields: raw }) => {
    const fields = JSON.parse(raw) as Fields;
    const [url, sha] = [textOf(fields, "url"), textOf(fields, "sha")];
    return {
      id,
      at,
      who: whoIs(ledger.team, JSON.parse(actor) as StoredActor, { repo: pr.repo }),
      state: reviewState(fields),
      body: textOf(fields, "body") ?? "",
      ...(url === undefined ? {} : { url }),
      ...(sha === undefined ? {} : { sha }),
    };
  });
}

/** Who opened it, as the host names them. */
function authorOf(ledger: BoardLedger, pr: PrRow): Who | undefined {
  if (!pr.author) return undefined;
  const source = textOf(pr.fields, "author_by") ?? "";
  const kind = textOf(pr.fields, "author_kind") as "human" | "agent" | "bot" | undefined;
  return whoIs(ledger.team, { source, id: pr.author, kind });
}

/** The person of the team whose it is: who made it in an item, else who opened it. */
export function prOwner(ledger: BoardLedger, pr: PrRow): string | undefined {
  return pr.made_by ?? authorOf(ledger, pr)?.handle;
}

/** Who opened it, for people: a handle, else the login (ITEM-4). */
export function prAuthor(ledger: BoardLedger, pr: PrRow): { name: string; kind: "human" | "agent" | "bot" } {
  const owner = prOwner(ledger, pr);
  if (owner) return { name: owner, kind: "agent" };
  const who = authorOf(ledger, pr);
  const kind = who?.kind === "bot" || textOf(pr.fields, "author_kind") === "bot" ? "bot" : "human";
  return { name: pr.author ?? "unknown", kind };
}

/** The person who merged it, if one of the team's did. */
export function mergerOf(ledger: BoardLedger, pr: PrRow): string | undefined {
  return personOf(ledger.team, textOf(pr.fields, "merger_by") ?? "", textOf(pr.fields, "merged_by"));
}

/** Persons of the team whose review is asked for. */
export function reviewersOf(ledger: BoardLedger, pr: PrRow): string[] {
  const source = textOf(pr.fields, "requested_by") ?? "";
  const found = requestedOf(pr.fields).flatMap((name) => personOf(ledger.team, source, name) ?? []);
  return [...new Set(found)];
}

/** Open review threads. One whose comments were all taken away is none. */
export function openThreads(ledger: BoardLedger, pr: string): number {
  return (
    ledger.db.one<{ n: number }>(
      `SELECT count(*) AS n FROM threads t WHERE t.pr = ?1 AND t.resolved = 0
         AND coalesce((SELECT min(c.deleted) FROM comments c WHERE c.ref = ?1 AND c.thread = t.id), 0) = 0`,
      pr,
    )?.n ?? 0
  );
}

/** Whose verdicts count, and whether it can be merged (PIPE-5). */
export function verdictOf(ledger: BoardLedger, pr: PrRow): Verdict {
  const author = authorOf(ledger, pr);
  const facts: MergeFacts = {
    state: pr.state,
    draft: pr.draft === 1,
    ...(pr.head_sha ? { headSha: pr.head_sha } : {}),
    headAt: pr.fields["head_sha"]?.at ?? 0,
    reviews: reviewsOf(ledger, pr).map((review) => ({ ...review, reviewer: review.who.key })),
    authors: [...(author ? [author.key] : []), ...(pr.made_by ? [`person:${pr.made_by}`] : [])],
    ci: ciOfHead(ledger, pr),
    checked: ledger.db.one("SELECT 1 FROM checks WHERE repo = ? LIMIT 1", pr.repo) !== undefined,
    mergeable: mergeableOf(pr.fields),
    openThreads: openThreads(ledger, pr.key),
  };
  return mergeVerdict(facts, ledger.team.policies.merge);
}

/** The open pull request that this one is stacked on: whose branch it goes into. */
export function stackedOn(ledger: BoardLedger, pr: PrRow): PrRow | undefined {
  if (!pr.base) return undefined;
  return prRows(
    ledger,
    "repo = ? AND head = ? AND state = 'open' AND key <> ? ORDER BY updated_at DESC LIMIT 1",
    pr.repo,
    pr.base,
    pr.key,
  )[0];
}

/** Open pull requests that are stacked on this one. */
export function stackedBy(ledger: BoardLedger, pr: PrRow): PrRow[] {
  if (!pr.head) return [];
  return prRows(
    ledger,
    "repo = ? AND base = ? AND state = 'open' AND key <> ? ORDER BY number LIMIT 100",
    pr.repo,
    pr.head,
    pr.key,
  );
}

/** Writes down the files that a pull request changes, as read at its host for a head (WORK-5). */
export function setFiles(ledger: BoardLedger, pr: string, sha: string, paths: readonly string[]): void {
  ledger.db.run("DELETE FROM pr_files WHERE pr = ?", pr);
  for (const path of new Set(paths))
    ledger.db.run("INSERT INTO pr_files (pr, path, sha) VALUES (?, ?, ?)", pr, path, sha);
}

/** Files that both change, as far as they were read. */
export function overlap(ledger: BoardLedger, a: string, b: string, most: number): string[] {
  return ledger.db
    .all<{ path: string }>(
      `SELECT x.path FROM pr_files x JOIN pr_files y ON y.pr = ? AND y.path = x.path
         WHERE x.pr = ? ORDER BY x.path LIMIT ?`,
      b,
      a,
      most,
    )
    .map((row) => row.path);
}

/** Pull requests of a ticket, the newest first. */
export function prsOfTicket(ledger: BoardLedger, key: string): PrRow[] {
  return prRows(ledger, "ticket = ? ORDER BY created_at DESC, number DESC LIMIT 200", key);
}

/** A pull request by its name, whatever the case of owner and repository. */
export function anyCasePr(ledger: BoardLedger, key: string): PrRow | undefined {
  return prRow(ledger, key) ?? prRows(ledger, "lower(key) = ?", key.toLowerCase())[0];
}
