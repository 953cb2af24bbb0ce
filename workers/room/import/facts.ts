/** The facts of an export as the log, and what the room keeps beside it: all that follows from them (LOG-6). */
import type { Exported, FactType } from "../../../src/shared/wire/index.ts";
import type { Db } from "../../kit/db.ts";
import { addViewers } from "../store/approvals.ts";
import { addLine, append } from "../store/log.ts";
import { indexWords, insertWords, unindexWords, wordsOf } from "../store/messages.ts";
import { run } from "../store/runs.ts";

type Fact = Exported<"fact">;

/** What contexts show as lines (WIN-3). */
const LINES = new Set([
  "space.renamed",
  "space.archived",
  "space.unarchived",
  "member.joined",
  "member.left",
]);

export interface Facts {
  take(fact: Fact): void;
  /** Spaces whose pause was told to people whose words wait (GUARD-5). */
  readonly told: ReadonlySet<string>;
  /** Once every fact is in. */
  finish(): void;
}

export function openFacts(db: Db): Facts {
  const told = new Set<string>();
  const renames: { id: string; seq: number }[] = [];
  return {
    told,
    take(fact) {
      const { write, actor, body, seq, space_id: spaceId } = fact;
      append(db, seq, {
        id: fact.id,
        type: fact.fact as FactType,
        at: Date.parse(fact.at),
        spaceId,
        runId: fact.run_id,
        actor,
        body,
        mark: write && { ...write, receipt: JSON.stringify(write.receipt) },
      });
      if (spaceId !== undefined && LINES.has(fact.fact)) addLine(db, spaceId, seq);
      if (fact.fact === "participant.renamed") renames.push({ id: String(body["participant_id"]), seq });
      if (spaceId !== undefined && fact.fact === "agents.paused") told.delete(spaceId);
      if (spaceId !== undefined && body["code"] === "held_by_pause") told.add(spaceId);
      BESIDE[fact.fact]?.(db, fact);
    },
    finish() {
      // Who was where is known once every claim is.
      for (const { id, seq } of renames)
        for (const { space_id } of db.all<{ space_id: string }>(
          `SELECT space_id FROM stays WHERE participant_id = ?1 AND coalesce(claimed_seq, joined_seq) < ?2
           AND (left_seq IS NULL OR left_seq > ?2)`,
          id,
          seq,
        ))
          addLine(db, space_id, seq);
    },
  };
}

const BESIDE: Record<string, (db: Db, fact: Fact) => void> = {
  "message.posted": posted,
  "message.edited": edited,
  "message.deleted": deleted,
  "message.handed": (db, { seq, body }) => {
    for (const id of body["takers"] as string[])
      db.run(
        "INSERT OR REPLACE INTO handovers (message_id, agent_id, seq) VALUES (?, ?, ?)",
        String(body["message_id"]),
        id,
        seq,
      );
  },
  "run.started": (db, { run_id, body }) => {
    for (const id of body["message_ids"] as string[])
      db.run(
        "INSERT OR REPLACE INTO run_messages (message_id, agent_id, run_id) VALUES (?, ?, ?)",
        id,
        String(body["agent_id"]),
        run_id ?? "",
      );
  },
  "run.ended": (db, { run_id, at }) => {
    const of = run(db, run_id ?? "");
    if (of)
      db.run(
        "INSERT OR REPLACE INTO last_turns (space_id, agent_id, ended_at) VALUES (?, ?, ?)",
        of.space_id,
        of.agent_id,
        Date.parse(at),
      );
  },
  // What the room paused at a ceiling goes on with the room (SPEND-2).
  "run.paused": (db, { run_id, body }) => {
    const how = body["because"] === undefined ? 1 : 2;
    db.run("UPDATE runs SET paused = ? WHERE id = ? AND paused != 0", how, run_id ?? "");
  },
  "space.claimed": (db, { space_id, seq, body }) => {
    db.run(
      `UPDATE stays SET claimed_seq = ?1 WHERE space_id = ?2 AND participant_id = ?3 AND joined_seq =
         (SELECT joined_seq FROM stays WHERE space_id = ?2 AND participant_id = ?4 AND left_seq = ?1)`,
      seq,
      space_id ?? "",
      String(body["agent_id"]),
      String(body["harness_id"]),
    );
  },
  "approval.routed": (db, { body }) =>
    addViewers(db, String(body["approval_id"]), body["approvers"] as string[]),
};

function posted(db: Db, { seq, at, space_id, run_id, actor, body, words }: Fact): void {
  const id = String(body["message_id"]);
  const spaceId = space_id ?? "";
  const harness = actor.kind === "harness" ? actor.id : actor.harness_id;
  if (harness !== undefined)
    db.run(
      "INSERT OR REPLACE INTO spoke (space_id, harness_id, since_seq) VALUES (?, ?, ?)",
      spaceId,
      harness,
      (run_id === undefined ? undefined : run(db, run_id)?.delivered_seq) ?? seq,
    );
  // One that was deleted is a row without words, and no line.
  if (!words)
    return void db.run(
      "INSERT INTO messages (id, edition, seq, at, text, mentions, files) VALUES (?, 1, ?, ?, NULL, '[]', '[]')",
      id,
      seq,
      Date.parse(at),
    );
  addLine(db, spaceId, seq);
  const mentions = JSON.stringify(words.mentions);
  const files = JSON.stringify(words.files);
  insertWords(db, { id, edition: 1, seq, at: Date.parse(at), text: words.text, mentions, files });
  indexWords(db, seq, words.text);
  for (const { attachment_id } of words.files)
    db.run(
      "INSERT OR IGNORE INTO attachment_uses (attachment_id, space_id, message_id) VALUES (?, ?, ?)",
      attachment_id,
      spaceId,
      id,
    );
}

function edited(db: Db, { at, body, words }: Fact): void {
  const before = wordsOf(db, String(body["message_id"]));
  if (!before) return;
  const edition = Number(body["edition"]);
  if (before.text === null || !words)
    return void db.run("UPDATE messages SET edition = ? WHERE id = ? AND text IS NULL", edition, before.id);
  unindexWords(db, before.seq, before.text);
  const mentions = JSON.stringify(words.mentions);
  insertWords(db, { ...before, edition, at: Date.parse(at), text: words.text, mentions });
  indexWords(db, before.seq, words.text);
}

function deleted(db: Db, { at, body }: Fact): void {
  db.run(
    "UPDATE messages SET edition = edition + 1, at = ? WHERE id = ? AND text IS NULL",
    Date.parse(at),
    String(body["message_id"]),
  );
}
