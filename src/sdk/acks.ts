/**
 * Which seq may be acknowledged. Acks are cumulative (CONN-4), so it is the one before the lowest event
 * that somebody still has to take: were it higher, a crash would lose that event.
 */
export class AckTracker {
  #highest: number;
  /** In order of arrival, which is the order of seq. */
  readonly #open = new Map<string, { seq: number; parties: Set<string> }>();

  constructor(handled = 0) {
    this.#highest = handled;
  }

  /** An event arrived; `parties` name what must be settled before it counts as handled. */
  begin(eventId: string, seq: number, parties: Iterable<string>): void {
    this.#highest = Math.max(this.#highest, seq);
    const waiting = new Set(parties);
    if (waiting.size > 0) this.#open.set(eventId, { seq, parties: waiting });
  }

  /** One party has finished with an event, or has it safe on the server. Settling twice changes nothing. */
  settle(eventId: string, party: string): void {
    const open = this.#open.get(eventId);
    if (!open) return;
    open.parties.delete(party);
    if (open.parties.size === 0) this.#open.delete(eventId);
  }

  /** The highest seq up to which everything is handled. */
  get handled(): number {
    for (const { seq } of this.#open.values()) return seq - 1;
    return this.#highest;
  }

  /** The server starts us anew at a seq, maybe a lower one; what is open belongs to the past. */
  reset(seq: number): void {
    this.#open.clear();
    this.#highest = seq;
  }
}
