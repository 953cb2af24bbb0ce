/** What the requests of a round used, as an agent reports it (USE-1). */
import type { SessionUsage } from "../../../src/shared/wire/agent/index.ts";
import type { StreamPayloads } from "../../../src/shared/wire/context/index.ts";
import type { Desk } from "../desk.ts";
import { round } from "../store/rounds.ts";
import { pathOf } from "../streams/paths.ts";
import { eventsAfter, streamId } from "../streams/store.ts";
import { type HouseRound, streamOf } from "./rounds.ts";

/** The sum over the requests since the round began: a session of its own, so that each counts once. */
export function usageSince(desk: Desk, of: HouseRound): SessionUsage[] {
  const name = streamOf(desk, of);
  const stream = streamId(desk.db, name.item ?? "");
  if (stream === undefined) return [];
  const sum = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheCreationTokens: 0 };
  let counted = false;
  for (const { type, payload } of eventsAfter(desk.db, stream, of.since - 1)) {
    if (type !== "llm-request-succeeded") continue;
    const { usage } = JSON.parse(payload) as StreamPayloads["llm-request-succeeded"];
    if (!usage) continue;
    const cached = Math.min(usage.cachedInputTokens ?? 0, usage.inputTokens);
    sum.inputTokens += usage.inputTokens - cached;
    sum.outputTokens += usage.outputTokens;
    sum.cacheReadTokens += cached;
    counted = true;
  }
  const model = round(desk.db, of.item, of.round)?.model ?? "default";
  return counted ? [{ session: `${pathOf(name)}#${of.since}`, models: { [model]: sum } }] : [];
}
