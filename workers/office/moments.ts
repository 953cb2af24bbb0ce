/**
 * What recall searches (RECALL-1): one row for each thing that happened to this person's work, with its text in a
 * full-text index. A row's number is its time, so that the index is read newest first and only as far as needed.
 */

import { excerptOf, MATCH_BEGINS, MATCH_ENDS } from "../../src/shared/rules/recall-query.ts";
import { firstCodePoints, isWellFormedText } from "../../src/shared/rules/text.ts";
import { foldName, namesOf } from "../../src/shared/rules/who.ts";
import type { AgentPayload } from "../../src/shared/wire/agent/index.ts";
import type { Team } from "../../src/shared/wire/team.ts";
import type { Db, SqlValue } from "../kit/db.ts";
import type { Desk } from "./desk.ts";
import type { OfficeLetters, Ref } from "./letters.ts";
import { type ItemRow, requesterOf } from "./store/items.ts";
import { refsOf } from "./store/parts.ts";

/** Something to remember. */
export interface Moment {
  /** The same id again is the same moment. */
  id: string;
  /** Milliseconds. */
  at: number;
  /** `item`, `journal`, `outcome`, or an event's type. */
  kind: string;
  text: string;
  /** The own item that it belongs to: what that refers to, the moment is about too. */
  item?: string;
  ref?: Ref;
  title?: string;
  url?: string;
  /** Who said or did it, as people read it. */
  who?: string;
  /** Their other names, for `with`. */
  whoIds?: readonly string[];
  /** A link to the moment itself. */
  link?: string;
}

/** Numbers for each millisecond. */
const EACH = 1024;
const LATEST_MS = Math.floor(Number.MAX_SAFE_INTEGER / EACH) - EACH;
const LONGEST_TEXT = 65_536;

/** Keeps a moment; one that is known, or has no words, changes nothing. */
export function noteMoment(desk: Desk, moment: Moment): void {
  const { db } = desk;
  const text = clean(firstCodePoints(moment.text, LONGEST_TEXT));
  if (text.trim() === "" || db.one("SELECT 1 FROM moments WHERE id = ?", moment.id)) return;
  const n = freeNumber(db, moment.at);
  db.run(
    "INSERT INTO moments (n, id, kind, item, type, ref, title, url, who, text, link) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    n,
    moment.id,
    moment.kind,
    moment.item ?? null,
    moment.ref?.type ?? null,
    moment.ref?.ref ?? null,
    moment.title === undefined ? null : firstCodePoints(moment.title, 500),
    moment.url ?? null,
    moment.who ?? null,
    text,
    moment.link ?? null,
  );
  db.run("INSERT INTO moments_text (rowid, text) VALUES (?, ?)", n, text);
  const names = [...(moment.who === undefined ? [] : [moment.who]), ...(moment.whoIds ?? [])].map(foldName);
  for (const name of new Set(names.filter((each) => each !== "")))
    db.run("INSERT INTO moment_people (name, n) VALUES (?, ?)", name, n);
}

/** An own item: what it is called and what was asked. */
export function noteItem(desk: Desk, row: ItemRow): void {
  const by = requesterOf(row);
  noteMoment(desk, {
    ...about(desk, row),
    id: `item:${row.id}`,
    at: row.created_at,
    kind: "item",
    text: row.body === null ? row.title : `${row.title}\n${row.body}`,
    ...(by === undefined ? {} : { who: by.name ?? by.id, whoIds: [by.id] }),
  });
}

/** What was written of an own item, by its agent unless `who` says otherwise: a line of its journal, or an outcome. */
export function noteOwn(
  desk: Desk,
  row: ItemRow,
  kind: "journal" | "outcome",
  id: string,
  text: string,
  who = desk.handle,
): void {
  noteMoment(desk, { ...about(desk, row), id: `${kind}:${id}`, at: desk.now, kind, text, who });
}

function about({ db }: Desk, row: ItemRow): Pick<Moment, "item" | "ref" | "title" | "url"> {
  if (row.subject_type === null || row.subject_ref === null) return { item: row.id };
  const ref: Ref = { type: row.subject_type as Ref["type"], ref: row.subject_ref };
  const known = refsOf(db, row.id).find((one) => one.type === ref.type && one.ref === ref.ref);
  return {
    item: row.id,
    ref,
    ...(known?.title === undefined ? {} : { title: known.title }),
    ...(known?.url === undefined ? {} : { url: known.url }),
  };
}

/** A chat's message may come from the agent and from the board, each with its own time. */
const SAME_MESSAGE_MS = 600_000;

/** An event about something of this person's items (letter `moment`). */
export function takeMoment(desk: Desk, body: OfficeLetters["moment"]): void {
  const at = Date.parse(body.at) || 0;
  const known =
    body.kind === "chat.message" &&
    desk.db.one(
      "SELECT 1 FROM moments WHERE ref = ? AND kind = 'chat.message' AND text = ? AND n BETWEEN ? AND ?",
      body.ref.ref,
      clean(body.text),
      Math.max(0, at - SAME_MESSAGE_MS) * EACH,
      (at + SAME_MESSAGE_MS) * EACH,
    );
  if (!known) noteMoment(desk, { ...body, at });
}

/** A room's message was edited or taken back: what recall finds of it follows (NEW-7). */
export function changeMessage(desk: Desk, { messageId, text }: OfficeLetters["message_changed"]): void {
  for (const { event } of desk.db.all<{ event: string }>(
    "SELECT DISTINCT event FROM feedback WHERE room_message = ?",
    messageId,
  ))
    changeMoment(desk, event, text);
}

/** What somebody changed or took back is found no more as it was (NEW-7); without a text it is gone. */
function changeMoment(desk: Desk, id: string, text: string | undefined): void {
  const { db } = desk;
  const row = db.one<{ n: number; text: string }>("SELECT n, text FROM moments WHERE id = ?", id);
  if (!row) return;
  db.run("INSERT INTO moments_text (moments_text, rowid, text) VALUES ('delete', ?, ?)", row.n, row.text);
  const changed = clean(firstCodePoints(text ?? "", LONGEST_TEXT));
  if (changed.trim() === "") {
    db.run("DELETE FROM moments WHERE n = ?", row.n);
    db.run("DELETE FROM moment_people WHERE n = ?", row.n);
    return;
  }
  db.run("UPDATE moments SET text = ? WHERE n = ?", changed, row.n);
  db.run("INSERT INTO moments_text (rowid, text) VALUES (?, ?)", row.n, changed);
}

function clean(text: string): string {
  return isWellFormedText(text) ? text : text.toWellFormed().replaceAll("\0", " ");
}

function freeNumber(db: Db, at: number): number {
  for (let ms = Math.max(0, Math.min(Math.floor(at), LATEST_MS)); ; ms++) {
    const first = ms * EACH;
    const last = db.one<{ n: number | null }>(
      "SELECT max(n) AS n FROM moments WHERE n >= ? AND n < ?",
      first,
      first + EACH,
    )?.n;
    const n = (last ?? first - 1) + 1;
    if (n < first + EACH) return n;
  }
}

/** What to look for; everything that is left out lets all pass. */
export interface RecallFilter {
  match?: string | undefined;
  with?: string | undefined;
  about?: Ref | undefined;
  /** Milliseconds. */
  since?: number | undefined;
  limit: number;
}
interface Row {
  n: number;
  kind: string;
  type: string | null;
  ref: string | null;
  title: string | null;
  url: string | null;
  who: string | null;
  link: string | null;
  shown: string;
}

/** The moments that fit, newest first, at most `limit`. */
export function recallMoments(db: Db, team: Team, filter: RecallFilter): AgentPayload<"recall_result"> {
  const given: SqlValue[] = [];
  const where: string[] = [];
  const fits = (condition: string, ...values: SqlValue[]) => {
    where.push(condition);
    given.push(...values);
  };
  if (filter.match !== undefined) fits("moments_text MATCH ?", filter.match);
  if (filter.since !== undefined) fits("m.n >= ?", Math.max(0, Math.min(filter.since, LATEST_MS)) * EACH);
  if (filter.about) {
    const { type, ref } = filter.about;
    fits(
      "((m.type = ? AND m.ref = ?) OR m.item IN (SELECT item FROM refs WHERE type = ? AND ref = ?))",
      type,
      ref,
      type,
      ref,
    );
  }
  if (filter.with !== undefined) {
    const names = namesOf(team, filter.with);
    fits(
      `EXISTS (SELECT 1 FROM moment_people p WHERE p.n = m.n AND p.name IN (${names.map(() => "?").join(", ")}))`,
      ...names,
    );
  }
  const [from, shown] =
    filter.match === undefined
      ? ["moments m", "substr(m.text, 1, 1000)"]
      : [
          "moments_text JOIN moments m ON m.n = moments_text.rowid",
          `snippet(moments_text, 0, '${MATCH_BEGINS}', '${MATCH_ENDS}', '…', 48)`,
        ];
  const order = filter.match === undefined ? "m.n" : "moments_text.rowid";
  const rows = db.all<Row>(
    `SELECT m.n, m.kind, m.type, m.ref, m.title, m.url, m.who, m.link, ${shown} AS shown FROM ${from}
     ${where.length === 0 ? "" : `WHERE ${where.join(" AND ")}`} ORDER BY ${order} DESC LIMIT ?`,
    ...given,
    filter.limit + 1,
  );
  return { moments: rows.slice(0, filter.limit).map(momentOf), more: rows.length > filter.limit };
}

function momentOf(row: Row): AgentPayload<"recall_result">["moments"][number] {
  return {
    at: new Date(Math.floor(row.n / EACH)).toISOString(),
    kind: row.kind,
    ...(row.type === null || row.ref === null
      ? {}
      : {
          where: {
            type: row.type,
            ref: row.ref,
            ...(row.title === null ? {} : { title: row.title }),
            ...(row.url === null ? {} : { url: row.url }),
          },
        }),
    ...(row.who === null ? {} : { who: row.who }),
    excerpt: excerptOf(row.shown),
    ...(row.link === null ? {} : { url: row.link }),
  };
}
