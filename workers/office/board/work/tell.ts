/** Tells humans what concerns nobody in particular: every lead, in the space for notices, once a cause (QUEUE-6). */
import type { BoardLedger } from "../ledger.ts";

/** @returns whether it is told now: not when it was before, and not when the team has no space for notices */
export function tell(ledger: BoardLedger, cause: string, text: string): boolean {
  if (ledger.db.one("SELECT 1 FROM told WHERE cause = ?", cause)) return false;
  ledger.db.run("INSERT INTO told (cause, at) VALUES (?, ?)", cause, ledger.now);
  const { notify, humans } = ledger.team;
  if (notify === undefined) return false;
  const about = humans.flatMap((human) => (human.lead && human.user ? [human.user] : []));
  ledger.toRoom("notice", { spaceIds: [notify], code: "office", text, about });
  return true;
}
