/** What a program may say for its item: `bullpen item …` on one side, `bullpen agent` on the other. */
import type { AgentPayload, AgentRequest } from "../../shared/wire/agent/index.ts";

/** Requests that speak for the item that the program was started for: its id is filled in, whatever it says. */
export const OF_ITEM = [
  "progress",
  "session",
  "journal",
  "handback",
  "fail",
  "ask",
  "answer",
  "work_made",
  "work_link",
  "work_file_for",
  "work_check",
  "work_queue",
  "work_attach",
  "doc_link",
] as const satisfies readonly AgentRequest[];
/** Requests about anything of the person's; an item is named only where they say which. */
export const OF_PERSON = [
  "usage",
  "roster",
  "work_list",
  "work_status",
  "work_move",
  "work_place",
  "notes_changed",
  "doctor_report",
  "current_work",
  "ticket_prs",
  "pr_list",
  "ci_log",
  "recall",
  "ticket_usage",
] as const satisfies readonly AgentRequest[];

export type ItemVerb = (typeof OF_ITEM)[number];
export type PersonVerb = (typeof OF_PERSON)[number];
export type Verb = ItemVerb | PersonVerb;
/** What the program says; the item is ours to name. */
export type Said<T extends Verb> = T extends ItemVerb
  ? Omit<AgentPayload<T>, "workItemId" | "questionId">
  : AgentPayload<T>;

/** Two that are no requests of the protocol: the item itself, and a word to who asked for it. */
export const OWN = ["show", "acknowledge"] as const;

/** What is answered when the office has not answered yet: it is written down, and goes out by itself. */
export const KEPT = { kept: true } as const;
