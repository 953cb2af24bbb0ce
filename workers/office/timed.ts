/**
 * What an office does of its own accord, by the name of its alarm (`desk.alarm`). Each runs in one transaction; an
 * alarm may come early, so each looks at what is due by `desk.now` and sets the next.
 */
import type { Desk } from "./desk.ts";

export const TIMED: Readonly<Record<string, (desk: Desk) => void>> = {};
