/** What people are told of the board's own accord, each cause once (QUEUE-6). */
import type { WorkEvent } from "../../../../src/shared/wire/work.ts";
import type { BoardLedger } from "../ledger.ts";

/**
 * Says once in a space that somebody there is not listened to, and what to do about it: silence would read as an
 * agent that is broken (CHAT-1).
 */
export function tellUntrusted(ledger: BoardLedger, { chat, actor, source }: WorkEvent): void {
  if (source !== "room" || !chat) return;
  const cause = `untrusted ${chat.channel} ${actor.id} ${chat.to}`;
  if (ledger.db.one("SELECT 1 FROM told WHERE cause = ?", cause)) return;
  ledger.db.run("INSERT INTO told (cause, at) VALUES (?, ?)", cause, ledger.now);
  const name = ledger.team.people.find(({ handle }) => handle === chat.to)?.name ?? chat.to;
  const text = `${name} takes no work from ${actor.name ?? actor.id}, whom the team's config does not name among its humans. An owner or an admin can add them.`;
  ledger.toRoom("notice", { spaceIds: [chat.channel], code: "office", text, about: [actor.id] });
}

/**
 * Tells every lead, in the space for notices, what concerns nobody in particular (QUEUE-6).
 *
 * @returns whether it is told now: not when it was before, and not when the team has no space for notices
 */
export function tell(ledger: BoardLedger, cause: string, text: string): boolean {
  if (ledger.db.one("SELECT 1 FROM told WHERE cause = ?", cause)) return false;
  ledger.db.run("INSERT INTO told (cause, at) VALUES (?, ?)", cause, ledger.now);
  const { notify, humans } = ledger.team;
  if (notify === undefined) return false;
  const about = humans.flatMap((human) => (human.lead && human.user ? [human.user] : []));
  ledger.toRoom("notice", { spaceIds: [notify], code: "office", text, about });
  return true;
}
