/** The rounds of an item as the agent lives them: accept to hand-back (OFFER, ITEM-1, OFF-8). */
import { instantOf } from "../../../src/shared/rules/instants.ts";
import { endsWithout } from "../../../src/shared/rules/item-states.ts";
import { declineWaitMs, MAX_DECLINES } from "../../../src/shared/rules/queue.ts";
import { byteLength, codePoints, firstBytes, firstCodePoints } from "../../../src/shared/rules/text.ts";
import type { AgentPayload } from "../../../src/shared/wire/agent/index.ts";
import { CALLS } from "../calls.ts";
import type { Desk, Look } from "../desk.ts";
import { AgentRefused, type FrameOf } from "../handler.ts";
import type { ItemRef } from "../letters.ts";
import { noteOwn } from "../moments.ts";
import { takeEnding } from "../queue/ends.ts";
import { type OfferRow, offerOf } from "../queue/offer.ts";
import { endRound, moveTo, startRun } from "../queue/states.ts";
import { itemEvent, note, noteRefs, tellHumans } from "../queue/tell.ts";
import { noteEnding } from "../reports.ts";
import { change, type ItemRow, item } from "../store/items.ts";
import { addJournal, latestLine, refsOf, wasSaid } from "../store/parts.ts";
import { changeRound, round } from "../store/rounds.ts";
import { claimSession } from "../usage.ts";
import { ownItem, runningItem } from "./own.ts";

type Ack = Record<string, never>;
const ACK: Ack = {};

const MAX_PROGRESS = 500;
const MAX_LINE_BYTES = 16_384;
const MAX_REASON_BYTES = 4096;
const MAX_SUMMARY_BYTES = 65_536;
const MAX_LINKS = 200;
const MAX_URL = 2000;
const MAX_NAME = 200;
const MAX_TITLE = 500;

/** Refuses what is over a limit (ITEM-1). */
function within(what: string, text: string, most: number, unit: "bytes" | "characters"): void {
  const size = unit === "bytes" ? byteLength(text) : codePoints(text);
  if (size > most)
    throw new AgentRefused("invalid", `${what} has ${size} ${unit}; ${most} are taken. Make it shorter.`);
}

/** Takes an offered item (OFFER-1). */
export function accept(desk: Desk, { workItemId, runtime, model }: AgentPayload<"accept">): Ack {
  within("runtime", runtime, MAX_NAME, "characters");
  within("model", model, MAX_NAME, "characters");
  const row = ownItem(desk, workItemId);
  if (row.state === "active") return ACK;
  const offer = offerOf(desk.db, row.id);
  if (!offer) {
    if (round(desk.db, row.id, row.round)?.accepted_at) return ACK;
    const why = row.state === "canceled" && row.why ? ` (${row.why})` : "";
    throw new AgentRefused("invalid", `No offer of this item is out: it is ${row.state}${why}. Drop it.`);
  }
  const feedback = JSON.parse(offer.feedback) as number[];
  changeRound(desk.db, row.id, row.round, {
    accepted_at: desk.now,
    accepted_on: desk.connection?.id ?? null,
    touched_on: desk.connection?.id ?? null,
    runtime,
    model,
  });
  for (const n of feedback) desk.db.run("UPDATE feedback SET round = ? WHERE n = ?", row.round, n);
  const taken = moveTo(desk, row.id, "active", { by: desk.handle, mover: "agent", why: "accepted" });
  change(desk.db, row.id, { signed_at: desk.now, progress: null, progress_at: null, held: 0 });
  desk.alarm("stuck", desk.now + desk.team.policies.stuck_minutes * 60_000);
  const of = round(desk.db, row.id, row.round);
  if (of) {
    startRun(desk, taken, of);
    itemEvent(desk, "item.accepted", taken, of);
  }
  return ACK;
}

/** Gives an offered item back to its place, for a while (OFFER-3). */
export function decline(desk: Desk, { workItemId, reason }: AgentPayload<"decline">): Ack {
  within("reason", reason, MAX_REASON_BYTES, "bytes");
  const row = ownItem(desk, workItemId);
  const offer = offerOf(desk.db, row.id);
  if (offer) {
    declineOffer(desk, row, reason);
    return ACK;
  }
  // What is no longer its it may give back in any way (OFFER-7).
  if (row.held === 1) {
    change(desk.db, row.id, { held: 0 }, { quietly: true });
    return ACK;
  }
  if (row.state !== "active" && wasDeclined(desk, row)) return ACK;
  throw new AgentRefused(
    "invalid",
    row.state === "active"
      ? "This item was accepted. Hand it back as blocked, waiting or interrupted instead."
      : "No offer of this item is out.",
  );
}

function wasDeclined(desk: Desk, row: ItemRow): boolean {
  const last = desk.db.one<{ why: string; by: string }>(
    "SELECT why, by FROM history WHERE item = ? ORDER BY n DESC LIMIT 1",
    row.id,
  );
  return row.declines > 0 || (last?.by === desk.handle && last.why.startsWith("declined"));
}

/** An offer was declined: the fifth time in a row the item is blocked, with the reasons (OFFER-3). */
export function declineOffer(desk: Desk, row: ItemRow, reason: string): void {
  const { db, handle } = desk;
  const line = reason.replace(/\s+/g, " ").trim() || "no reason given";
  const declines = row.declines + 1;
  db.run("DELETE FROM offers WHERE item = ?", row.id);
  note(desk, row.id, { by: handle, was: "queued", became: "queued", why: `declined: ${line}` });
  if (declines < MAX_DECLINES) {
    const due = desk.now + declineWaitMs(declines);
    change(db, row.id, { declines, not_before: due });
    desk.alarm("offer", due);
    return;
  }
  const reasons = db
    .all<{ why: string }>(
      "SELECT why FROM history WHERE item = ? AND by = ? AND why LIKE 'declined: %' ORDER BY n DESC LIMIT ?",
      row.id,
      handle,
      MAX_DECLINES,
    )
    .map(({ why }) => why.slice("declined: ".length))
    .toReversed();
  const why = `declined ${MAX_DECLINES} times: ${[...new Set(reasons)].join("; ")}`;
  endRound(desk, row, "blocked");
  moveTo(desk, row.id, "blocked", { by: handle, mover: "agent", why });
  addJournal(db, { item: row.id, round: row.round, at: desk.now, author: "office", text: why });
  noteEnding(desk, row.id, "blocked", why);
  tellHumans(desk, `declined ${row.id} ${row.round}`, row.id, `${handle} ${why} ("${row.title}").`);
}

/** A sign of work on a running item (OFF-10, OFFER-5). */
function signOf(desk: Desk, row: ItemRow, columns: Parameters<typeof change>[2] = {}): void {
  change(desk.db, row.id, { signed_at: desk.now, ...columns }, { quietly: true });
  if (desk.connection) changeRound(desk.db, row.id, row.round, { touched_on: desk.connection.id });
  desk.alarm("stuck", desk.now + desk.team.policies.stuck_minutes * 60_000);
}

/** A line on how it goes; the last is kept (ITEM-1). */
export function progress(desk: Desk, { workItemId, text }: AgentPayload<"progress">, frame: FrameOf): Ack {
  within("A progress line", text, MAX_PROGRESS, "characters");
  const row = runningItem(desk, workItemId);
  const repeated = wasSaid(desk.db, row.id, "progress", frame) || row.progress === text;
  if (repeated) return ACK;
  signOf(desk, row, { progress: text, progress_at: desk.now });
  const runId = round(desk.db, row.id, row.round)?.run_id;
  if (runId) desk.toRoom("run_step", { runId, text });
  desk.changed(row.id);
  return ACK;
}

/** A line of the journal, kept for later rounds (ITEM-1). */
export function journal(desk: Desk, { workItemId, text }: AgentPayload<"journal">, frame: FrameOf): Ack {
  within("A journal line", text, MAX_LINE_BYTES, "bytes");
  const row = runningItem(desk, workItemId);
  const repeated =
    wasSaid(desk.db, row.id, "journal", frame) || latestLine(desk.db, row.id, desk.handle)?.text === text;
  if (repeated) return ACK;
  signOf(desk, row);
  const n = addJournal(desk.db, { item: row.id, round: row.round, at: desk.now, author: desk.handle, text });
  noteOwn(desk, row, "journal", `${row.id}/${n}`, text);
  return ACK;
}

/** The runtime's session of the item: its later rounds go on in it (OFFER-5). */
export function session(desk: Desk, { workItemId, sessionId, model }: AgentPayload<"session">): Ack {
  if (model !== undefined) within("model", model, MAX_NAME, "characters");
  const row = runningItem(desk, workItemId);
  claimSession(desk, row.id, sessionId);
  signOf(desk, row, { session_id: sessionId });
  if (model !== undefined) changeRound(desk.db, row.id, row.round, { session_model: model });
  return ACK;
}

const MAX_WINDOWS = 50;
/** The usage windows that the runtime sees (ITEM-1, USE-3): the board holds whoever shares the subscription. */
export function usage(desk: Desk, { windows }: AgentPayload<"usage">): Ack {
  if (windows.length > MAX_WINDOWS)
    throw new AgentRefused("invalid", `${MAX_WINDOWS} windows are taken. Report the ones that limit you.`);
  for (const { name, utilization, resetsAt } of windows) {
    within("A window's name", name, MAX_NAME, "characters");
    if (utilization < 0)
      throw new AgentRefused("invalid", "utilization is a part of the limit: 0 is none of it, 1 is all.");
    if (resetsAt !== undefined && instantOf(resetsAt) === undefined)
      throw new AgentRefused("invalid", "resetsAt is no time. Write it as ISO 8601.");
  }
  desk.toBoard("windows", { handle: desk.handle, at: desk.now, windows });
  return ACK;
}

/** Something was made in an item: it is recorded there, and told the board (ITEM-1). */
export function workMade(desk: Desk, { workItemId, ticket, pr }: AgentPayload<"work_made">): Ack {
  if (ticket === undefined && pr === undefined)
    throw new AgentRefused("invalid", "Say what was made: a ticket, a pull request, or both.");
  if (ticket !== undefined) within("ticket", ticket, 500, "characters");
  const repo = pr && `${pr.repo.owner}/${pr.repo.name}`;
  if (repo !== undefined && !/^(?!\.\.?\/)[\w.-]+\/(?!\.\.?$)[\w.-]+$/.test(repo))
    throw new AgentRefused("invalid", "repo has an owner and a name, of letters, digits, _, . and -.");
  if (pr && pr.number < 1) throw new AgentRefused("invalid", "A pull request's number is 1 or greater.");
  if (pr?.url !== undefined) within("url", pr.url, MAX_URL, "characters");
  const row = runningItem(desk, workItemId);
  const at = new Date(desk.now).toISOString();
  const refs: ItemRef[] = [];
  if (pr && repo !== undefined)
    refs.push({
      type: "pr",
      ref: `${repo}#${pr.number}`,
      role: "created",
      source: "work_made",
      addedAt: at,
      ...(pr.url !== undefined && { url: pr.url }),
    });
  if (ticket !== undefined)
    refs.push({
      type: "ticket",
      ref: ticket,
      role: pr ? "attached" : "created",
      source: "work_made",
      addedAt: at,
    });
  signOf(desk, row);
  noteRefs(desk, row.id, refs);
  desk.toBoard("made", {
    handle: desk.handle,
    item: row.id,
    at,
    ...(ticket === undefined ? {} : { ticket }),
    ...(pr && repo !== undefined
      ? { pr: { repo, number: pr.number, ...(pr.url === undefined ? {} : { url: pr.url }) } }
      : {}),
  });
  return ACK;
}

/** What the board knows that would be reviewed, where the agent named nothing (OFFER-6). */
export async function evidence(look: Look, asked: AgentPayload<"handback">): Promise<boolean> {
  const row = item(look.db, asked.workItemId);
  if (asked.status !== "done" || row?.state !== "active") return true;
  if (endsWithout(row.kind) || (asked.toReview ?? []).length > 0) return true;
  const refs = refsOf(look.db, row.id);
  if (refs.some(({ type, role }) => role === "created" && (type === "pr" || type === "doc"))) return true;
  if (refs.some(({ type, role }) => type === "doc" && role === "attached")) return true;
  for (const { type, ref, role } of refs) {
    if ((type !== "ticket" && type !== "pr") || role === "linked" || role === "mentioned") continue;
    // oxlint-disable-next-line no-await-in-loop -- the first that will do ends it
    const found = await CALLS.find(look.env, look.workspace, look.handle, ref);
    if (!found.ok) continue;
    const { open, subject } = found.value;
    if (type === "ticket" && !open) return true;
    if (type === "pr" && subject.own && subject.draft !== true && subject.state !== "closed") return true;
  }
  return false;
}

/** Ends the round (OFFER-6). */
export function handback(
  desk: Desk,
  { workItemId, summary, links, status, usage: used }: AgentPayload<"handback">,
  frame: FrameOf,
  reviewable: boolean,
): Ack {
  within("The summary", summary, MAX_SUMMARY_BYTES, "bytes");
  if (links.length > MAX_LINKS) throw new AgentRefused("invalid", `${MAX_LINKS} links are taken.`);
  for (const { url } of links) within("A link", url, MAX_URL, "characters");
  // A label is no reason to refuse the work.
  const labelled = links.map(({ url, title }) => ({
    url,
    ...(title === undefined ? {} : { title: firstCodePoints(title, MAX_TITLE) }),
  }));
  takeEnding(desk, { workItemId, status, text: summary, links: labelled, usage: used }, frame, reviewable);
  return ACK;
}

/** Ends the round: the agent could not do it (OFFER-6). */
export function fail(
  desk: Desk,
  { workItemId, reason, usage: used }: AgentPayload<"fail">,
  frame: FrameOf,
): Ack {
  within("reason", reason, MAX_REASON_BYTES, "bytes");
  takeEnding(desk, { workItemId, status: "failed", text: reason, links: [], usage: used }, frame, true);
  return ACK;
}

/** The agent's own `error` to an offer is a decline (OFF-4). */
export function offerErred(desk: Desk, replyTo: string, message: string): boolean {
  const offer = desk.db.one<OfferRow>("SELECT * FROM offers WHERE frame = ?", replyTo);
  const row = offer && item(desk.db, offer.item);
  if (!row) return false;
  declineOffer(desk, row, firstBytes(message, MAX_REASON_BYTES));
  return true;
}
