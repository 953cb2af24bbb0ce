/** Asking for leave (APR): the call stays open until somebody, the policy or the clock has decided (CTX-8, CTX-9). */
import { createHash } from "node:crypto";
import type { ToolResult } from "../../../src/context/tools.ts";
import type { AskStands } from "../../room/office/stands.ts";
import { AgentRefused } from "../handler.ts";
import { round } from "../store/rounds.ts";
import { type Called, type Calling, inRooms } from "./calling.ts";
import type { Needs } from "./say.ts";

const NO_ROOM = "Leave is asked for in a conversation of a room. Ask a human instead, with ask.";
const DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** The ask of a call: always the same, so that a second try asks nobody anew (APR-1). */
function askId(key: string): string {
  const bytes = createHash("sha256").update(key).digest();
  let id = DIGITS[(bytes[0] ?? 0) % 8] ?? "";
  for (let n = 1; n < 26; n++) id += DIGITS[(bytes[n] ?? 0) % 32];
  return `apr_${id}`;
}

export async function approve({ need, item, key, input }: Calling<"approve">): Promise<Called> {
  const run = item && round(need.look().db, item.id, item.round)?.run_id;
  if (!run) throw new AgentRefused("invalid", NO_ROOM);
  const { action, question, effect, risk, money_usd, expires_in_s } = input;
  const stands = await inRooms(need, "ask", {
    approval_id: askId(key),
    action: {
      kind: action,
      ...(input.input !== undefined && { input: input.input }),
      ...(money_usd !== undefined && { money_usd }),
    },
    question,
    ...(effect !== undefined && { effect }),
    risk,
    expires_in: expires_in_s,
    run,
    state: key,
  });
  return stands.state === "pending" ? "later" : decided(stands);
}

/** The result of a call that asked for leave. */
export function decided({ state, allowed, input, via, by }: AskStands): ToolResult {
  if (allowed === undefined)
    return { ok: false, output: "Nobody decides this any more: the ask was taken back, or its turn ended." };
  return {
    ok: true,
    output: {
      allowed,
      ...(input !== undefined && { input }),
      decided_by: by ?? via ?? state,
    },
  };
}

/** The call is over before anybody decided. */
export async function withdraw(need: Needs, key: string): Promise<void> {
  await inRooms(need, "unask", { approval_id: askId(key) });
}
