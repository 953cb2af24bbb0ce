/** How an ask for leave stands, as the office of who asked is told (APR-3). */
import type { Db } from "../../kit/db.ts";
import { type ApprovalRow, decidedInput } from "../store/approvals.ts";
import { participant } from "../store/participants.ts";

export interface AskStands {
  state: ApprovalRow["state"];
  /** Whether it may be done, once it is decided. */
  allowed?: boolean;
  /** The input that it was decided on: the approver may have changed it (APR-5). */
  input?: unknown;
  via?: ApprovalRow["via"];
  /** The name of who decided. */
  by?: string;
  expires_at: string;
}

export function askStands(db: Db, row: ApprovalRow): AskStands {
  const by = row.decided_by === null ? undefined : participant(db, row.decided_by)?.name;
  return {
    state: row.state,
    expires_at: new Date(row.expires_at).toISOString(),
    ...(row.decision !== null && { allowed: row.decision === "allow", ...decidedInput(row), via: row.via }),
    ...(by !== undefined && { by }),
  };
}
