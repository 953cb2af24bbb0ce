/** The policy's versions and the standing grants. */
import { createHash } from "node:crypto";
import { grantKey } from "../../../src/shared/rules/grants.ts";
import type { Policy } from "../../../src/shared/rules/policy.ts";
import type { Action, PolicyClasses, PolicyRule, RiskClass } from "../../../src/shared/wire/index.ts";
import type { Db } from "../../kit/db.ts";

export interface GrantRow {
  id: string;
  agent_id: string;
  /** The hash of what it holds for. */
  ask: string;
  /** JSON: the action as it was allowed. */
  action: string;
  /** JSON: its classes, those of the policy included. */
  risk: string;
  approval_id: string;
  space_id: string;
  given_by: string;
  given_at: number;
  expires_at: number;
  revoked_at: number | null;
  revoked_by: string | null;
}

/** The policy as it stands, or as it stood in a version; nobody having set one, everything asks. */
export function policyOf(db: Db, version?: number): Policy | undefined {
  const row = db.one<{ version: number; rules: string; classes: string }>(
    version === undefined
      ? "SELECT version, rules, classes FROM policies ORDER BY version DESC LIMIT 1"
      : "SELECT version, rules, classes FROM policies WHERE version = ?",
    ...(version === undefined ? [] : [version]),
  );
  if (row)
    return {
      version: row.version,
      rules: JSON.parse(row.rules) as PolicyRule[],
      classes: JSON.parse(row.classes) as PolicyClasses,
    };
  return (version ?? 0) === 0 ? { version: 0, rules: [], classes: {} } : undefined;
}

interface Granted {
  agent_id: string;
  action: Action;
  risk: readonly RiskClass[];
}

function askHash(ask: Granted): string {
  return createHash("sha256").update(grantKey(ask)).digest("base64");
}

/** The grant that holds for exactly this ask, if one does (APR-7). */
export function grantFor(db: Db, ask: Granted, now: number): GrantRow | undefined {
  return db.one(
    "SELECT * FROM grants WHERE ask = ? AND agent_id = ? AND revoked_at IS NULL AND expires_at > ? LIMIT 1",
    askHash(ask),
    ask.agent_id,
    now,
  );
}

export function grant(db: Db, id: string): GrantRow | undefined {
  return db.one("SELECT * FROM grants WHERE id = ?", id);
}

export interface NewGrant extends Granted {
  id: string;
  approvalId: string;
  spaceId: string;
  by: string;
  now: number;
  expiresAt: number;
}

export function insertGrant(db: Db, made: NewGrant): void {
  db.run(
    `INSERT INTO grants (id, agent_id, ask, action, risk, approval_id, space_id, given_by, given_at, expires_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    made.id,
    made.agent_id,
    askHash(made),
    JSON.stringify(made.action),
    JSON.stringify(made.risk),
    made.approvalId,
    made.spaceId,
    made.by,
    made.now,
    made.expiresAt,
  );
}
