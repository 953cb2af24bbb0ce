/** What several commands of the office take: texts from standard input, pauses and how long they hold. */
import { text as readAll } from "node:stream/consumers";
import { type Command, InvalidArgumentError } from "commander";
import { usage } from "./failures.ts";
import { duration } from "./help.ts";

/** The words as typed; `-` stands for standard input. */
export async function textFrom(given: string): Promise<string> {
  return given === "-" ? await readAll(process.stdin) : given;
}

export interface PauseOptions {
  reason?: string;
  for?: number;
  until?: string;
}

/** `--reason`, and how long: `--for` or `--until`. */
export function pauseOptions(command: Command): Command {
  return command
    .option("--reason <text>", "why; people see it")
    .option("--for <time>", "how long: 90s, 30m, 12h or 7d (default: until it is resumed)", duration)
    .option("--until <time>", "until when, as 2026-11-30T18:00:00Z", instant);
}

/** The body of a pause, as the routes take it. */
export function pauseBody(options: PauseOptions, now: number): { reason?: string; until?: string } {
  if (options.for !== undefined && options.until !== undefined)
    throw usage("--for and --until say the same thing: give one of them.");
  const until = options.for === undefined ? options.until : new Date(now + options.for * 1000).toISOString();
  return {
    ...(options.reason === undefined ? {} : { reason: options.reason }),
    ...(until === undefined ? {} : { until }),
  };
}

function instant(text: string): string {
  const at = new Date(text);
  if (!/^\d{4}-\d{2}-\d{2}/.test(text) || Number.isNaN(at.getTime()))
    throw new InvalidArgumentError("Write it as 2026-11-30T18:00:00Z or 2026-11-30.");
  return at.toISOString();
}
