/**
 * The agent's requests and what each does (OFF-1). To add one: write a function in `messages/*.ts` and give it a
 * row in `HANDLERS`, made with
 *
 * - `write(take)`: changes rows. `take(desk, payload, frame)` runs inside one transaction and hands back the
 *   payload of its answer (`ANSWERS` names its type; `{}` for `ack`). A repeat never reaches it (OFF-1).
 * - `read(take)`: the same, and is answered afresh each time. It writes nothing.
 * - `asking(before, take)` and `looking(before, take)`: a write, or a read, that must ask the board or a host
 *   first. `before(look, payload)` may await and writes nothing; `take(desk, payload, frame, found)` runs in the
 *   transaction afterwards and must check again whatever may have changed meanwhile.
 *
 * A refusal is `throw new AgentRefused(code, message)`: what the transaction wrote is undone. Payloads are parsed
 * before they come here. An item is found with `ownItem` or `runningItem` (messages/own.ts), which answer OFF-9
 * and OFFER-7. Letters are in `takers.ts`, alarms in `timed.ts`, and what a part does when a connection begins,
 * ends, or is heard, and at the end of every piece of work, in `turns.ts`.
 */
import type { AgentRequest } from "../../src/shared/wire/agent/index.ts";
import { type AnyHandler, asking, looking, read, sign, write } from "./handler.ts";
import { actResult } from "./messages/act.ts";
import { answer, ask } from "./messages/ask.ts";
import { chatMessage } from "./messages/chat.ts";
import { ciLog, prList, ticketPrs } from "./messages/code.ts";
import { heartbeat, ping } from "./messages/connection.ts";
import { ticketUsage } from "./messages/cost.ts";
import { workAttach, workCheck, workFileFor, workLink, workQueue } from "./messages/filing.ts";
import { docLink, doctorReport, notesChanged } from "./messages/knowledge.ts";
import { recall } from "./messages/recall.ts";
import { chatReport, reportPosted } from "./messages/report.ts";
import {
  accept,
  decline,
  evidence,
  fail,
  handback,
  journal,
  progress,
  session,
  usage,
  workMade,
} from "./messages/round.ts";
import { currentWork, roster } from "./messages/team.ts";
import { others, workList, workMove, workPlace, workStatus } from "./messages/work.ts";

export { AgentRefused, mustAgent } from "./handler.ts";

type Handlers = { readonly [T in Exclude<AgentRequest, "hello">]?: AnyHandler<T> };
export const HANDLERS: Handlers = {
  ping: sign<"ping">(ping),
  heartbeat: sign<"heartbeat">(heartbeat),
  accept: write<"accept">(accept),
  decline: write<"decline">(decline),
  progress: write<"progress">(progress),
  journal: write<"journal">(journal),
  session: write<"session">(session),
  usage: write<"usage">(usage),
  work_made: write<"work_made">(workMade),
  handback: asking(evidence, handback),
  fail: write<"fail">(fail),
  work_list: read<"work_list">(workList),
  work_status: looking(others, workStatus),
  work_move: write<"work_move">(workMove),
  work_place: write<"work_place">(workPlace),
  ask,
  answer: write<"answer">(answer),
  work_check: write<"work_check">(workCheck),
  work_link: workLink,
  work_file_for: workFileFor,
  work_queue: write<"work_queue">(workQueue),
  work_attach: workAttach,
  chat_message: chatMessage,
  chat_report: write<"chat_report">(chatReport),
  report_posted: write<"report_posted">(reportPosted),
  act_result: write<"act_result">(actResult),
  doc_link: docLink,
  notes_changed: write<"notes_changed">(notesChanged),
  doctor_report: write<"doctor_report">(doctorReport),
  recall,
  roster,
  current_work: currentWork,
  ticket_prs: ticketPrs,
  pr_list: prList,
  ci_log: ciLog,
  ticket_usage: ticketUsage,
};
