/** Searching the caller's own history (RECALL-1). */
import { instantOf } from "../../../src/shared/rules/instants.ts";
import { parseRecallQuery, recallMatch } from "../../../src/shared/rules/recall-query.ts";
import type { AgentPayload } from "../../../src/shared/wire/agent/index.ts";
import { CALLS } from "../calls.ts";
import type { Desk, Look } from "../desk.ts";
import { AgentRefused, type FrameOf, looking, mustAgent } from "../handler.ts";
import type { Ref } from "../letters.ts";
import { recallMoments } from "../moments.ts";

const MOST = 100;

type Asked = AgentPayload<"recall">;

/** What `about` names: something that the own items or moments know, else what the board finds. */
async function about(look: Look, { about: target }: Asked): Promise<Ref | undefined> {
  if (target === undefined) return undefined;
  const named = target.trim();
  const own = look.db.one<Ref>(
    `SELECT type, ref FROM refs WHERE ref IN (?1, upper(?1)) UNION ALL
     SELECT type, ref FROM moments WHERE ref IN (?1, upper(?1)) AND type IS NOT NULL LIMIT 1`,
    named,
  );
  return own ?? mustAgent(await CALLS.find(look.env, look.workspace, look.handle, named)).ref;
}

function since(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const at = instantOf(text);
  if (at === undefined)
    throw new AgentRefused(
      "invalid",
      "since is a date or a time in ISO 8601, such as 2026-05-31 or 2026-05-31T09:00:00Z.",
    );
  return at;
}

export const recall = looking<"recall", Ref | undefined>(
  about,
  (desk: Desk, asked: Asked, _frame: FrameOf, ref: Ref | undefined) =>
    recallMoments(desk.db, desk.team, {
      match: recallMatch(parseRecallQuery(asked.query)),
      with: asked.with,
      about: ref,
      since: since(asked.since),
      limit: Math.max(1, Math.min(asked.limit, MOST)),
    }),
);
