/** agents.pause, agents.resume: people hold the agents of a space back, or let them go on (GUARD-5). */
import type { Verb } from "../../../src/shared/wire/index.ts";
import { refuse } from "../../kit/result.ts";
import { endPause, personActed } from "../judge/acts.ts";
import { pauseOf } from "../judge/exchange.ts";
import { pauseAgents } from "../judge/pause.ts";
import { spentOut } from "../judge/spend.ts";
import type { Writer } from "../writer.ts";
import { asRegular } from "./standing.ts";

export function pause(w: Writer, event: Verb<"agents.pause">): void {
  const { space } = asRegular(w, event.space_id);
  const before = pauseOf(w.db, space.id);
  if (before && (before.lasting !== 0 || !event.lasting))
    refuse("conflict", "The agents here are paused already.");
  pauseAgents(w, space.id, "person", event.lasting, true);
}

/** Lets the agents go on: an act, so each is handed its newest held message (GUARD-4). */
export function resume(w: Writer, event: Verb<"agents.resume">): void {
  const { space } = asRegular(w, event.space_id);
  if (!pauseOf(w.db, space.id)) refuse("conflict", "The agents here are not paused.");
  // No act resets the day's ceiling (SPEND-5).
  if (spentOut(w, space.id) === "day")
    refuse("conflict", "The workspace has reached its ceiling for today. An owner or an admin can raise it.");
  personActed(w, space.id, endPause(w, space.id));
}
