/** What the agent found of its own surroundings, and documents and notes that it wrote (ITEM-5). */
import { byteLength } from "../../../src/shared/rules/text.ts";
import type { AgentPayload } from "../../../src/shared/wire/agent/index.ts";
import type { PersonAnswer } from "../../../src/shared/wire/office.ts";
import { CALLS } from "../calls.ts";
import type { Desk } from "../desk.ts";
import { AgentRefused, asking, mustAgent } from "../handler.ts";
import type { ItemRef } from "../letters.ts";
import { item } from "../store/items.ts";
import { addRefs, refsOf } from "../store/parts.ts";
import { ownItem } from "./own.ts";

const MOST_CHECKS = 200;
const LONGEST_CHECKS = 262_144;
const LONGEST_NOTE = 16_384;
const NOTES_KEPT = 1000;
const NOTES_SHOWN = 20;
const LONGEST_NAME = 500;
const LONGEST_URL = 2000;

type Doc = AgentPayload<"doc_link">["doc"];
type DoctorChecks = AgentPayload<"doctor_report">["checks"];

/** The checks of the agent's own container, in place of its earlier report. */
export function doctorReport(desk: Desk, { checks }: AgentPayload<"doctor_report">): Record<string, never> {
  const text = JSON.stringify(checks);
  if (checks.length > MOST_CHECKS || byteLength(text) > LONGEST_CHECKS)
    throw new AgentRefused(
      "invalid",
      "A report has at most 200 checks, 256 KiB together. Shorten the details.",
    );
  desk.db.run("INSERT OR REPLACE INTO doctor (one, at, checks) VALUES (1, ?, ?)", desk.now, text);
  return {};
}

const iso = (ms: number) => new Date(ms).toISOString();

/** What people are shown of the agent itself: its last report, and the last changes of its notes (ITEM-5). */
export function shownOfAgent({ db }: Pick<Desk, "db">): Pick<PersonAnswer, "doctor" | "notes"> {
  const doctor = db.one<{ at: number; checks: string }>("SELECT at, checks FROM doctor");
  const notes = db.all<{ at: number; item: string | null; change: string; body: string }>(
    "SELECT at, item, change, body FROM notes ORDER BY n DESC LIMIT ?",
    NOTES_SHOWN,
  );
  return {
    ...(doctor && { doctor: { at: iso(doctor.at), checks: JSON.parse(doctor.checks) as DoctorChecks } }),
    notes: notes.toReversed().map(({ at, item: of, change, body }) => ({
      at: iso(at),
      change: change as AgentPayload<"notes_changed">["change"],
      ...(JSON.parse(body) as Omit<AgentPayload<"notes_changed">, "change" | "workItemId">),
      ...(of === null ? {} : { item: of }),
    })),
  };
}

/** The agent's notes changed; a page that shows them is a document of the person's. */
export function notesChanged(desk: Desk, changed: AgentPayload<"notes_changed">): Record<string, never> {
  if (byteLength(changed.note ?? "") > LONGEST_NOTE)
    throw new AgentRefused("invalid", "A note has at most 16 KiB. Keep longer ones as a document.");
  const { edit } = changed;
  if (edit && Object.values(edit).some((text) => text.length > LONGEST_NAME))
    throw new AgentRefused("invalid", "An edit's author, time and version have at most 500 characters each.");
  if (changed.workItemId !== undefined) ownItem(desk, changed.workItemId);
  const { change, workItemId, ...body } = changed;
  desk.db.run(
    "INSERT INTO notes (at, item, change, body) VALUES (?, ?, ?, ?)",
    desk.now,
    workItemId ?? null,
    change,
    JSON.stringify(body),
  );
  desk.db.run("DELETE FROM notes WHERE n <= (SELECT max(n) FROM notes) - ?", NOTES_KEPT);
  if (changed.doc) keepDoc(desk, changed.doc, workItemId, undefined);
  return {};
}

/** A document of the person's, so that comments on it reach them as work. */
function keepDoc(desk: Desk, doc: Doc, of: string | undefined, ticket: string | undefined): void {
  checkDoc(doc);
  desk.db.run(
    "INSERT OR REPLACE INTO docs (id, title, url, ticket, item, at) VALUES (?, ?, ?, ?, ?, ?)",
    doc.id,
    doc.title,
    doc.url,
    ticket ?? null,
    of ?? null,
    desk.now,
  );
  desk.toBoard("made", {
    handle: desk.handle,
    ...(of === undefined ? {} : { item: of }),
    at: iso(desk.now),
    doc,
    ...(ticket === undefined ? {} : { ticket }),
  });
}

function checkDoc({ id, title, url }: Doc): void {
  if (id === "" || id.length > LONGEST_NAME || title.length > LONGEST_NAME)
    throw new AgentRefused("invalid", "A document's id has 1 to 500 characters, its title at most 500.");
  if (url.length > LONGEST_URL || !/^https?:\/\//i.test(url))
    throw new AgentRefused(
      "invalid",
      "A document's url is an absolute http or https URL of at most 2,000 characters.",
    );
}

/** The ticket that a document is for: the one named, else the item's own. */
export const docLink = asking<"doc_link", string | undefined>(
  async ({ env, db, workspace, handle }, { ticket, workItemId }) => {
    if (ticket === undefined || !item(db, workItemId)) return undefined;
    const { ref } = mustAgent(await CALLS.find(env, workspace, handle, ticket));
    if (ref.type !== "ticket")
      throw new AgentRefused(
        "not_found",
        "There is no ticket of this key. A document is linked to a ticket.",
      );
    return ref.ref;
  },
  (desk, { workItemId, doc }, _frame, found) => {
    const row = ownItem(desk, workItemId);
    const ticket = found ?? ticketOf(desk, row.id);
    keepDoc(desk, doc, row.id, ticket);
    const at = iso(desk.now);
    const ref: ItemRef = {
      type: "doc",
      ref: doc.id,
      role: "created",
      source: "doc_link",
      addedAt: at,
      title: doc.title,
      url: doc.url,
    };
    const fresh = addRefs(desk.db, row.id, [ref]);
    if (fresh.length > 0) desk.toBoard("refs", { handle: desk.handle, item: row.id, refs: fresh });
    return {};
  },
);

/** The ticket that an item is about: its subject, else the first that it refers to by more than a link. */
export function ticketOf(desk: Desk, id: string): string | undefined {
  const row = item(desk.db, id);
  if (row?.subject_type === "ticket" && row.subject_ref !== null) return row.subject_ref;
  return refsOf(desk.db, id).find(
    ({ type, role }) =>
      type === "ticket" &&
      (role === "subject" || role === "trigger" || role === "created" || role === "attached"),
  )?.ref;
}
