/**
 * Every message of the agent protocol, version 3, by type: the only definition of each (OFF). The contract's
 * tables are `contract/outstaff.json`; JSON Schemas are generated into `schemas/agent/`.
 */
import type * as z from "zod";
import * as act from "./act.ts";
import * as ask from "./ask.ts";
import * as chat from "./chat.ts";
import * as code from "./code.ts";
import * as connection from "./connection.ts";
import * as cost from "./cost.ts";
import * as filing from "./filing.ts";
import * as knowledge from "./knowledge.ts";
import * as offer from "./offer.ts";
import * as recall from "./recall.ts";
import * as round from "./round.ts";
import * as team from "./team.ts";
import * as work from "./work.ts";

export const AGENT_MESSAGES = {
  hello: connection.hello,
  welcome: connection.welcome,
  offer: offer.offer,
  accept: round.accept,
  decline: round.decline,
  heartbeat: connection.heartbeat,
  progress: round.progress,
  session: round.session,
  usage: round.usage,
  journal: round.journal,
  handback: round.handback,
  fail: round.fail,
  ask: ask.ask,
  ask_result: ask.askResult,
  answer: ask.answer,
  roster: team.roster,
  roster_result: team.rosterResult,
  work_made: round.workMade,
  work_list: work.workList,
  work_list_result: work.workListResult,
  work_status: work.workStatus,
  work_status_result: work.workStatusResult,
  work_move: work.workMove,
  work_move_result: work.workMoveResult,
  work_place: work.workPlace,
  work_link: filing.workLink,
  work_file_for: filing.workFileFor,
  work_check: filing.workCheck,
  work_link_result: filing.workLinkResult,
  work_queue: filing.workQueue,
  work_queue_result: filing.workQueueResult,
  work_attach: filing.workAttach,
  work_attach_result: filing.workAttachResult,
  chat_message: chat.chatMessage,
  chat_message_result: chat.chatMessageResult,
  chat_report: chat.chatReport,
  chat_report_result: chat.chatReportResult,
  reports: chat.reports,
  report_posted: chat.reportPosted,
  act: act.act,
  act_result: act.actResult,
  doc_link: knowledge.docLink,
  notes_changed: knowledge.notesChanged,
  doctor_report: knowledge.doctorReport,
  current_work: team.currentWork,
  current_work_result: team.currentWorkResult,
  ticket_prs: code.ticketPrs,
  ticket_prs_result: code.ticketPrsResult,
  pr_list: code.prList,
  pr_list_result: code.prListResult,
  ci_log: code.ciLog,
  ci_log_result: code.ciLogResult,
  recall: recall.recall,
  recall_result: recall.recallResult,
  ticket_usage: cost.ticketUsage,
  ticket_usage_result: cost.ticketUsageResult,
  ack: connection.ack,
  error: connection.error,
  ping: connection.ping,
  pong: connection.pong,
} as const;
export type AgentMessageType = keyof typeof AGENT_MESSAGES;
export type AgentFrame<T extends AgentMessageType = AgentMessageType> = z.infer<(typeof AGENT_MESSAGES)[T]>;
/** What a message of one type carries. */
export type AgentPayload<T extends AgentMessageType> = z.infer<(typeof AGENT_MESSAGES)[T]>["payload"];

/** What an agent asks, and what it is answered with, beside `error` (OFF-1). */
export const ANSWERS = {
  hello: "welcome",
  accept: "ack",
  decline: "ack",
  heartbeat: "ack",
  progress: "ack",
  session: "ack",
  usage: "ack",
  journal: "ack",
  handback: "ack",
  fail: "ack",
  ask: "ask_result",
  answer: "ack",
  roster: "roster_result",
  work_made: "ack",
  work_list: "work_list_result",
  work_status: "work_status_result",
  work_move: "work_move_result",
  work_place: "work_move_result",
  work_link: "work_link_result",
  work_file_for: "ack",
  work_check: "ack",
  work_queue: "work_queue_result",
  work_attach: "work_attach_result",
  chat_message: "chat_message_result",
  chat_report: "chat_report_result",
  report_posted: "ack",
  act_result: "ack",
  doc_link: "ack",
  notes_changed: "ack",
  doctor_report: "ack",
  current_work: "current_work_result",
  ticket_prs: "ticket_prs_result",
  pr_list: "pr_list_result",
  ci_log: "ci_log_result",
  recall: "recall_result",
  ticket_usage: "ticket_usage_result",
  ping: "pong",
} as const satisfies Partial<Record<AgentMessageType, AgentMessageType>>;
export type AgentRequest = keyof typeof ANSWERS;
export type AnswerTo<T extends AgentRequest> = (typeof ANSWERS)[T];

/** What the office sends of its own accord. */
export const OFFICE_MESSAGES = [
  "offer",
  "reports",
  "act",
  "ping",
] as const satisfies readonly AgentMessageType[];

/** What an offer carries to start with (OFFER-4). */
export type OfferContext = AgentPayload<"offer">["context"];
export type OfferedItem = AgentPayload<"offer">["workItem"];
export type OfferFeedback = NonNullable<OfferContext["feedback"]>[number];
/** What the office knows about the work (OFFER-8). */
export type Wake = NonNullable<OfferContext["wake"]>;

export * from "./frame.ts";
export * from "./ops.ts";
export * from "./parts.ts";
