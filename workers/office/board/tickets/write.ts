/**
 * The board's own tickets (WORK-3): whatever is done to one is an event like those of any other tracker, taken in
 * the same way, and the rows are what became of it.
 */
import { firstCodePoints } from "../../../../src/shared/rules/text.ts";
import { makesRing } from "../../../../src/shared/rules/ticket-usage.ts";
import { isOpen } from "../../../../src/shared/rules/work-state.ts";
import type { TicketStatus } from "../../../../src/shared/wire/agent/ops.ts";
import type {
  CommentTicket,
  CreateTicket,
  PatchTicket,
  TicketAnswer,
  TicketComment,
} from "../../../../src/shared/wire/office.ts";
import type { WorkEvent } from "../../../../src/shared/wire/work.ts";
import { once } from "../../../kit/once.ts";
import { refuse } from "../../../kit/result.ts";
import type { Identity } from "../../letters.ts";
import type { BoardLedger } from "../ledger.ts";
import { mustBeOfTeam } from "../rights.ts";
import { type TicketRow, ticketRow } from "../work/store.ts";
import { takeEvent } from "../work/take.ts";
import { namedAssignee, oneComment, sourceOf, ticketOf, wholeTicket } from "./read.ts";

type Actor = WorkEvent["actor"];

/** Who does it, as an event names them: a person of the team by handle, a human by who they are in rooms. */
function actorOf(by: Identity): Actor {
  return by.handle === undefined
    ? { id: by.participantId, name: by.name, kind: "human" }
    : { id: by.handle, name: by.name, kind: "agent" };
}

function happened(
  ledger: BoardLedger,
  actor: Actor,
  type: WorkEvent["type"],
  about: Pick<WorkEvent, "ticket" | "comment">,
): void {
  takeEvent(ledger, {
    id: ledger.clock.mint("evt"),
    type,
    at: new Date(ledger.now).toISOString(),
    actor,
    source: "board",
    ...about,
  });
}

/** Makes a ticket of the board's own (WORK-3). */
export function createTicket(ledger: BoardLedger, by: Identity, asked: CreateTicket): TicketAnswer {
  mustBeOfTeam(by);
  return onceOf(ledger, by, "ticket", asked, (body) => madeTicket(ledger, by, body));
}

/** What somebody asks for with a key of theirs, and it may be again (ENV-4). */
function onceOf<A extends object, T>(
  { db, now }: BoardLedger,
  { participantId }: Identity,
  name: string,
  asked: A,
  work: (asked: Omit<A, "idempotency_key">) => T,
): T {
  return once(db, { sender: participantId, at: now, name, asked }, work);
}

function madeTicket(
  ledger: BoardLedger,
  by: Identity,
  asked: Omit<CreateTicket, "idempotency_key">,
): TicketAnswer {
  mustKeepTickets(ledger);
  const actor = actorOf(by);
  const assignee = asked.assignee === undefined ? undefined : assigneeOf(ledger, asked.assignee);
  const parent = asked.parent === undefined ? undefined : parentOf(ledger, undefined, asked.parent);
  const status = asked.status ?? (assignee === undefined ? "backlog" : "ready");
  const key = nextKey(ledger);
  const { title, description } = asked;
  happened(ledger, actor, "ticket.created", {
    ticket: {
      key,
      title,
      status,
      assignee: null,
      parent: parent ?? null,
      ...(description === undefined ? {} : { description }),
    },
  });
  if (assignee !== undefined)
    happened(ledger, actor, "ticket.assigned", { ticket: { key, title, assignee } });
  return wholeTicket(ledger, key);
}

/** A team whose tickets are another tracker's makes them there: two places would tell two stories. */
function mustKeepTickets({ team, version }: BoardLedger): void {
  if (version === 0)
    refuse(
      "not_found",
      "There is no team yet, whose board would keep tickets. Send its config: PUT /v1/team.",
    );
  if (team.tracker.kind !== "board")
    refuse(
      "conflict",
      "This team's tickets are kept by its own tracker (tracker.kind is events). Make the ticket there.",
    );
}

/** The next key: a number is given once, whatever the prefix, and never again (WORK-6). */
function nextKey({ db, team }: BoardLedger): string {
  for (;;) {
    const row = db.one<{ n: number }>(
      "UPDATE board SET last_ticket = last_ticket + 1 RETURNING last_ticket AS n",
    );
    const key = `${team.key}-${row?.n}`;
    // Another tracker's ticket may have the key already.
    if (!db.one("SELECT 1 FROM tickets WHERE key = ?", key)) return key;
  }
}

function assigneeOf(ledger: BoardLedger, given: string): string {
  const named = namedAssignee(ledger, given);
  if (named !== undefined) return named;
  const { people, humans } = ledger.team;
  const known = [...people.map((p) => p.handle), ...humans.map((h) => h.name)];
  refuse(
    "invalid",
    `Nobody in the team is called ${firstCodePoints(given, 100)}. Assign a handle or a human's name: ${known.slice(0, 50).join(", ") || "the team has nobody yet"}.`,
    { details: [{ path: "assignee", message: "is no handle and no human's name" }] },
  );
}

function parentOf(ledger: BoardLedger, row: TicketRow | undefined, given: string): string {
  const parent = ticketRow(ledger, given);
  if (!parent)
    return wrongParent(`There is no ticket ${firstCodePoints(given, 100)} to be a part of.`, "is no ticket");
  if (row && makesRing(row.key, parent.key, (key) => ticketRow(ledger, key)?.parent))
    return wrongParent(
      `${parent.key} is ${parent.key === row.key ? "the ticket itself" : `below ${row.key} already`}: a ticket cannot be above itself.`,
      "would be a ring",
    );
  return parent.key;
}

function wrongParent(message: string, why: string): never {
  refuse("invalid", message, { details: [{ path: "parent", message: why }] });
}

/** What a change asks for, as it is stored. */
export interface TicketChange {
  title?: string | undefined;
  description?: string | undefined;
  assignee?: string | null | undefined;
  parent?: string | null | undefined;
  status?: TicketStatus | undefined;
}

/** Changes a ticket of the board's own (WORK-3). */
export function patchTicket(
  ledger: BoardLedger,
  by: Identity,
  key: string,
  asked: PatchTicket,
): TicketAnswer {
  mustBeOfTeam(by);
  const row = ownTicket(ledger, key);
  changeTicket(ledger, actorOf(by), row, {
    ...asked,
    ...(asked.assignee ? { assignee: assigneeOf(ledger, asked.assignee) } : {}),
    ...(asked.parent ? { parent: parentOf(ledger, row, asked.parent) } : {}),
  });
  return wholeTicket(ledger, row.key);
}

/** A ticket that the board keeps; one of another tracker is changed there. */
function ownTicket(ledger: BoardLedger, key: string): TicketRow {
  const row = ticketOf(ledger, key);
  const source = sourceOf(row);
  if (source !== "board")
    refuse("conflict", `The ticket ${row.key} is kept by ${source}. Change it there; it shows here then.`);
  return row;
}

/**
 * Makes a checked change: what is so already is left out, and each kind of change is an event of its own. A new
 * status comes before a new assignee, who is not woken for what is closed by then.
 */
export function changeTicket(ledger: BoardLedger, actor: Actor, row: TicketRow, change: TicketChange): void {
  const { key } = row;
  const title = change.title ?? row.title ?? key;
  const differs = (name: "title" | "parent" | "status" | "assignee") =>
    change[name] !== undefined && change[name] !== row[name];
  const closes =
    differs("status") && change.status !== undefined && !isOpen(change.status) && isOpen(row.status);
  const given: NonNullable<WorkEvent["ticket"]> = {
    key,
    ...(differs("title") ? { title } : {}),
    ...(differs("parent") ? { parent: change.parent ?? null } : {}),
    ...(change.description === undefined || change.description === row.fields["description"]?.v
      ? {}
      : { description: change.description }),
    ...(differs("status") && !closes && change.status ? { status: change.status } : {}),
  };
  if (Object.keys(given).length > 1)
    happened(ledger, actor, "ticket.updated", { ticket: { title, ...given } });
  if (closes && change.status)
    happened(ledger, actor, "ticket.closed", { ticket: { key, title, status: change.status } });
  if (!differs("assignee")) return;
  const assignee = change.assignee ?? null;
  happened(ledger, actor, assignee === null ? "ticket.unassigned" : "ticket.assigned", {
    ticket: { key, title, assignee },
  });
}

/** Comments on a ticket of the board's own (WORK-3). */
export function commentTicket(
  ledger: BoardLedger,
  by: Identity,
  key: string,
  asked: CommentTicket,
): TicketComment {
  mustBeOfTeam(by);
  const row = ownTicket(ledger, key);
  return onceOf(ledger, by, `comment ${row.key}`, asked, ({ body }) => {
    const id = ledger.clock.mint("msg");
    happened(ledger, actorOf(by), "ticket.commented", {
      ticket: { key: row.key, title: row.title ?? row.key },
      comment: { id, body },
    });
    return oneComment(ledger, row.key, id);
  });
}
