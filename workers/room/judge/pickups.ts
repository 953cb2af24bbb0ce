/** Work that an agent gave an agent and that nobody began (TURN-7): within a minute it is passed on, said once. */

import { factAt } from "../store/log.ts";
import { wordsOf } from "../store/messages.ts";
import { participant } from "../store/participants.ts";
import { openRuns } from "../store/runs.ts";
import { leadOf, members, space } from "../store/spaces.ts";
import type { Writer } from "../writer.ts";
import { pauseOf } from "./exchange.ts";
import { handOver } from "./handing.ts";
import { spentOut } from "./spend.ts";

/** How long a taker that could begin has to do so. */
export const PICKUP_MS = 60_000;
const SYSTEM = { kind: "system", id: "system" } as const;

interface PickupRow {
  message_id: string;
  agent_id: string;
  space_id: string;
  due_at: number | null;
}

export function awaitPickup(w: Writer, spaceId: string, messageId: string, agentId: string): void {
  const due = w.now + PICKUP_MS;
  w.db.run(
    "INSERT OR REPLACE INTO pickups (message_id, agent_id, space_id, due_at) VALUES (?, ?, ?, ?)",
    messageId,
    agentId,
    spaceId,
    due,
  );
  w.afterwards({ kind: "alarm", name: "pickups", at: due });
}

/** A later post by the taker picks up all that waited for it in the space (TURN-7). */
export function pickedUp(w: Writer, spaceId: string, agentId: string): void {
  w.db.run("DELETE FROM pickups WHERE agent_id = ? AND space_id = ?", agentId, spaceId);
}

/** A run that names messages, or that heard them, picks them up. */
export function pickedUpMessages(w: Writer, agentId: string, messageIds: readonly string[]): void {
  for (const id of messageIds)
    w.db.run("DELETE FROM pickups WHERE message_id = ? AND agent_id = ?", id, agentId);
}

/** A taker is free again, or here again: its minute begins now. */
export function startPickupClock(w: Writer, agentId: string, spaceId?: string): void {
  const due = w.now + PICKUP_MS;
  const started = w.db.run(
    "UPDATE pickups SET due_at = ?1 WHERE agent_id = ?2 AND (?3 IS NULL OR space_id = ?3)",
    due,
    agentId,
    spaceId ?? null,
  );
  if (started > 0) w.afterwards({ kind: "alarm", name: "pickups", at: due });
}

/** The alarm: passes on what is due, forgets nothing that cannot be judged yet. */
export function passOnOverdue(w: Writer, online: (harnessId: string) => boolean): void {
  for (const row of w.db.all<PickupRow>(
    "SELECT * FROM pickups WHERE due_at <= ? ORDER BY message_id",
    w.now,
  )) {
    const agent = participant(w.db, row.agent_id);
    const busy = openRuns(w.db, row.space_id).some((run) => run.agent_id === row.agent_id);
    if (!agent || (online(agent.harness_id ?? agent.id) && !busy)) passOn(w, row);
    else
      w.db.run(
        "UPDATE pickups SET due_at = NULL WHERE message_id = ? AND agent_id = ?",
        row.message_id,
        row.agent_id,
      );
  }
  const next = w.db.one<{ due: number | null }>(
    "SELECT min(due_at) AS due FROM pickups WHERE due_at IS NOT NULL",
  );
  if (next?.due) w.afterwards({ kind: "alarm", name: "pickups", at: next.due });
}

function passOn(w: Writer, row: PickupRow): void {
  w.db.run("DELETE FROM pickups WHERE message_id = ? AND agent_id = ?", row.message_id, row.agent_id);
  const words = wordsOf(w.db, row.message_id);
  const said = words && factAt(w.db, words.seq);
  const of = space(w.db, row.space_id);
  if (!said || !of || words.text === null) return;
  const here = members(w.db, of.id);
  const lead = leadOf(of, here);
  const name = participant(w.db, row.agent_id)?.name ?? "The agent";
  const toLead =
    lead !== undefined &&
    lead !== said.actor_id &&
    lead !== row.agent_id &&
    !pauseOf(w.db, of.id) &&
    !spentOut(w, of.id);
  const because = { waited_for: row.agent_id, waited_s: PICKUP_MS / 1000 };
  const handed = toLead && handOver(w, of.id, row.message_id, [lead], "not_picked_up", because);
  const leadName = handed ? here.find((m) => m.id === lead)?.name : undefined;
  w.append("notice.posted", {
    spaceId: of.id,
    actor: SYSTEM,
    body: {
      code: "not_picked_up",
      text: `${name} has not begun what it was asked${leadName === undefined ? "." : `, so it was handed to ${leadName}.`}`,
      about: [said.actor_id, row.agent_id, row.message_id],
    },
  });
}
