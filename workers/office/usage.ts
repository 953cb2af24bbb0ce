/** What rounds use (USE-1): running totals of runtime sessions, of which only what is new counts. */
import { type Added, addUsage, type Baseline, sumUsage } from "../../src/shared/rules/session-usage.ts";
import { MOST_COST_USD, toUsd } from "../../src/shared/rules/spend.ts";
import type { SessionUsage } from "../../src/shared/wire/agent/index.ts";
import type { Desk } from "./desk.ts";
import { AgentRefused } from "./handler.ts";
import type { RoundUsage } from "./letters.ts";
import { item as itemRow } from "./store/items.ts";
import { refsOf } from "./store/parts.ts";
import { round as roundRow } from "./store/rounds.ts";

const MOST_SESSIONS = 100;
const MOST_MODELS = 100;
const LONGEST_MODEL = 200;

/** Notes that a runtime session is an item's; one that is another item's is refused (OFFER-5, USE-1). */
export function claimSession(desk: Desk, item: string, session: string): void {
  if (session === "" || session.length > 500)
    throw new AgentRefused("invalid", "A session's id has 1 to 500 characters.");
  const owner = desk.db.one<{ item: string }>("SELECT item FROM sessions WHERE session = ?", session)?.item;
  if (owner === item) return;
  if (owner !== undefined)
    throw new AgentRefused("invalid", "This session is of another work item. Start one for each item.");
  desk.db.run("INSERT INTO sessions (session, item) VALUES (?, ?)", session, item);
}

/**
 * Takes what a round used: counts what is new, tells the board, and a chat item's room (SPEND-4). A round without
 * usage counts as a run all the same. Call it once for each round that ended.
 */
export function takeUsage(
  desk: Desk,
  item: string,
  round: number,
  usage: readonly SessionUsage[] | undefined,
): void {
  const models = countNew(desk, item, usage ?? []);
  const row = roundRow(desk.db, item, round);
  const left = itemRow(desk.db, item) ? undefined : leftBehind(desk, item);
  const used: RoundUsage = {
    handle: desk.handle,
    item,
    round,
    kind: row?.kind ?? left?.kind ?? "assigned",
    ...(left?.named ?? namedBy(desk, item)),
    models: [...models].map(([model, { costMicros, ...tokens }]) => ({
      model,
      ...tokens,
      costUsd: toUsd(costMicros),
    })),
  };
  desk.toBoard("used", used);
  const runId = row?.run_id ?? undefined;
  if (runId !== undefined) tellRun(desk, runId, [...models.values()]);
}

/** Keys of the tickets and pull requests that an item's work counts for (USE-2): its subject, and what it refers to. */
export function namedBy(desk: Desk, item: string): Pick<RoundUsage, "tickets" | "prs"> {
  const subject = itemRow(desk.db, item);
  const refs = refsOf(desk.db, item).filter(({ role }) => role !== "linked" && role !== "inferred");
  const named = (type: string): string[] => [
    ...new Set([
      ...(subject?.subject_type === type && subject.subject_ref ? [subject.subject_ref] : []),
      ...refs.filter((ref) => ref.type === type).map(({ ref }) => ref),
    ]),
  ];
  return { tickets: named("ticket"), prs: named("pr") };
}

/** What was known of an item when it went to another office: its late hand-back counts for the same (OFFER-7). */
function leftBehind(desk: Desk, item: string) {
  const row = desk.db.one<{ kind: string; named: string }>(
    "SELECT kind, named FROM left_items WHERE item = ?",
    item,
  );
  return row && { kind: row.kind, named: JSON.parse(row.named) as Pick<RoundUsage, "tickets" | "prs"> };
}

function countNew(desk: Desk, item: string, usage: readonly SessionUsage[]): Map<string, Added> {
  if (usage.length > MOST_SESSIONS || usage.some(({ models }) => Object.keys(models).length > MOST_MODELS))
    throw new AgentRefused("invalid", "A round's usage has at most 100 sessions with 100 models each.");
  const { prices } = desk.team.usage;
  const models = new Map<string, Added>();
  for (const { session, models: totals } of usage) {
    claimSession(desk, item, session);
    for (const [model, total] of Object.entries(totals)) {
      if (model.length > LONGEST_MODEL)
        throw new AgentRefused("invalid", "A model's name in usage has at most 200 characters.");
      const before = desk.db.one<{ totals: string }>(
        "SELECT totals FROM session_totals WHERE session = ? AND model = ?",
        session,
        model,
      );
      const { added, baseline } = addUsage(
        before && (JSON.parse(before.totals) as Baseline),
        total,
        Object.hasOwn(prices, model) ? prices[model] : undefined,
      );
      desk.db.run(
        "INSERT OR REPLACE INTO session_totals (session, model, totals) VALUES (?, ?, ?)",
        session,
        model,
        JSON.stringify(baseline),
      );
      const so = models.get(model);
      models.set(model, so ? sumUsage(so, added) : added);
    }
  }
  return models;
}

interface RunTotal {
  cost_micros: number;
  input: number;
  output: number;
}

/** A run that goes on over several rounds reports their sum: the room takes a total (SPEND-4). */
function tellRun(desk: Desk, runId: string, added: Added[]): void {
  const before = desk.db.one<RunTotal>(
    "SELECT cost_micros, input, output FROM run_totals WHERE run_id = ?",
    runId,
  ) ?? { cost_micros: 0, input: 0, output: 0 };
  const sum = (so: number, pick: (each: Added) => number) =>
    Math.min(
      Number.MAX_SAFE_INTEGER,
      added.reduce((all, each) => all + pick(each), so),
    );
  const total: RunTotal = {
    cost_micros: sum(before.cost_micros, ({ costMicros }) => costMicros),
    input: sum(
      before.input,
      ({ inputTokens, cacheReadTokens, cacheCreationTokens }) =>
        inputTokens + cacheReadTokens + cacheCreationTokens,
    ),
    output: sum(before.output, ({ outputTokens }) => outputTokens),
  };
  desk.db.run(
    "INSERT OR REPLACE INTO run_totals (run_id, cost_micros, input, output) VALUES (?, ?, ?, ?)",
    runId,
    total.cost_micros,
    total.input,
    total.output,
  );
  if (added.length === 0) return;
  desk.toRoom("run_usage", {
    runId,
    costUsd: Math.min(MOST_COST_USD, toUsd(total.cost_micros)),
    inputTokens: total.input,
    outputTokens: total.output,
  });
}
