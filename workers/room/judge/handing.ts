/** Handing a message to agents after it was said (NEW-9): each hand-over is a fact and a delivery of its own. */
import { tellBoard } from "../office/chat.ts";
import { factAt } from "../store/log.ts";
import { wordsOf } from "../store/messages.ts";
import { isGone } from "../store/participants.ts";
import { members, space } from "../store/spaces.ts";
import type { HandedBecause, HandedBody } from "../types.ts";
import type { Writer } from "../writer.ts";
import { sinceOf } from "./since.ts";
import { spendFacts } from "./spend.ts";

const SYSTEM = { kind: "system", id: "system" } as const;

/** Hands a message to those of the takers who can still take it; a deleted one to nobody. */
export function handOver(
  w: Writer,
  spaceId: string,
  messageId: string,
  takers: readonly string[],
  why: HandedBody["why"],
  because: HandedBecause,
): boolean {
  const words = wordsOf(w.db, messageId);
  if (!words || words.text === null || factAt(w.db, words.seq)?.space_id !== spaceId) return false;
  const here = members(w.db, spaceId);
  const able = takers.filter((id) => here.some((m) => m.id === id && !isGone(m)));
  if (able.length === 0) return false;
  const body: HandedBody = {
    message_id: messageId,
    takers: able,
    ...(why === "held" ? {} : { lead: true as const }),
    why,
    ...sinceOf(w, spaceId, here, able),
    ...spendFacts(w, spaceId),
    because,
  };
  const row = w.append("message.handed", { spaceId, actor: SYSTEM, body });
  for (const id of able)
    w.db.run(
      "INSERT OR REPLACE INTO handovers (message_id, agent_id, seq) VALUES (?, ?, ?)",
      messageId,
      id,
      row.seq,
    );
  const of = space(w.db, spaceId);
  if (of) tellBoard(w, { space: of, here, messageId, takers: able, delivery: row });
  return true;
}

/** Hands each agent its newest held message, once, oldest first (GUARD-4). */
export function handHeld(w: Writer, spaceId: string, act: number): void {
  const rows = w.db.all<{ agent_id: string; message_id: string }>(
    "SELECT agent_id, message_id FROM held WHERE space_id = ? ORDER BY message_id, agent_id",
    spaceId,
  );
  if (rows.length === 0) return;
  w.db.run("DELETE FROM held WHERE space_id = ?", spaceId);
  const byMessage = new Map<string, string[]>();
  for (const { agent_id, message_id } of rows)
    byMessage.set(message_id, [...(byMessage.get(message_id) ?? []), agent_id]);
  for (const [messageId, takers] of byMessage) handOver(w, spaceId, messageId, takers, "held", { act });
}
