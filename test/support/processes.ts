/** Processes that are not ours to wait for. */
import { readdirSync, readFileSync } from "node:fs";

/**
 * The living processes whose environment has this text, which all descendants of a command inherit; the ended
 * ones that nobody has waited for do not count.
 */
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

/** Whether a process is there. One that is dead, and that nobody has collected yet, is not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== "linux" || !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}
