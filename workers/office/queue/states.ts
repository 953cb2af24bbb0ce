/** How an item changes its state, and begins and ends rounds: the one way (QUEUE-1, PIPE-2). */
import { cannotMove, type ItemState, type Mover } from "../../../src/shared/rules/item-states.ts";
import type { Outcome } from "../../../src/shared/wire/index.ts";
import type { Desk } from "../desk.ts";
import { cancelQuestions } from "../questions.ts";
import { change, type ItemRow, item, type Trigger } from "../store/items.ts";
import { type FeedbackRow, forgetProgress, pendingFeedback } from "../store/parts.ts";
import { changeRound, eventsOf, type RoundEnd, type RoundRow, roomOf, round } from "../store/rounds.ts";
import { placeOf, priorityOf } from "./place.ts";
import { questionEnded } from "./questions.ts";
import { WAITS_TOO_LONG_MS } from "./stuck.ts";
import { note } from "./tell.ts";

export interface Move {
  by: string;
  mover: Mover;
  why: string;
  /** The agent's own words, where there are more of them. */
  text?: string;
  /** How the round that runs ended; left out: it was stopped. */
  ended?: RoundEnd;
  /** Where it is queued; left out: by its number. */
  where?: "by_priority" | "first" | "last";
  /** What a round is that begins by this. */
  next?: Partial<NextRound>;
}
export interface NextRound {
  kind: string;
  trigger: Trigger;
  events: string[];
  priority: number;
}

/** Brings an item to another state. The caller has asked `cannotMove` where somebody else chose the state. */
export function moveTo(desk: Desk, id: string, to: ItemState, move: Move): ItemRow {
  const { db, now } = desk;
  const row = mustItem(desk, id);
  const fault = cannotMove(row.state, to, move.mover);
  if (fault !== undefined) throw new Error(fault);
  if (to === "canceled") tellCanceled(desk, row, move.why);
  if (row.state === "active") endRound(desk, row, move.ended ?? "stopped");
  else if (to === "canceled" || to === "done") endRound(desk, row, to);
  if (row.state === "queued") db.run("DELETE FROM offers WHERE item = ?", id);
  change(db, id, {
    state: to,
    why: to === "waiting" || to === "blocked" || to === "canceled" ? move.why : null,
    place: null,
    queued_at: null,
    not_before: null,
    declines: 0,
    interrupted: to === "queued" && move.ended === "interrupted" ? 1 : 0,
    moving: null,
    changed_at: now,
    // What others take from the agent it may go on with until it is told (OFFER-7).
    ...(row.state === "active" && move.mover !== "agent" && { held: 1 }),
  });
  note(desk, id, { by: move.by, was: row.state, became: to, why: move.why });
  if (to === "queued") beginRound(desk, id, move);
  if (to === "waiting") desk.alarm("stuck", now + WAITS_TOO_LONG_MS);
  if (to === "done" || to === "canceled") cancelQuestions(desk, id);
  if (row.question !== null && to !== "queued" && to !== "active" && to !== "waiting")
    questionEnded(desk, row, to === "done" ? move.text : undefined, move.why);
  return mustItem(desk, id);
}

/** The traces of what was still to be done say that it will not be (PIPE-1). */
function tellCanceled(desk: Desk, row: ItemRow, why: string): void {
  const last = round(desk.db, row.id, row.round);
  const events = new Set([
    ...(last?.ended_at === null ? eventsOf(last) : []),
    ...pendingFeedback(desk.db, row.id).map(({ event }) => event),
  ]);
  if (events.size > 0)
    desk.toBoard("canceled", { handle: desk.handle, item: row.id, events: [...events], why });
}

export function mustItem(desk: Desk, id: string): ItemRow {
  const row = item(desk.db, id);
  if (!row) throw new Error("there is no such item");
  return row;
}

/** What rounds that came to nothing were given, the next one is given again. */
const AGAIN: ReadonlySet<RoundEnd> = new Set([
  "interrupted",
  "blocked",
  "failed",
  "stopped",
  "moved",
  "canceled",
]);

/** Queues an item for a round: the one that nobody took up yet, or a new one (PIPE-2). */
function beginRound(desk: Desk, id: string, { where, next = {} }: Move): void {
  const { db, now } = desk;
  const row = mustItem(desk, id);
  const last = round(db, id, row.round);
  let n = row.round;
  let kind = next.kind ?? row.kind;
  if (!last || last.accepted_at !== null || last.ended_at !== null) {
    const again = last?.ended !== undefined && last.ended !== null && AGAIN.has(last.ended);
    if (last && again) db.run("UPDATE feedback SET round = NULL WHERE item = ? AND round = ?", id, last.n);
    const pending = pendingFeedback(db, id);
    const first = pending[0];
    kind = next.kind ?? (again ? last?.kind : first?.kind) ?? row.kind;
    const open = last?.ended === "interrupted" ? last.run_id : null;
    const room = joined(again ? (last?.room ?? null) : null, pending);
    n += 1;
    db.run(
      `INSERT INTO rounds (item, n, kind, trigger, events, made_at, before, room, run_id)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      id,
      n,
      kind,
      next.trigger ?? (again ? last?.trigger : first?.trigger) ?? row.trigger,
      JSON.stringify([
        ...new Set([
          ...(again && last ? eventsOf(last) : []),
          ...pending.map((f) => f.event),
          ...(next.events ?? []),
        ]),
      ]),
      now,
      // What the first round found is what a round that was cut short is measured by (OFFER-6).
      last?.ended === "interrupted" ? last.before : null,
      room === undefined ? null : JSON.stringify(room),
      open,
    );
  }
  const priority = next.priority ?? (kind === row.kind ? row.priority : priorityOf(desk, kind));
  change(db, id, {
    round: n,
    kind,
    trigger: next.trigger ?? round(db, id, n)?.trigger ?? row.trigger,
    priority,
    queued_at: now,
    place: placeOf(desk, id, priority, where ?? "by_priority"),
  });
}

/** What is pending joins the round that is queued; an offer that is out is sent anew, since `rev` counts up. */
export function joinRound(desk: Desk, id: string): void {
  const row = mustItem(desk, id);
  const last = round(desk.db, id, row.round);
  if (!last) return;
  const pending = pendingFeedback(desk.db, id);
  const room = joined(last.room, pending);
  changeRound(desk.db, id, last.n, {
    events: JSON.stringify([...new Set([...eventsOf(last), ...pending.map((f) => f.event)])]),
    room: room === undefined ? null : JSON.stringify(room),
  });
  change(desk.db, id, {});
  desk.changed(id);
}

/** The messages that a round's run answers: of one space, the first one's. */
function joined(stands: string | null, pending: readonly FeedbackRow[]) {
  const room =
    stands === null ? undefined : (JSON.parse(stands) as { spaceId: string; messageIds: string[] });
  const spaceId = room?.spaceId ?? pending.find((f) => f.room_space !== null)?.room_space;
  if (typeof spaceId !== "string") return undefined;
  const more = pending.flatMap((f) =>
    f.room_space === spaceId && f.room_message !== null ? [f.room_message] : [],
  );
  return { spaceId, messageIds: [...new Set([...(room?.messageIds ?? []), ...more])] };
}

/** How the rooms call the end of a round (CHAT-2); an interrupted one goes on. */
const OUTCOMES: Readonly<Record<Exclude<RoundEnd, "interrupted">, Outcome>> = {
  done: "done",
  waiting: "done",
  silent: "no_reply",
  canceled: "stopped",
  stopped: "stopped",
  moved: "stopped",
  blocked: "failed",
  failed: "failed",
};

/** Ends the newest round, if it is open: in its row, and in the room that shows it as a run. */
export function endRound(desk: Desk, row: ItemRow, ended: RoundEnd): void {
  const last = round(desk.db, row.id, row.round);
  if (!last || last.ended_at !== null) return;
  changeRound(desk.db, row.id, last.n, { ended_at: desk.now, ended });
  forgetProgress(desk.db, row.id);
  if (ended === "interrupted") return;
  const runId = last.run_id ?? startRun(desk, row, last);
  if (runId !== undefined) desk.toRoom("run_end", { runId, outcome: OUTCOMES[ended] });
}

/** Shows a round in the room that asked for it, as a run of the person's agent (CHAT-2). */
export function startRun(desk: Desk, row: ItemRow, of: RoundRow): string | undefined {
  const room = roomOf(of);
  if (room === undefined) return undefined;
  const runId = of.run_id ?? desk.clock.mint("run");
  if (of.run_id === null) changeRound(desk.db, row.id, of.n, { run_id: runId });
  desk.toRoom("run_start", { runId, handle: desk.handle, ...room });
  return runId;
}
