/** Offers what may be offered: each is asked of the board, and looked at again before it goes out (OFFER-2). */

import type { Result } from "../../kit/result.ts";
import type { Connection, Desk, Look } from "../desk.ts";
import type { OfferAnswer, OfferAsk } from "../letters.ts";
import { askOf, dueOffer, sendOffer } from "./offer.ts";

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 60_000;
/** Should the object die while it waits for the board, the alarm goes on. */
const ASKED_MS = 5000;

export interface OfferingNeed {
  look(): Look;
  /** The connection that offers go to. */
  current(): Connection | undefined;
  ask(ask: OfferAsk): Promise<Result<OfferAnswer>>;
  work(work: (desk: Desk) => void): void;
  alarm(at: number): void;
  fault(error: unknown): void;
}

/** The loop of one office: called after every piece of work, it runs once at a time. */
export function openOffering(need: OfferingNeed): () => Promise<void> {
  /** Whether an offer is being made: what happens meanwhile is seen when it goes on. */
  let offering = false;
  let failures = 0;
  return async () => {
    if (offering) return;
    offering = true;
    try {
      for (;;) {
        const { db, now, handle } = need.look();
        const due = dueOffer(db, now, need.current());
        if (!("item" in due)) {
          if (due.at !== undefined) need.alarm(Math.max(due.at, now + 1));
          return;
        }
        need.alarm(now + ASKED_MS);
        // oxlint-disable-next-line no-await-in-loop -- one offer after the other: each changes what may follow
        const answer = await need.ask(askOf(db, handle, due.item));
        if (!answer.ok) throw new Error(`the board did not answer: ${answer.error.code}`);
        failures = 0;
        need.work((desk) => sendOffer(desk, due, answer.value));
      }
    } catch (error) {
      need.fault(error);
      failures += 1;
      need.alarm(need.look().now + Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(failures, 8)));
    } finally {
      offering = false;
    }
  };
}
