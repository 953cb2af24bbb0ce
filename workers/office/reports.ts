/**
 * How an item ended, told to who asked by the agent itself (REPORT-1 to REPORT-3). An ending is a row from the
 * hand-back until it was told; the office queues what the agent did not ask to post, or may have lost in posting.
 */
import {
  type EndingKind,
  hasPlace,
  OWN_REPORT_MS,
  type ReportState,
  resendAfter,
} from "../../src/shared/rules/reports.ts";
import { byteLength, firstCodePoints } from "../../src/shared/rules/text.ts";
import { type Link, MAX_FRAME_BYTES, type Report } from "../../src/shared/wire/agent/index.ts";
import type { Db } from "../kit/db.ts";
import type { Desk } from "./desk.ts";
import type { Requester, Thread } from "./letters.ts";
import { item as itemRow, originOf, requesterOf } from "./store/items.ts";
import { refsOf, threadsOf } from "./store/parts.ts";
import type { Part } from "./turns.ts";

export interface EndingRow {
  n: number;
  item: string;
  kind: EndingKind;
  text: string;
  at: number;
  /** JSON `Place`: where it would have gone at its time, for when the item is no longer here. */
  place: string;
  state: ReportState;
  /** The frame of the `chat_report` that was granted. */
  frame: string | null;
  /** The id under which it is queued. */
  report: string | null;
  sent: number;
  due_at: number | null;
}

/** Where an item's reports go now. */
export interface Place {
  requester?: string;
  human?: boolean;
  links: Link[];
  threads: Thread[];
}

const ALARM = "reports";
const MOST_LINKS = 100;
const MOST_THREADS = 100;
/** The frame around a list of reports. */
const AROUND = 1000;

/** Where an item's end is told now (REPORT-3); undefined when the item is not here. */
export function placeOf(db: Db, id: string): Place | undefined {
  const row = itemRow(db, id);
  if (!row) return undefined;
  const origin = originOf(row);
  const asked: Pick<Requester, "id" | "kind"> | undefined =
    requesterOf(row) ?? (origin && { id: origin.requester.id, kind: "human" });
  const links = refsOf(db, id)
    .filter(
      ({ type, role }) => (type === "ticket" || type === "pr") && role !== "linked" && role !== "mentioned",
    )
    .flatMap(({ url, title, ref }) =>
      url === undefined || url.length > 2000 ? [] : [{ url, title: firstCodePoints(title ?? ref, 200) }],
    );
  return {
    ...(asked === undefined ? {} : { requester: asked.id, human: asked.kind === "human" }),
    links: links.slice(0, MOST_LINKS),
    threads: threadsOf(db, id).slice(0, MOST_THREADS),
  };
}

/** What a report and the answer to `chat_report` say of where it goes. */
export function whereTo({ requester, human, links, threads }: Place, kind: EndingKind | "ack") {
  return {
    ...(requester === undefined || !human ? {} : { requester }),
    links,
    ...(threads.length > 0 ? { threads } : {}),
    ...(threads.length === 0 && kind === "blocked" && human && requester !== undefined
      ? { direct: requester }
      : {}),
  };
}

/** An item's round ended in a way that who asked is told (REPORT-1). Nobody to tell: nothing is kept. */
export function noteEnding(desk: Desk, item: string, kind: EndingKind, text: string): void {
  const place = placeOf(desk.db, item);
  if (!place || !hasPlace(kind, { threads: place.threads.length, human: place.human ?? false })) return;
  desk.db.run(
    "INSERT INTO endings (item, kind, text, at, place, state) VALUES (?, ?, ?, ?, ?, 'open')",
    item,
    kind,
    text,
    desk.now,
    JSON.stringify(place),
  );
  desk.alarm(ALARM, desk.now + OWN_REPORT_MS);
}

/** The newest ending of an item that was ever to be told. */
export function endingOf(db: Db, item: string): EndingRow | undefined {
  return db.one<EndingRow>("SELECT * FROM endings WHERE item = ? ORDER BY n DESC LIMIT 1", item);
}

/** An ending that the agent may post itself now. */
export function grantEnding(desk: Desk, n: number, frame: string): void {
  desk.db.run("UPDATE endings SET state = 'granted', frame = ? WHERE n = ?", frame, n);
}

/** The agent posted what was queued; false when there is no such report of the item. */
export function reportPosted(desk: Desk, item: string, report: string): boolean {
  const row = desk.db.one<EndingRow>("SELECT * FROM endings WHERE item = ? AND report = ?", item, report);
  if (row?.state === "queued") tellDone(desk, row.n);
  return row !== undefined;
}

/** Its words are the journal's and the round's; here they are needed no longer. */
function tellDone(desk: Desk, n: number): void {
  desk.db.run("UPDATE endings SET state = 'told', text = '', place = '{}', due_at = NULL WHERE n = ?", n);
}

/** The office takes an ending's report over: from now on it asks the agent to post it. */
function queue(desk: Desk, row: EndingRow): void {
  // The grant's frame id lets the agent see that it posted this already (REPORT-2).
  const taken =
    row.frame !== null &&
    desk.db.one("SELECT 1 FROM endings WHERE item = ? AND report = ?", row.item, row.frame) !== undefined;
  const report = row.frame !== null && !taken ? row.frame : desk.clock.mint("rpt");
  desk.db.run(
    "UPDATE endings SET state = 'queued', report = ?, due_at = ? WHERE n = ?",
    report,
    desk.now,
    row.n,
  );
}

/** Queues what nobody asked to post within a minute (REPORT-2); what is due is sent at the end of the work. */
export function reportsAlarm(desk: Desk): void {
  for (const row of inState(desk.db, "open"))
    if (row.at + OWN_REPORT_MS <= desk.now) queue(desk, row);
    else desk.alarm(ALARM, row.at + OWN_REPORT_MS);
}

function inState(db: Db, state: ReportState): EndingRow[] {
  return db.all<EndingRow>("SELECT * FROM endings WHERE state = ? ORDER BY n LIMIT 200", state);
}
function due(desk: Desk): EndingRow[] {
  return desk.db.all<EndingRow>(
    "SELECT * FROM endings WHERE state = 'queued' AND due_at <= ? ORDER BY n LIMIT 50",
    desk.now,
  );
}

/** Whether anything is to be told. */
export function hasEndings(db: Db): boolean {
  return db.one("SELECT 1 FROM endings WHERE state IN ('open', 'granted', 'queued') LIMIT 1") !== undefined;
}

/** The office's own agent posts what is to be told, through the room and at once: the letter arrives once (REPORT-2). */
export function tellAll(desk: Desk): void {
  for (const row of [
    ...inState(desk.db, "open"),
    ...inState(desk.db, "granted"),
    ...inState(desk.db, "queued"),
  ]) {
    const report = reportOf(desk.db, { ...row, report: row.report ?? desk.clock.mint("rpt") });
    desk.toRoom("say", { handle: desk.handle, report });
    tellDone(desk, row.n);
  }
}

function reportOf(db: Db, row: EndingRow): Report {
  const place = placeOf(db, row.item) ?? (JSON.parse(row.place) as Place);
  return {
    id: row.report ?? "",
    workItemId: row.item,
    kind: row.kind,
    text: row.text,
    ...whereTo(place, row.kind),
  };
}

/** As many of these as fit, the oldest first, each marked as sent. */
function send(desk: Desk, rows: readonly EndingRow[], room: number, anew: boolean): Report[] {
  const reports: Report[] = [];
  let left = room;
  for (const row of rows) {
    const report = reportOf(desk.db, row);
    left -= byteLength(JSON.stringify(report)) + 1;
    if (left < 0) break;
    reports.push(report);
    const sent = anew ? 1 : row.sent + 1;
    const again = desk.now + resendAfter(sent);
    desk.db.run("UPDATE endings SET sent = ?, due_at = ? WHERE n = ?", sent, again, row.n);
    desk.alarm(ALARM, again);
  }
  return reports;
}

/** REPORT-2, at the turns of a connection. */
export const REPORTS: Part = {
  welcomed(desk, room) {
    const reports = send(desk, inState(desk.db, "queued"), room - AROUND, true);
    return reports.length === 0 ? {} : { reports };
  },
  /** The agent went on: what it was told to post counts as posted. */
  heard(desk) {
    for (const { n } of inState(desk.db, "granted")) tellDone(desk, n);
  },
  /** Whether it posted is not known, and it will not ask to. */
  ended(desk) {
    for (const row of [...inState(desk.db, "granted"), ...inState(desk.db, "open")]) queue(desk, row);
  },
  after(desk) {
    if (!desk.connection) return;
    for (;;) {
      const reports = send(desk, due(desk), MAX_FRAME_BYTES - AROUND, false);
      if (reports.length === 0) return;
      desk.tell("reports", { reports });
    }
  },
};
