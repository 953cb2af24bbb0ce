/** Processes that are not ours to wait for. */
import { readFileSync } from "node:fs";

/** Whether a process is there. One that is dead, and that nobody has collected yet, is not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== "linux" || !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}
