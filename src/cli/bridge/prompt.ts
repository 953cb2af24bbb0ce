/** What the bridge adds to a turn's prompt: where files are, what becomes of the output, how to ask. */
import { named, QUOTE } from "../../sdk/quote.ts";
import type { SavedFile, TurnFolder } from "./folder.ts";

export type Mode = "per-turn" | "stream-json";

/** The notes and the turn's own prompt. File names are the room's words, so they stand in quoted lines (NOTE-4). */
export function bridgePrompt(
  prompt: string,
  {
    mode,
    folder,
    files,
  }: { mode: Mode; folder: Pick<TurnFolder, "in" | "out">; files: readonly SavedFile[] },
): string {
  const notes = [
    mode === "per-turn"
      ? "You are a member of a room. Everything that you print to standard output is posted there as your reply."
      : "You are a member of a room. Your final message is posted there as your reply.",
    "Answer NO_REPLY and nothing else to say nothing.",
    `To attach files to your reply, put them into the folder ${folder.out} (at most 20).`,
    "Before anything that a person must agree to first, such as sending, buying, publishing or deleting, run " +
      '"$BULLPEN_BIN" ask-approval --action KIND --question "WHAT YOU ARE ABOUT TO DO" and wait for it: ' +
      "exit code 0 means yes, anything else means no (--help says more).",
  ];
  const saved = files.map(({ attachment, saved: name }) =>
    name === undefined
      ? `${QUOTE}The file ${named(attachment.filename)} could not be fetched.`
      : `${QUOTE}The file ${named(attachment.filename)} is saved as ${named(name)}.`,
  );
  const where =
    saved.length === 0 ? [] : [`The files of the messages are in the folder ${folder.in}:`, ...saved];
  return `${[...notes, ...where].join("\n")}\n\n${prompt}\n`;
}
