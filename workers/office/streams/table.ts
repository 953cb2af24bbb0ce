/**
 * The parts of an office that have a say in its streams (hooks.ts). Only the shell imports this, so that the parts can
 * append and read without a circle.
 */
import { HOUSE_OUTSIDE } from "../feed/endings.ts";
import { ROUNDS } from "../feed/rounds.ts";
import { RESIDENT, RESIDENT_HOOK } from "../resident/resident.ts";
import type { StreamHook, StreamOutside } from "./hooks.ts";

/** In the order in which they run. */
export const STREAM_HOOKS: readonly StreamHook[] = [ROUNDS, RESIDENT_HOOK];
export const STREAM_OUTSIDE: readonly StreamOutside[] = [HOUSE_OUTSIDE, RESIDENT];
