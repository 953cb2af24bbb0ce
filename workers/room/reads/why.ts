/** GET /v1/why: the reasons behind an event that the asker may see (WHY-1). */
import type * as z from "zod";
import { type WhyBehind, whyOf } from "../../../src/shared/rules/why.ts";
import type { AskBehind } from "../../../src/shared/rules/why-asks.ts";
import type { Became } from "../../../src/shared/rules/why-messages.ts";
import type { StopBehind } from "../../../src/shared/rules/why-runs.ts";
import type * as http from "../../../src/shared/wire/http.ts";
import type { Db } from "../../kit/db.ts";
import { notFound } from "../../kit/result.ts";
import { bodyOf, frameFor, sharesSpace } from "../deliver/frames.ts";
import { approval, requestOf } from "../store/approvals.ts";
import { factAt, factById, linesAfter } from "../store/log.ts";
import { wordsOf } from "../store/messages.ts";
import { policyOf } from "../store/policy.ts";
import { run } from "../store/runs.ts";
import { isOpen } from "../store/spaces.ts";
import type { HandedBody, LogRow, PostedBody } from "../types.ts";
import type { Reader } from "./index.ts";

/** How many later lines are looked through for what took a held message's place. */
const MAX_SCANNED = 2000;

/** An event by its id, or a message by its own: the event that said it. */
export function why(r: Reader, args: { id: string }): z.infer<typeof http.whyAnswer> {
  const row = args.id.startsWith("msg_") ? postedAs(r.db, args.id) : factById(r.db, args.id);
  if (!row || !maySee(r, row)) notFound("event");
  const body = bodyOf(row);
  const fact = {
    seq: row.seq,
    type: row.type,
    at: new Date(row.at).toISOString(),
    actor: { kind: row.actor_kind, id: row.actor_id },
    body,
  };
  const behind: Omit<WhyBehind, "names"> = behindOf(r.db, row, body);
  return {
    event_id: row.id,
    type: row.type,
    seq: row.seq,
    decisions: whyOf(fact, { ...behind, names: namesOf(r, [row.actor_id, body, behind]) }),
  };
}

function postedAs(db: Db, messageId: string): LogRow | undefined {
  const words = wordsOf(db, messageId);
  return words && factAt(db, words.seq);
}

/** What is sent to the asker, and what a member of the workspace reads of an open space (SPACE-6). */
function maySee(r: Reader, row: LogRow): boolean {
  if (frameFor(r.round, r.viewer, row) !== undefined) return true;
  if (r.viewer.kind !== "person" || r.viewer.guest || row.space_id === null) return false;
  return /^(message|member|space)\./.test(row.type) && isOpen(r.db, row.space_id);
}

/** What the answer needs beside the fact itself. */
function behindOf(db: Db, row: LogRow, body: Record<string, unknown>): Omit<WhyBehind, "names"> {
  switch (row.type) {
    case "message.posted":
      return { became: becameOf(db, row, body as unknown as PostedBody) };
    case "message.handed": {
      const said = postedAs(db, String(body.message_id));
      return said ? { posted: { seq: said.seq, body: bodyOf(said) as unknown as PostedBody } } : {};
    }
    case "run.ended":
      return { stop: stopOf(db, row) };
    default:
      return { ask: askBehind(db, body.approval_id) };
  }
}

/** What has become of a message: its hand-overs, who still waits for it, whom a newer one reached instead. */
function becameOf(db: Db, row: LogRow, body: PostedBody): Became {
  const handed = db
    .all<{ agent_id: string; seq: number }>(
      "SELECT agent_id, seq FROM handovers WHERE message_id = ? ORDER BY seq, agent_id",
      body.message_id,
    )
    .flatMap(({ agent_id, seq }) => {
      const by = factAt(db, seq);
      return by ? [{ agent_id, seq, why: (bodyOf(by) as unknown as HandedBody).why }] : [];
    });
  const waiting = (body.held_from ?? []).filter(
    (id) =>
      db.one(
        "SELECT 1 FROM held WHERE space_id = ? AND agent_id = ? AND message_id = ?",
        row.space_id,
        id,
        body.message_id,
      ) !== undefined,
  );
  const open = new Set((body.held_from ?? []).filter((id) => !waiting.includes(id)));
  for (const { agent_id } of handed) open.delete(agent_id);
  const unclaimed = db.one<{ from_seq: number }>(
    "SELECT from_seq FROM unclaimed WHERE space_id = ?",
    row.space_id,
  );
  return {
    handed,
    waiting,
    superseded: supersededOf(db, row, open),
    for_lead:
      body.why === "nobody" &&
      row.actor_kind === "person" &&
      unclaimed !== undefined &&
      unclaimed.from_seq <= row.seq &&
      handed.length === 0,
  };
}

/** For each of these agents the next message that was held from it, if there is one. */
function supersededOf(db: Db, row: LogRow, of: Set<string>): Became["superseded"] {
  const out: { agent_id: string; by_message_id: string }[] = [];
  let scanned = 0;
  if (of.size === 0 || wordsOf(db, (bodyOf(row) as unknown as PostedBody).message_id)?.text === null)
    return out;
  for (const later of linesAfter(db, row.space_id ?? "", row.seq)) {
    scanned += 1;
    if (scanned > MAX_SCANNED || of.size === 0) break;
    if (later.type !== "message.posted") continue;
    const body = bodyOf(later) as unknown as PostedBody;
    for (const agent_id of body.held_from ?? [])
      if (of.delete(agent_id)) out.push({ agent_id, by_message_id: body.message_id });
  }
  return out;
}

/** Who had stopped a run that then ended: within half a minute, so not far before its end. */
function stopOf(db: Db, row: LogRow): StopBehind | undefined {
  const of = row.run_id === null ? undefined : run(db, row.run_id);
  if (!of || of.stopping_at === null) return undefined;
  const found = db.one<{ seq: number; actor_id: string }>(
    `SELECT seq, actor_id FROM log WHERE seq < ? AND seq > ? AND type = 'run.stopped' AND run_id = ?
     ORDER BY seq DESC LIMIT 1`,
    row.seq,
    of.started_seq,
    of.id,
  );
  return found && { seq: found.seq, by: found.actor_id };
}

/** The ask, and the policy in the version that judged it; its resume_token is nobody's to read (APR-10). */
function askBehind(db: Db, approvalId: unknown): AskBehind | undefined {
  const row = typeof approvalId === "string" ? approval(db, approvalId) : undefined;
  const policy = row && policyOf(db, row.version);
  if (!row || !policy) return undefined;
  return {
    approval_id: row.id,
    agent_id: row.agent_id,
    space_id: row.space_id,
    request: requestOf(row),
    rule: row.rule ?? undefined,
    policy,
    expires_at: new Date(row.expires_at).toISOString(),
    via: row.via ?? undefined,
    by: row.decided_by ?? undefined,
    grant_id: row.grant_id ?? undefined,
  };
}

/** Names of everybody whose id stands somewhere in what will be said; a guest knows whom they meet (SPACE-1). */
function namesOf(r: Reader, within: unknown): Map<string, string> {
  const names = new Map<string, string>();
  const knows = (id: string) =>
    !r.viewer.guest || id === r.viewer.id || sharesSpace(r.round, r.viewer.id, id);
  const look = (value: unknown): void => {
    if (typeof value === "string") {
      const name = /^(usr|agt|hrn)_/.test(value) ? r.round.who(value)?.name : undefined;
      if (name !== undefined && knows(value)) names.set(value, name);
    } else if (typeof value === "object" && value !== null) for (const one of Object.values(value)) look(one);
  };
  look(within);
  return names;
}
