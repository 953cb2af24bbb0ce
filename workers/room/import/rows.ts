/** The lines of an export as rows (LOG-6): the way back of `export/lines.ts`. Facts have a file of their own. */
import { foldHandle } from "../../../src/shared/rules/handles.ts";
import { toMicros } from "../../../src/shared/rules/spend.ts";
import type { Exported, ExportedLine } from "../../../src/shared/wire/index.ts";
import type { Db, SqlValue } from "../../kit/db.ts";
import { addViewers } from "../store/approvals.ts";
import { insertGrant } from "../store/policy.ts";

export type Structural = Exclude<ExportedLine["type"], "fact" | "end">;

/** Where an import's lines go. */
export interface Into {
  db: Db;
  workspaceId: string;
}

type Row = Record<string, SqlValue | undefined>;

function insert(db: Db, table: string, row: Row): void {
  const names = Object.keys(row);
  db.run(
    `INSERT INTO ${table} (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`,
    ...Object.values(row).map((value) => value ?? null),
  );
}

const ms = (at: string): number => Date.parse(at);
const when = (at: string | undefined): number | null => (at === undefined ? null : ms(at));
const flag = (value: true | undefined): number => (value ? 1 : 0);
const json = (value: unknown): string | null => (value === undefined ? null : JSON.stringify(value));

/** One function a type of line. */
export const ROWS: { [T in Structural]: (into: Into, line: Exported<T>) => void } = {
  workspace({ db }, { workspace_id, name, created_at, settings }) {
    const row = { id: workspace_id, name, created_at: ms(created_at), settings: JSON.stringify(settings) };
    insert(db, "workspace", row);
  },
  participant({ db }, p) {
    insert(db, "participants", {
      id: p.participant_id,
      kind: p.kind,
      name: p.name,
      role: p.role,
      harness_id: p.harness_id,
      time_zone: p.time_zone,
      context_lines: p.context?.lines,
      context_chars: p.context?.chars,
      can: json(p.can),
      cursor: p.cursor,
      created_at: ms(p.created_at),
      withdrawn: flag(p.withdrawn),
      removed_at: when(p.removed_at),
      office_handle: p.office_handle,
      office_paused: flag(p.office_paused),
      // The team's config is not imported: the board tells it anew.
      office_hears: 0,
    });
  },
  space({ db }, s) {
    insert(db, "spaces", {
      id: s.space_id,
      title: s.title,
      visibility: s.visibility,
      archived: flag(s.archived),
      direct: s.direct?.join(" "),
      lead: s.lead,
      ceiling_usd: s.ceiling_usd,
      ceiling_set: s.ceiling_usd === undefined ? 0 : 1,
      harness_id: s.harness_id,
      agent_name: s.agent_name,
      claimed_by: s.claimed_by,
      created_seq: s.created_seq,
    });
  },
  stay({ db }, { type: _, ...stay }) {
    insert(
      db,
      "stays",
      picked(stay, ["space_id", "participant_id", "joined_seq", "left_seq", "role", "handle"]),
    );
  },
  handle({ db }, { space_id, handle, participant_id, released_at }) {
    const folded = foldHandle(handle);
    insert(db, "handles", { space_id, folded, handle, participant_id, released_at: when(released_at) });
  },
  mark({ db }, { space_id, participant_id, read_seq }) {
    insert(db, "marks", { space_id, participant_id, read_seq });
  },
  policy({ db }, { version, rules, classes, at, by }) {
    insert(db, "policies", {
      version,
      rules: JSON.stringify(rules),
      classes: JSON.stringify(classes),
      at: ms(at),
      by,
    });
  },
  attachment({ db, workspaceId }, a) {
    const { attachment_id, sha256, filename, uploaded_by, transcript, created_at } = a;
    const known = db.one<{ byte_size: number }>("SELECT byte_size FROM blobs WHERE sha256 = ?", sha256);
    if (known && known.byte_size !== a.byte_size) throw new Error("the same bytes in two sizes");
    if (!known)
      insert(db, "blobs", {
        sha256,
        r2_key: `${workspaceId}/${attachment_id.slice("att_".length)}`,
        byte_size: a.byte_size,
        mime_type: a.mime_type,
        width: a.width,
        height: a.height,
        duration_ms: a.duration_ms,
        missing: 1,
      });
    const row = { id: attachment_id, sha256, filename, uploaded_by, transcript, created_at: ms(created_at) };
    insert(db, "attachments", row);
  },
  file({ db }, { type: _, at, ...file }) {
    const names = ["space_id", "name", "version", "attachment_id", "message_id", "seq", "by"] as const;
    const later = picked(file, ["replaces", "superseded_seq"]);
    insert(db, "files", { ...picked(file, names), at: ms(at), ...later });
  },
  run({ db }, r) {
    insert(db, "runs", {
      id: r.run_id,
      ...picked(r, ["space_id", "agent_id", "harness_id", "started_seq", "delivered_seq", "step"]),
      started_at: ms(r.started_at),
      heard_at: ms(r.heard_at),
      paused: flag(r.paused),
      stopping_at: when(r.stopping_at),
      cost_micros: r.cost_usd === undefined ? null : toMicros(r.cost_usd),
      ...picked(r, ["input_tokens", "output_tokens", "ended_seq", "outcome"]),
      ended_at: when(r.ended_at),
    });
  },
  approval({ db }, a) {
    insert(db, "approvals", {
      id: a.approval_id,
      ...picked(a, [
        "space_id",
        "run_id",
        "agent_id",
        "harness_id",
        "asked",
        "fallback",
        "asked_seq",
        "rule",
      ]),
      request: JSON.stringify(a.request),
      matters: flag(a.matters),
      approvers: JSON.stringify(a.approvers),
      asked_at: ms(a.asked_at),
      expires_at: ms(a.expires_at),
      ...picked(a, ["version", "state", "decision", "via", "decided_by", "decided_seq", "grant_id"]),
      decided_at: when(a.decided_at),
      input: json(a.input),
    });
    addViewers(db, a.approval_id, [a.harness_id, ...a.request.approvers, ...a.approvers]);
  },
  grant({ db }, g) {
    const { grant_id: id, agent_id, action, risk, space_id: spaceId, approval_id: approvalId } = g;
    const times = { now: ms(g.given_at), expiresAt: ms(g.expires_at) };
    insertGrant(db, { id, agent_id, action, risk, spaceId, approvalId, by: g.given_by, ...times });
    if (g.revoked_at !== undefined)
      db.run(
        "UPDATE grants SET revoked_at = ?, revoked_by = ? WHERE id = ?",
        ms(g.revoked_at),
        g.revoked_by ?? null,
        id,
      );
  },
  question({ db }, q) {
    insert(db, "questions", {
      id: q.question_id,
      ...picked(q, ["space_id", "run_id", "agent_id", "harness_id", "asked", "text", "state"]),
      options: json(q.options),
      put_to: json(q.to),
      asked_at: ms(q.asked_at),
      ...picked(q, ["answer", "answered_by"]),
      answered_at: when(q.answered_at),
    });
  },
  audit({ db }, { type: _, event, at, detail, ...record }) {
    insert(db, "audit", {
      ...picked(record, ["n", "by", "subject", "saw", "prev", "hash"]),
      type: event,
      at: ms(at),
      detail: json(detail),
    });
    db.run("INSERT OR REPLACE INTO audit_head (one, n, hash) VALUES (1, ?, ?)", record.n, record.hash);
  },
};

/** Columns that are called as their fields are. */
function picked<T extends object, K extends keyof T & string>(from: T, names: readonly K[]): Row {
  const row: Row = {};
  for (const name of names) row[name] = from[name] as SqlValue | undefined;
  return row;
}
