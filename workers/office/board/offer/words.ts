/** How an offer writes times, names and other people's words (PIPE-4, PIPE-5). */
import { cut } from "../../../../src/shared/rules/offer-bounds.ts";
import { type Who, whoIs } from "../../../../src/shared/rules/trust.ts";
import type { BoardLedger } from "../ledger.ts";
import type { StoredActor } from "../work/store.ts";

export const iso = (ms: number): string => new Date(ms).toISOString();

/** Somebody's words, cut to `pipeline.context.body_chars`. */
export const words = ({ team }: BoardLedger, text: string): string =>
  cut(text, team.pipeline.context.body_chars);

/** Who wrote something, worked out of the team as it is now. */
export const writer = (ledger: BoardLedger, actor: string, repo?: string): Who =>
  whoIs(ledger.team, JSON.parse(actor) as StoredActor, repo === undefined ? {} : { repo });

/** A writer's name; of whom the team does not trust it says so (PIPE-5). */
export const shown = (who: Who): string => (who.trusted ? who.name : `${who.name} (untrusted)`);

/** The same without what is not known. */
export function known<T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined | null> } {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null),
  ) as { [K in keyof T]: Exclude<T[K], undefined | null> };
}
