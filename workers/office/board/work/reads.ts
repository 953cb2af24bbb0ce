/** What agents ask of pull requests, tickets and their own work (ITEM-4). */
import { firstThatFit, MOST_ANSWER } from "../../../../src/shared/rules/frame-fit.ts";
import { firstBytes, firstCodePoints } from "../../../../src/shared/rules/text.ts";
import { linkedTicket, ticketCandidates } from "../../../../src/shared/rules/ticket-links.ts";
import { isOpen, mergeableOf, textOf, verdicts } from "../../../../src/shared/rules/work-state.ts";
import type { AgentPayload } from "../../../../src/shared/wire/agent/index.ts";
import type { TicketStatus } from "../../../../src/shared/wire/agent/ops.ts";
import { notFound } from "../../../kit/result.ts";
import type { BoardLedger } from "../ledger.ts";
import { assigneeOf } from "./facts.ts";
import { ciOfHead, openThreads, prAuthor, prOwner, prsOfTicket, reviewsOf, verdictOf } from "./prs.ts";
import { type PrRow, prRows, ticketRow, ticketRows } from "./store.ts";

const MOST_PRS = 100;
/** What a list of pull requests may take of a frame (OFF-1). */
const PRS_BYTES = MOST_ANSWER - 1024;
/** Finished pull requests that are looked through. */
const FINISHED = 1000;
const CURRENT_BYTES = 16_384;
const iso = (ms: number): string => new Date(ms).toISOString();
const titled = (pr: PrRow): string => textOf(pr.fields, "title") ?? pr.key;
const linked = (pr: PrRow): { url?: string } => {
  const url = textOf(pr.fields, "url");
  return url === undefined ? {} : { url };
};

/** The ticket that a pull request about to be opened would link to, and what that ticket has already (WORK-6). */
export function ticketPrs(
  ledger: BoardLedger,
  asked: AgentPayload<"ticket_prs">,
): AgentPayload<"ticket_prs_result"> {
  const candidates = ticketCandidates({ head: asked.headRef, title: asked.title, body: asked.body });
  const key = linkedTicket(candidates, (one) => ticketRow(ledger, one) !== undefined);
  if (key === undefined) return { prs: [] };
  const status = ticketRow(ledger, key)?.status;
  return {
    ticket: key,
    ...(status ? { status: status as TicketStatus } : {}),
    prs: firstThatFit(
      prsOfTicket(ledger, key).map((pr) => ({
        ref: pr.key,
        number: pr.number,
        title: titled(pr),
        ...linked(pr),
        state: pr.state,
        authorKind: prAuthor(ledger, pr).kind,
      })),
      PRS_BYTES,
    ),
  };
}

/** State of the latest submitted review: a verdict before a comment. */
export function lastReview(ledger: BoardLedger, pr: PrRow): { review?: string } {
  const reviews = reviewsOf(ledger, pr).filter((r) => r.who.trusted);
  const latest = [...verdicts(reviews.map((r) => ({ ...r, reviewer: r.who.key }))).values()];
  const last = latest.toSorted((a, b) => a.at - b.at).at(-1) ?? reviews.at(-1);
  return last ? { review: last.state } : {};
}

/** Pull requests as the board has them: open ones first, newest first, then the last finished (ITEM-4). */
export function prList(ledger: BoardLedger, asked: AgentPayload<"pr_list">): AgentPayload<"pr_list_result"> {
  const limit = Math.max(1, Math.min(asked.limit, MOST_PRS));
  const ticket = asked.ticket === undefined ? undefined : (ticketRow(ledger, asked.ticket)?.key ?? "");
  if (ticket === "") notFound("ticket");
  const open = prRows(ledger, "state = 'open' ORDER BY created_at DESC, key DESC LIMIT 2000");
  const finished = prRows(ledger, "state <> 'open' ORDER BY updated_at DESC, key DESC LIMIT ?", FINISHED);
  const author = asked.author?.toLowerCase().replace(/^@/, "");
  const fits = [...open, ...finished].filter((pr) => {
    if (asked.state !== "all" && pr.state !== asked.state) return false;
    if (ticket !== undefined && pr.ticket !== ticket) return false;
    if (asked.repo !== undefined && pr.repo.toLowerCase() !== asked.repo.toLowerCase()) return false;
    if (author === undefined) return true;
    return [prOwner(ledger, pr), pr.author].some((name) => name?.toLowerCase() === author);
  });
  const prs = firstThatFit(
    fits.slice(0, limit).map((pr) => ({
      ref: pr.key,
      number: pr.number,
      title: titled(pr),
      ...linked(pr),
      state: pr.state,
      draft: pr.draft === 1,
      author: prAuthor(ledger, pr).name,
      ci: ciOfHead(ledger, pr),
      mergeable: mergeableOf(pr.fields),
      ...lastReview(ledger, pr),
      unresolvedThreads: openThreads(ledger, pr.key),
      ...(pr.ticket === null ? {} : { ticket: pr.ticket }),
      updatedAt: iso(pr.read_at),
    })),
    PRS_BYTES,
  );
  return { prs, more: fits.length - prs.length };
}

/** One line, of text that others wrote. */
const short = (text: string): string => firstCodePoints(text.replace(/\s+/gu, " ").trim(), 200);

/** The caller's open tickets and pull requests as text, at most 16 KiB (ITEM-4). */
export function currentWork(ledger: BoardLedger, handle: string): AgentPayload<"current_work_result"> {
  const names = [
    handle,
    ...Object.values(ledger.team.people.find((p) => p.handle === handle)?.identities ?? {}),
  ];
  const marks = names.map(() => "?").join(", ");
  const tickets = ticketRows(
    ledger,
    `assignee COLLATE NOCASE IN (${marks}) ORDER BY updated_at DESC, n DESC LIMIT 500`,
    ...names,
  ).filter((row) => isOpen(row.status) && assigneeOf(ledger, row) === handle);
  const prs = prRows(ledger, "state = 'open' ORDER BY updated_at DESC, key LIMIT 2000").filter(
    (pr) => prOwner(ledger, pr) === handle,
  );
  const lines = [
    tickets.length > 0 ? "Open tickets assigned to you:" : "No open ticket is assigned to you.",
    ...tickets.map(
      (row) =>
        `- ${row.key} [${row.status ?? "unknown"}] ${short(row.title ?? "")}${row.url ? ` ${row.url}` : ""}`,
    ),
    prs.length > 0 ? "Your open pull requests:" : "You have no open pull request.",
    ...prs.map((pr) => prLine(ledger, pr)),
  ];
  return { text: fitted(lines) };
}

function prLine(ledger: BoardLedger, pr: PrRow): string {
  const { approvedBy, changesRequestedBy } = verdictOf(ledger, pr);
  const threads = openThreads(ledger, pr.key);
  const state = [
    pr.draft === 1 ? "draft" : "open",
    `checks: ${ciOfHead(ledger, pr)}`,
    ...(changesRequestedBy.length > 0 ? ["changes are asked for"] : []),
    ...(approvedBy.length > 0 ? [`approved by ${approvedBy.map(short).join(", ")}`] : []),
    ...(threads > 0 ? [`${threads} open threads`] : []),
    ...(mergeableOf(pr.fields) === "conflicting" ? ["conflicts with its base"] : []),
  ];
  const { url } = linked(pr);
  const ticket = pr.ticket === null ? "" : ` for ${pr.ticket}`;
  return `- ${pr.key}${ticket} [${state.join("; ")}] ${short(titled(pr))}${url === undefined ? "" : ` ${url}`}`;
}

/** As many whole lines as fit; the last says how many do not. */
function fitted(lines: readonly string[]): string {
  const kept: string[] = [];
  let bytes = 0;
  for (const line of lines) {
    bytes += new TextEncoder().encode(line).length + 1;
    if (bytes > CURRENT_BYTES - 40) break;
    kept.push(line);
  }
  const left = lines.length - kept.length;
  return firstBytes([...kept, ...(left > 0 ? [`… and ${left} more lines`] : [])].join("\n"), CURRENT_BYTES);
}
