/** Puts an event into the board's state: every table is a join, so that the order of events is no matter (WORK-1). */
import { ticketCandidates } from "../../../../src/shared/rules/ticket-links.ts";
import {
  newerCheck,
  prGiven,
  prState,
  reviewGiven,
  textOf,
  ticketGiven,
} from "../../../../src/shared/rules/work-state.ts";
import type { WorkEvent } from "../../../../src/shared/wire/work.ts";
import type { BoardLedger } from "../ledger.ts";
import { docRow, merged, prKey, prRow, type StoredActor, ticketRow } from "./store.ts";

/**
 * @param at when it happened, ms, as {@link timeOf} believes it
 */
export function applyEvent(ledger: BoardLedger, event: WorkEvent, at: number): void {
  // A token's types bound what it may change (WORK-4): an event changes nothing but what its type is about.
  const about = event.type.slice(0, event.type.indexOf("."));
  if (about === "ticket") applyTicket(ledger, event, at);
  // What the board itself concluded of a pull request is nothing new about it.
  const concluded = event.source === "board" && event.type !== "pr.updated";
  if ((about === "pr" || about === "merge") && !concluded) {
    applyPr(ledger, event, at);
    applyReview(ledger, event, at);
    applyThread(ledger, event, at);
  }
  if (about === "doc") applyDoc(ledger, event, at);
  if (about === "check" && event.check) applyCheck(ledger, event.check, at);
  applyComment(ledger, event, at);
}

function applyTicket(ledger: BoardLedger, event: WorkEvent, at: number): void {
  if (!event.ticket) return;
  const { key } = event.ticket;
  const row = ticketRow(ledger, key);
  const fields = merged(row?.fields, ticketGiven(event), at);
  const columns = [
    JSON.stringify(fields),
    textOf(fields, "title") ?? null,
    textOf(fields, "url") ?? null,
    textOf(fields, "status") ?? null,
    textOf(fields, "assignee") ?? null,
    textOf(fields, "parent") ?? null,
  ];
  if (row) {
    ledger.db.run(
      `UPDATE tickets SET fields = ?, title = ?, url = ?, status = ?, assignee = ?, parent = ?,
         created_at = min(created_at, ?), updated_at = max(updated_at, ?) WHERE n = ?`,
      ...columns,
      at,
      at,
      row.n,
    );
    return;
  }
  ledger.db.run(
    `INSERT INTO tickets (fields, title, url, status, assignee, parent, key, created_at, updated_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ...columns,
    key,
    at,
    at,
  );
  // A pull request may have named it before it was known.
  for (const { pr } of ledger.db.all<{ pr: string }>("SELECT pr FROM pr_tickets WHERE key = ?", key))
    linkTicket(ledger, pr);
}

/** The first candidate that is a ticket (ITEM-4). */
function linkTicket(ledger: BoardLedger, pr: string): void {
  ledger.db.run(
    `UPDATE prs SET ticket = (SELECT p.key FROM pr_tickets p JOIN tickets t ON t.key = p.key
       WHERE p.pr = ?1 ORDER BY p.place LIMIT 1) WHERE key = ?1`,
    pr,
  );
}

function applyPr(ledger: BoardLedger, event: WorkEvent, at: number): void {
  const { pr } = event;
  if (!pr) return;
  const key = prKey(pr);
  const row = prRow(ledger, key);
  const fields = merged(row?.fields, prGiven(event), at);
  const columns = [
    JSON.stringify(fields),
    prState(fields),
    fields["draft"]?.v === true ? 1 : 0,
    textOf(fields, "author") ?? null,
    textOf(fields, "head") ?? null,
    textOf(fields, "head_sha") ?? null,
    textOf(fields, "base") ?? null,
    textOf(fields, "merge_sha") ?? null,
    at,
    at,
    ledger.now,
    key,
  ];
  if (!row)
    ledger.db.run(
      `INSERT INTO prs (key, repo, number, fields, state, draft, created_at, updated_at, read_at)
         VALUES (?, ?, ?, '{}', 'open', 0, ?, ?, ?)`,
      key,
      pr.repo,
      pr.number,
      at,
      at,
      ledger.now,
    );
  ledger.db.run(
    `UPDATE prs SET fields = ?, state = ?, draft = ?, author = ?, head = ?, head_sha = ?, base = ?, merge_sha = ?,
       created_at = min(created_at, ?), updated_at = max(updated_at, ?), read_at = ? WHERE key = ?`,
    ...columns,
  );
  const said = textOf(fields, "ticket");
  const named = ticketCandidates({
    head: textOf(fields, "head"),
    title: textOf(fields, "title"),
    body: textOf(fields, "body"),
    repo: pr.repo,
  });
  // What whoever opened it says of it counts where nothing of its own does.
  const candidates = [...new Set([...named, ...(said === undefined ? [] : [said])])];
  const before = ledger.db
    .all<{ key: string }>("SELECT key FROM pr_tickets WHERE pr = ? ORDER BY place", key)
    .map((c) => c.key);
  if (JSON.stringify(before) === JSON.stringify(candidates)) return;
  ledger.db.run("DELETE FROM pr_tickets WHERE pr = ?", key);
  for (const [place, ticket] of candidates.entries())
    ledger.db.run("INSERT INTO pr_tickets (pr, place, key) VALUES (?, ?, ?)", key, place, ticket);
  linkTicket(ledger, key);
}

function applyDoc(ledger: BoardLedger, event: WorkEvent, at: number): void {
  const { doc } = event;
  if (!doc) return;
  const fields = merged(
    docRow(ledger, doc.id)?.fields,
    { title: doc.title, url: doc.url, ticket: doc.ticket },
    at,
  );
  ledger.db.run(
    `INSERT INTO docs (id, fields, ticket, at) VALUES (?1, ?2, ?3, ?4)
       ON CONFLICT (id) DO UPDATE SET fields = ?2, ticket = ?3, at = max(at, ?4)`,
    doc.id,
    JSON.stringify(fields),
    textOf(fields, "ticket") ?? null,
    at,
  );
}

function applyCheck(ledger: BoardLedger, check: NonNullable<WorkEvent["check"]>, at: number): void {
  const at4 = [check.repo, check.sha, check.app, check.name] as const;
  const have = ledger.db.one<{ run: string | null; at: number; status: typeof check.status }>(
    "SELECT run, at, status FROM checks WHERE repo = ? AND sha = ? AND app = ? AND name = ?",
    ...at4,
  );
  const given = { run: check.run ?? null, at, status: check.status };
  if (have && !newerCheck(have, given)) return;
  ledger.db.run(
    `INSERT OR REPLACE INTO checks (repo, sha, app, name, run, at, status, url, summary)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ...at4,
    given.run,
    at,
    given.status,
    check.url ?? null,
    check.summary ?? null,
  );
}

const actorOf = (event: WorkEvent): string =>
  JSON.stringify({ ...event.actor, source: event.source } satisfies StoredActor);

function applyReview(ledger: BoardLedger, event: WorkEvent, at: number): void {
  const { review, pr } = event;
  if (!review || !pr) return;
  const key = prKey(pr);
  const row = ledger.db.one<{ fields: string; at: number }>(
    "SELECT fields, at FROM reviews WHERE pr = ? AND id = ?",
    key,
    review.id,
  );
  const fields = merged(row ? JSON.parse(row.fields) : undefined, reviewGiven(review, pr.head_sha), at);
  // Who wrote it is who spoke first: whoever dismisses or edits it later has not written it.
  const by = fields["by"];
  if (review.state !== "dismissed" && (!by || at < by.at)) fields["by"] = { v: actorOf(event), at };
  // Of one that is only known as dismissed, the first to have done so stands for its writer.
  const first = fields["dismisser"];
  if (review.state === "dismissed" && (!first || at < first.at))
    fields["dismisser"] = { v: actorOf(event), at };
  ledger.db.run(
    `INSERT INTO reviews (pr, id, at, actor, fields) VALUES (?1, ?2, ?3, ?4, ?5)
       ON CONFLICT (pr, id) DO UPDATE SET fields = ?5, at = min(at, ?3), actor = ?4`,
    key,
    review.id,
    at,
    textOf(fields, "by") ?? textOf(fields, "dismisser") ?? actorOf(event),
    JSON.stringify(fields),
  );
}

const SAYS = new Set(["pr.commented", "pr.inline_commented", "ticket.commented", "doc.commented"]);

/** What a comment is on: what its event's type is about. */
export function commentTarget(event: WorkEvent): { type: "ticket" | "pr" | "doc"; ref: string } | undefined {
  if (!SAYS.has(event.type) && event.comment?.deleted !== true) return undefined;
  if (event.type.startsWith("pr.")) return event.pr && { type: "pr", ref: prKey(event.pr) };
  if (event.type.startsWith("ticket.")) return event.ticket && { type: "ticket", ref: event.ticket.key };
  return event.type.startsWith("doc.") && event.doc ? { type: "doc", ref: event.doc.id } : undefined;
}

/** The review thread of an inline comment: its own, else the one of the comment that it answers, else a new one. */
export const threadOf = (comment: NonNullable<WorkEvent["comment"]>): string =>
  comment.thread ?? comment.reply_to ?? comment.id;

function applyComment(ledger: BoardLedger, event: WorkEvent, at: number): void {
  const { comment } = event;
  const target = commentTarget(event);
  if (!comment || !target) return;
  const inline = event.type === "pr.inline_commented";
  const row = ledger.db.one<{ fields: string; at: number }>(
    "SELECT fields, at FROM comments WHERE type = ? AND ref = ? AND id = ?",
    target.type,
    target.ref,
    comment.id,
  );
  const { body, url, path, line, reply_to, anchor, review, deleted } = comment;
  const fields = merged(
    row ? JSON.parse(row.fields) : undefined,
    { body, url, path, line: line ?? undefined, reply_to, anchor, review, deleted },
    at,
  );
  // Taken away is for good, and its words go with it, whichever of the two events comes first.
  if (fields["deleted"]) {
    fields["body"] = { v: "", at: fields["deleted"].at };
    forget(ledger, target, comment.id);
  }
  ledger.db.run(
    `INSERT INTO comments (type, ref, id, at, actor, thread, deleted, fields) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
       ON CONFLICT (type, ref, id) DO UPDATE SET actor = CASE WHEN ?4 < at THEN ?5 ELSE actor END,
         at = min(at, ?4), thread = coalesce(?6, thread), deleted = ?7, fields = ?8`,
    target.type,
    target.ref,
    comment.id,
    at,
    actorOf(event),
    inline ? threadOf(comment) : (comment.thread ?? null),
    fields["deleted"] ? 1 : 0,
    JSON.stringify(fields),
  );
  if (inline)
    ledger.db.run(
      "INSERT OR IGNORE INTO threads (pr, id, resolved, resolved_at) VALUES (?, ?, 0, -1)",
      target.ref,
      threadOf(comment),
    );
}

/** Takes a comment's words out of the events that brought them. */
function forget(ledger: BoardLedger, { type, ref }: { type: string; ref: string }, id: string): void {
  ledger.db.run(
    `UPDATE events SET event = json_set(event, '$.comment.body', '') WHERE n IN (
       SELECT n FROM event_refs WHERE type = ? AND ref = ?) AND json_extract(event, '$.comment.id') = ?`,
    type,
    ref,
    id,
  );
}

function applyThread(ledger: BoardLedger, event: WorkEvent, at: number): void {
  const resolved = event.type === "pr.thread_resolved";
  if (!event.pr || (!resolved && event.type !== "pr.thread_unresolved")) return;
  const id = event.thread?.id ?? (event.comment && threadOf(event.comment));
  if (id === undefined) return;
  ledger.db.run(
    `INSERT INTO threads (pr, id, resolved, resolved_at, host) VALUES (?1, ?2, ?3, ?4, ?5)
       ON CONFLICT (pr, id) DO UPDATE SET host = coalesce(?5, host),
         resolved = CASE WHEN ?4 >= resolved_at THEN ?3 ELSE resolved END, resolved_at = max(resolved_at, ?4)`,
    prKey(event.pr),
    id,
    resolved ? 1 : 0,
    at,
    event.thread?.host ?? null,
  );
}
