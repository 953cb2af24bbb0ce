/** What every command's `--help` has: examples, and what the exit codes mean. */
import { type Command, InvalidArgumentError } from "commander";

const EXIT_CODES = `
Exit codes:
  0  done
  1  the server refused; its code stands in brackets, as in (forbidden)
  2  the command line is not right
  3  not signed in, or the token is no good
  4  the server cannot be reached or is not available`;

/** Adds examples and the exit codes below a command's options. */
export function examples(command: Command, lines: readonly string[]): Command {
  const shown = lines.map((line) => `  $ ${line}`).join("\n");
  return command.addHelpText("after", `\nExamples:\n${shown}\n${EXIT_CODES}`);
}

/** For options that may be given several times. */
export function collect(value: string, before: string[] = []): string[] {
  return [...before, value];
}

export function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError("It must be a whole number from 0.");
  return Number(text);
}

const UNITS = { s: 1, m: 60, h: 3600, d: 86_400 } as const;

/** `90s`, `30m`, `12h` or `7d` in seconds. */
export function duration(text: string): number {
  const match = /^(\d{1,9})([smhd])$/.exec(text);
  if (!match) throw new InvalidArgumentError("Write it as 90s, 30m, 12h or 7d.");
  return Number(match[1]) * UNITS[match[2] as keyof typeof UNITS];
}
