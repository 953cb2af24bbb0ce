/** Finding what a command has left behind, by a mark in the environment that all its descendants inherit. */
import { readdirSync, readFileSync } from "node:fs";

/** The living processes whose environment has this text; the ended ones that nobody has waited for do not count. */
export function processesWith(mark: string): string[] {
  return readdirSync("/proc").flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      if (!readFileSync(`/proc/${pid}/environ`, "latin1").includes(mark)) return [];
      return [`${pid} ${readFileSync(`/proc/${pid}/cmdline`, "latin1").replaceAll("\0", " ")}`];
    } catch {
      // It has ended meanwhile, or is somebody else's.
      return [];
    }
  });
}
