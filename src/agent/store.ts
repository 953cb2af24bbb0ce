/** Where an agent keeps what must outlive it: what is on its way, and what was made and posted already. */
import * as z from "zod";
import { report } from "../shared/wire/agent/index.ts";

/** Keeps one text. `save` resolves only when a crash cannot take it back. */
export interface AgentStore {
  /** The text saved last; undefined when there is none. */
  load(): Promise<string | undefined>;
  save(text: string): Promise<void>;
}

/** A store without a disk: for tests, and for agents that may forget. */
export function memoryStore(text?: string): AgentStore & { text: string | undefined } {
  const store = {
    text,
    load: () => Promise.resolve(store.text),
    save(now: string) {
      store.text = now;
      return Promise.resolve();
    },
  };
  return store;
}

/** What is told the requester once the office has taken an ending (REPORT-1). */
const ending = z.object({
  workItemId: z.string(),
  kind: z.enum(["ack", "result", "blocked", "failed"]),
  text: z.string(),
  /** The frame that asks for it: also the id under which the office queues the report (REPORT-2). */
  frame: z.string(),
});
export type Ending = z.infer<typeof ending>;

/** A request that is sent until it is answered, with the same frame id each time (OFF-8). */
const entry = z.object({
  id: z.string(),
  type: z.enum(["handback", "fail", "answer", "journal", "act_result", "report_posted"]),
  payload: z.record(z.string(), z.unknown()),
  /** What is sent in order among itself: an item's, an act's, a report's id. */
  lane: z.string(),
  /** What follows when the office has taken it. */
  after: ending.optional(),
});
export type OutboxEntry = z.infer<typeof entry>;

/** A report that is ours to post, noted before the first of it is posted (REPORT-2). */
const reportNote = z.object({
  /** Its own id and, where it was granted, that of the answer's frame. */
  ids: z.array(z.string()).min(1),
  report: report.extend({ kind: ending.shape.kind }),
  /** Where it stands already. */
  done: z.array(z.string()),
  /** The id that the office waits to be told of by `report_posted`. */
  confirm: z.string().optional(),
});
export type ReportNote = z.infer<typeof reportNote>;

/** An act under way: what was made, and which change was begun and may have been made (ACT-1). */
const actNote = z.object({
  id: z.string(),
  ops: z.array(z.unknown()),
  results: z.array(z.string()),
  begun: z.int().optional(),
});
export type ActNote = z.infer<typeof actNote>;

const actAnswer = z.object({
  id: z.string(),
  ok: z.boolean(),
  results: z.array(z.string()),
  error: z.string().optional(),
});
export type ActAnswer = z.infer<typeof actAnswer>;

/** All that an agent keeps. */
export const agentState = z.object({
  version: z.literal(1),
  /** `<workspace>/<handle>`: another person's folder is not taken for one's own. */
  of: z.string(),
  outbox: z.array(entry),
  endings: z.array(ending),
  reports: z.array(reportNote),
  /** Ids of reports that were posted: they are skipped and confirmed when they come again. */
  posted: z.array(z.string()),
  acts: z.array(actNote),
  /** The last acts that were answered: they are only answered again. */
  answered: z.array(actAnswer),
});
export type AgentState = z.infer<typeof agentState>;

export function emptyState(of: string): AgentState {
  return { version: 1, of, outbox: [], endings: [], reports: [], posted: [], acts: [], answered: [] };
}
