/** How every `item` command answers. */
import { type Command, InvalidArgumentError } from "commander";
import { globalsOf } from "../session.ts";
import { print, printJson } from "../terminal.ts";

/** Prints an answer: as JSON, or as these words. */
export function answered<T extends object>(command: Command, answer: T, text: (answer: T) => string): void {
  if (globalsOf(command).json) printJson(answer);
  else if ("kept" in answer) print("Written down. It goes out when the office is reached again.");
  else print(text(answer));
}

/** A whole number of an option. */
export function number(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError("It must be a whole number.");
  return Number(text);
}
