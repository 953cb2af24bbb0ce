/** What came of an act (ACT-2). */
import type { AgentPayload } from "../../../src/shared/wire/agent/index.ts";
import { actResult as settle } from "../acts.ts";
import type { Desk } from "../desk.ts";
import { AgentRefused, type FrameOf } from "../handler.ts";

export function actResult(
  desk: Desk,
  result: AgentPayload<"act_result">,
  frame: FrameOf,
): Record<string, never> {
  const became = settle(desk, result, frame.hash);
  if (became === "unknown")
    throw new AgentRefused(
      "not_found",
      "There is no act of this id. Answer with the id of an act that you were sent.",
    );
  if (became === "other")
    throw new AgentRefused("invalid", "This act has another result already. An act is answered once.");
  return {};
}
