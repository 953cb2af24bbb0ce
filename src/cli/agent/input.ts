/** What the command of an item reads: how its output is taken, what it can say, and the item itself. */
import type { Mode } from "../bridge/prompt.ts";

/** The notes and the item's own prompt. */
export function itemInput(prompt: string, mode: Mode): string {
  const notes = [
    mode === "per-turn"
      ? "Everything that you print to standard output is your summary: it is handed back, and told to who asked."
      : "Your final message is your summary: it is handed back, and told to who asked.",
    "Answer NO_REPLY and nothing else where there is nothing to hand on.",
    'While you work, "$BULLPEN_BIN" item speaks for you (item --help lists it all):',
    "  item progress TEXT         says to people how it goes",
    "  item journal TEXT          is given to later rounds of this item, which may be another session",
    "  item made --pr OWNER/REPO#N, item made --ticket KEY, item doc ID TITLE URL   what you have made",
    "  item ask WHO QUESTION      asks a teammate or a human; an answer may come in a later round",
    "  item recall WORDS          searches what you did and were told before",
    "  item handback --status waiting|blocked TEXT    ends the round where it cannot be done now",
    "Print nothing that is secret.",
  ];
  return `${notes.join("\n")}\n\n${prompt}\n`;
}
