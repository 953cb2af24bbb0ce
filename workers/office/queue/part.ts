/** What the queue does at the turns of a connection and after every piece of work. */
import { offerErred } from "../messages/round.ts";
import { isBusy } from "../store/items.ts";
import type { Part } from "../turns.ts";
import { restartSoon } from "./membership.ts";
import { releaseDue } from "./moves.ts";

export const QUEUE: Part = {
  welcomed(desk) {
    // What has the agent on it can look stuck again.
    if (isBusy(desk.db)) desk.alarm("stuck", desk.now);
    return {};
  },
  erred: (desk, replyTo, { message }) => offerErred(desk, replyTo, message),
  after(desk) {
    releaseDue(desk);
    restartSoon(desk);
  },
};
