/** The audit chain (APR-8): who did what and when, what they saw, each record with the hash of the one before. */
import { createHash } from "node:crypto";
import type * as z from "zod";
import {
  auditText,
  CHAIN_START,
  type ChainCheck,
  type ChainEnd,
  verifyChain,
} from "../../../src/shared/rules/audit.ts";
import { canonicalJson } from "../../../src/shared/rules/canonical.ts";
import type { auditItem } from "../../../src/shared/wire/http.ts";
import type { FactType } from "../../../src/shared/wire/index.ts";
import type { Db } from "../../kit/db.ts";
import type { Writer } from "../writer.ts";

export type AuditItem = z.infer<typeof auditItem>;

export interface AuditEntry {
  type: FactType;
  /** Whose doing it was: a participant's id, or `system`. */
  by: string;
  /** What it was about: an ask, a grant, the policy. */
  subject: string;
  /** The hash of what they saw. */
  saw?: string | undefined;
  detail?: object;
}

interface AuditRow {
  n: number;
  at: number;
  type: string;
  by: string;
  subject: string;
  saw: string | null;
  detail: string | null;
  prev: string;
  hash: string;
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** The hash of what somebody was shown, such as an ask's preview and input. */
export function sightOf(shown: object): string {
  return sha256(canonicalJson(shown));
}

/** Adds a record at the chain's end. Nothing here or elsewhere changes one or takes one away. */
export function addAudit(w: Pick<Writer, "db" | "now">, entry: AuditEntry): void {
  const end = chainEnd(w.db);
  const detail = entry.detail === undefined ? null : JSON.stringify(entry.detail);
  const row = {
    n: end.n + 1,
    at: w.now,
    type: entry.type,
    by: entry.by,
    subject: entry.subject,
    saw: entry.saw ?? null,
    detail,
    prev: end.hash,
  };
  const { hash: _, prev, ...content } = itemOf({ ...row, hash: "" });
  const hash = sha256(auditText(prev, content));
  w.db.run(
    "INSERT INTO audit (n, at, type, by, subject, saw, detail, prev, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    row.n,
    row.at,
    row.type,
    row.by,
    row.subject,
    row.saw,
    row.detail,
    row.prev,
    hash,
  );
  w.db.run("INSERT OR REPLACE INTO audit_head (one, n, hash) VALUES (1, ?, ?)", row.n, hash);
}

function chainEnd(db: Db): ChainEnd {
  return db.one<ChainEnd>("SELECT n, hash FROM audit_head") ?? CHAIN_START;
}

/** A record as it is read, and as its hash is made: whoever has the list can check it. */
function itemOf(row: AuditRow): AuditItem {
  return {
    n: row.n,
    at: new Date(row.at).toISOString(),
    type: row.type,
    by: row.by,
    subject: row.subject,
    ...(row.saw === null ? {} : { saw: row.saw }),
    ...(row.detail === null ? {} : { detail: JSON.parse(row.detail) as Record<string, unknown> }),
    prev: row.prev,
    hash: row.hash,
  };
}

/** Records after a number, in order. */
export function* auditAfter(db: Db, n: number, limit: number): Generator<AuditItem> {
  for (const row of db.each<AuditRow>("SELECT * FROM audit WHERE n > ? ORDER BY n LIMIT ?", n, limit))
    yield itemOf(row);
}

/** Checks the whole chain, and that it ends where it was last written to. */
export function verifyAudit(db: Db): ChainCheck {
  return verifyChain(readable(db), sha256, CHAIN_START, chainEnd(db));
}

/** A record that cannot even be read is a faulty one: it must be named like any other. */
function* readable(db: Db): Generator<AuditItem> {
  for (const row of db.each<AuditRow>("SELECT * FROM audit ORDER BY n")) {
    try {
      yield itemOf(row);
    } catch {
      yield { ...itemOf({ ...row, at: 0, detail: null }), hash: "" };
    }
  }
}
