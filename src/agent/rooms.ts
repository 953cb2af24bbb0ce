/** Reports posted in rooms, as the agent itself: with the same token, over HTTP (REPORT-3, TEAM-2). */

import { BullpenError } from "../sdk/errors.ts";
import type { BullpenHttp } from "../sdk/http.ts";
import { newId } from "../sdk/ids.ts";
import type { Thread } from "../shared/wire/agent/index.ts";
import { isId } from "../shared/wire/ids.ts";
import { fitted } from "./frames.ts";
import type { ReportNote } from "./store.ts";

export type AgentReport = ReportNote["report"];

/** One place where a report is to stand. */
export type Target = { key: string; thread: Thread } | { key: string; direct: string };

/** The most that a message's text may have (LIMIT-1). */
const TEXT_BYTES = 63 * 1024;

/** Where a report is to stand: in every thread, else directly with the requester. Each has a key of its own. */
export function targetsOf(report: AgentReport): Target[] {
  const threads = (report.threads ?? []).map((thread) => ({
    key: `${thread.channel}/${thread.thread}`,
    thread,
  }));
  if (threads.length > 0 || report.direct === undefined) return threads;
  return [{ key: `direct/${report.direct}`, direct: report.direct }];
}

/** Whether a place is one of our rooms; another chat's is for `onReport`. */
export function isRoom(target: Target): boolean {
  return "thread" in target ? isId(target.thread.channel, "spc") : isId(target.direct, "usr");
}

/** Posts a report in one place. Its key makes it once, however often it is posted (ENV-4). */
export async function postInRoom(http: BullpenHttp, report: AgentReport, target: Target): Promise<void> {
  const key = `${report.id}/${target.key}`;
  if ("direct" in target) {
    const space = await write(http, "space.create", `${key}/space`, { direct: [target.direct] });
    await post(http, key, { space_id: space.space_id, text: textOf(report, "") });
    return;
  }
  const { channel: space_id, thread } = target.thread;
  await post(http, key, {
    space_id,
    text: textOf(report, await mention(http, target.thread, report.requester)),
    ...(isId(thread, "msg") ? { reply_to: thread } : {}),
  });
}

/** Says it once: where something stands under this key already, in other words, it was said. */
async function post(http: BullpenHttp, key: string, fields: object): Promise<void> {
  try {
    await write(http, "message.post", key, fields);
  } catch (error) {
    if (!(error instanceof BullpenError && error.code === "conflict")) throw error;
  }
}

async function write(
  http: BullpenHttp,
  type: string,
  idempotency_key: string,
  fields: object,
): Promise<{ space_id?: string }> {
  const event = { v: 1, type, id: newId("evt"), idempotency_key, ...fields };
  const { receipts } = await http.post<{ receipts: [{ space_id?: string }] }>("/v1/events", event);
  return receipts[0];
}

/**
 * Whom the report is for, by handle: an agent hears only what names it (ADDR-4), a person who takes no part in
 * the thread would not be told. Everybody else reads it anyway.
 */
async function mention(http: BullpenHttp, thread: Thread, requester: string | undefined): Promise<string> {
  const id = requester ?? thread.requester.id;
  if (!isId(id, "agt") && (thread.participant || thread.direct)) return "";
  const { items } = await http.get<{ items: { participant_id: string; handle?: string | null }[] }>(
    `/v1/spaces/${thread.channel}/members`,
  );
  const handle = items.find(({ participant_id }) => participant_id === id)?.handle;
  return handle ? `@${handle} ` : "";
}

/** The words and the links that are not in them already. */
function textOf({ text, links }: AgentReport, before: string): string {
  const more = links
    .filter(({ url }) => !text.includes(url))
    .map(({ url, title }) => `- ${title === undefined || title === url ? url : `${oneLine(title)}: ${url}`}`);
  const words = text.trim() === "" && more.length === 0 ? "Done." : text.trim();
  return fitted(`${before}${[words, more.join("\n")].filter(Boolean).join("\n\n")}`, TEXT_BYTES);
}

function oneLine(text: string): string {
  return text.replace(/\s+/gu, " ").trim();
}
