/** Events that other tools send with a hook's token (WORK-4). */
import { OWN_SOURCES } from "../../../../src/shared/rules/trust.ts";
import type { EventTaken } from "../../../../src/shared/wire/office.ts";
import { type WorkEventGiven, type WorkEventType } from "../../../../src/shared/wire/work.ts";
import { refuse } from "../../../kit/result.ts";
import type { Identity } from "../../letters.ts";
import type { BoardLedger } from "../ledger.ts";
import { sourceOf } from "../tickets/read.ts";
import { ticketRow } from "./store.ts";
import { takeEvent } from "./take.ts";

/** What only the office itself can say. */
const INSIDE: ReadonlySet<WorkEventType> = new Set([
  "chat.message",
  "question.asked",
  "item.accepted",
  "item.ended",
  "schedule.due",
]);
/** What an event of a type must say to mean anything. */
const NEEDS = ["ticket", "pr", "doc", "check"] as const;

/** Takes an event of another tool in. The token names the tool and what it may send; all else is `forbidden`. */
export function workEvent(ledger: BoardLedger, by: Identity, given: WorkEventGiven): EventTaken {
  const { hook } = by;
  if (!hook || OWN_SOURCES.includes(hook.source))
    refuse("forbidden", "Events come with a hook's token, which names their source. Make one for the tool.");
  if (INSIDE.has(given.type) || given.type === "push")
    refuse(
      "forbidden",
      `Only the office itself says ${given.type}. Send events of tickets, pull requests, documents and checks.`,
    );
  if (!allows(hook.types, given.type))
    refuse(
      "forbidden",
      `This token may not send ${given.type}. It may send ${hook.types.join(", ") || "nothing"}.`,
    );
  const about = given.type.startsWith("merge.")
    ? "pr"
    : NEEDS.find((name) => given.type.startsWith(`${name}.`));
  if (about && given[about] === undefined)
    refuse("invalid", `An event ${given.type} says which ${about} it is about.`, {
      details: [{ path: about, message: "is missing" }],
    });
  if (given.type.endsWith("commented") && given.comment === undefined)
    refuse("invalid", `An event ${given.type} has the comment.`, {
      details: [{ path: "comment", message: "is missing" }],
    });
  if (given.type === "pr.reviewed" && given.review === undefined)
    refuse("invalid", "An event pr.reviewed has the review.", {
      details: [{ path: "review", message: "is missing" }],
    });
  mustKeepTicket(ledger, hook.source, given);
  // What GitHub calls somebody counts in its own signed deliveries alone (PIPE-5).
  const { association: _, ...actor } = given.actor;
  const { id, duplicate } = takeEvent(ledger, { ...given, actor, source: hook.source });
  return { event_id: id, ...(duplicate ? { duplicate: true as const } : {}) };
}

/**
 * The board's own tickets are changed here, and GitHub's issues by its own signed deliveries (WORK-2, WORK-3): another
 * tool that says their key means something else. Where another tracker keeps the tickets, it takes over the board's.
 */
function mustKeepTicket(ledger: BoardLedger, source: string, { id, type, ticket }: WorkEventGiven): void {
  const row = type.startsWith("ticket.") && ticket ? ticketRow(ledger, ticket.key) : undefined;
  const keeper = row && sourceOf(row);
  if (row === undefined || keeper === source) return;
  if (keeper !== "github" && !(keeper === "board" && ledger.team.tracker.kind === "board")) return;
  // What was taken before is answered as then, whoever keeps the ticket now (PIPE-3).
  if (ledger.db.one("SELECT 1 FROM events WHERE source = ? AND source_id = ?", source, id)) return;
  refuse(
    "conflict",
    `The ticket ${row.key} is kept by ${keeper === "board" ? "this board" : "GitHub"}, and ${source} cannot change it. Send another key, or change the ticket where it is kept.`,
  );
}

/** Whether a type is one of those that a token names: whole, or all of a kind as `ticket.*`. */
function allows(types: readonly string[], type: string): boolean {
  return types.some(
    (one) => one === type || one === "*" || (one.endsWith(".*") && type.startsWith(one.slice(0, -1))),
  );
}
