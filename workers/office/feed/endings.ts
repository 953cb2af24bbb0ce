/** Handing back what the office's own agent ended, and telling who asked (OFFER-6, REPORT-3, CTX-7). */
import type { AgentPayload } from "../../../src/shared/wire/agent/index.ts";
import type { Desk, Look } from "../desk.ts";
import { hashOf } from "../frames.ts";
import { AgentRefused } from "../handler.ts";
import { evidence, fail, handback } from "../messages/round.ts";
import { item as itemRow } from "../store/items.ts";
import type { Beside, StreamOutside } from "../streams/hooks.ts";
import { dropRound, endedRounds, type HouseRound, type RoundAnswer, tellModel } from "./rounds.ts";
import { usageSince } from "./usage.ts";

/** So often a model is told that a round cannot end so, before it ends as blocked. */
const TELLS = 1;
const NOTHING_TO_REVIEW =
  "This work cannot be done yet: there is nothing to review. Use hand_back with to_review that names a pull request, a document or a link, or with the status waiting or blocked and the reason. If you only answer again, it is handed back as blocked.";

/** Hands back every round that ended, one after the other. */
export async function handBackEnded(beside: Beside): Promise<void> {
  for (const of of endedRounds(beside.look())) {
    const how = JSON.parse(of.ended ?? "{}") as RoundAnswer;
    const said = "answer" in how ? how.answer.trim() : "";
    // oxlint-disable-next-line no-await-in-loop -- each asks the board about its own work
    const reviewable = "answer" in how && (await isReviewable(beside.look(), of, said));
    beside.work((desk) => endOne(desk, of, how, said, reviewable));
  }
}

function isReviewable(look: Look, of: HouseRound, summary: string): Promise<boolean> {
  return evidence(look, { workItemId: of.item, status: statusOf(summary), summary, links: [] });
}

function statusOf(said: string): "done" | "silent" {
  return said === "" || said.toUpperCase() === "NO_REPLY" ? "silent" : "done";
}

function endOne(desk: Desk, seen: HouseRound, how: RoundAnswer, said: string, reviewable: boolean): void {
  const of = desk.db.one<HouseRound>("SELECT * FROM house_rounds WHERE item = ?", seen.item);
  const row = itemRow(desk.db, seen.item);
  if (!of || !row || of.ended !== seen.ended || of.round !== seen.round || row.state !== "active") return;
  if ("answer" in how && !reviewable && of.told < TELLS) return tellModel(desk, of, NOTHING_TO_REVIEW);
  dropRound(desk, of.item);
  const usage = usageSince(desk, of);
  try {
    if ("fault" in how) {
      const payload: AgentPayload<"fail"> = { workItemId: of.item, reason: how.fault.slice(0, 1000), usage };
      fail(desk, payload, frameOf("fail", payload));
    } else {
      const status = statusOf(said);
      const summary = status === "silent" ? "" : said;
      const payload: AgentPayload<"handback"> = { workItemId: of.item, status, summary, links: [], usage };
      handback(desk, payload, frameOf("handback", payload), reviewable);
    }
  } catch (error) {
    if (!(error instanceof AgentRefused)) throw error;
    const payload: AgentPayload<"fail"> = { workItemId: of.item, reason: error.message };
    fail(desk, payload, frameOf("fail", payload));
  }
}

function frameOf(type: string, payload: object) {
  return { id: `house-${type}`, hash: hashOf(type, payload) };
}

/** After every commit that touched a stream: what ended by it is handed back. */
export const HOUSE_OUTSIDE: StreamOutside = {
  committed(beside) {
    if (endedRounds(beside.look()).length > 0)
      beside.waitUntil(handBackEnded(beside).catch((error: unknown) => beside.fault(error)));
  },
};
