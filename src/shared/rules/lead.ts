/** A person's or an agent's message as the lead's hand-overs look at it. */
export interface LeadMessage {
  from_person: boolean;
  addressed_to: readonly string[];
  /** The rule of ADDR that decided: `Addressees["rule"]`. */
  why: string;
  mentions_people_only: boolean;
  /** It answers a question to a person, as the answer itself or as a reply to its message. */
  answers_question: boolean;
  deleted: boolean;
  held: boolean;
}

/**
 * Whether a message is the lead's once the room is still (LEAD-2, LEAD-3): a person's that was nobody's turn.
 * Words meant for one agent, or for every agent, go to no other where those cannot be addressed (ADDR-3); a held
 * one is handed to whom it was held from. A message through a webhook is no person's (ADDR-4).
 */
export function wantsLead(message: LeadMessage): boolean {
  return (
    message.from_person &&
    message.addressed_to.length === 0 &&
    message.why === "nobody" &&
    !message.mentions_people_only &&
    !message.answers_question &&
    !message.deleted &&
    !message.held
  );
}

/** Typing is over so long after it was last said (SPACE-8). */
export const TYPING_MS = 6_000;

/** What last happened in a space, as far as it matters for stillness. */
export interface LastActivity {
  /** The newest message that is for an agent or for the lead. */
  postedAt: number;
  typingAt?: number | undefined;
  /** When the last turn ended. */
  workedAt?: number | undefined;
  /** Turns going now; one that is waiting or silent is not going (TURN-5). */
  workingRuns: number;
}

/**
 * When the room will have been still for `stillMs` (LEAD-2), so that its lead is handed what was nobody's; the time
 * may have passed. `undefined` while a turn goes, or where the setting is off.
 */
export function stillAt(last: LastActivity, stillMs: number | null): number | undefined {
  if (stillMs === null || last.workingRuns > 0) return undefined;
  const typed = last.typingAt === undefined ? 0 : last.typingAt + TYPING_MS;
  return Math.max(last.postedAt, typed, last.workedAt ?? 0) + stillMs;
}
