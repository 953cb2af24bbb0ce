/** `why`: the reasons behind an event or a message. */
import type { Command } from "commander";
import type * as z from "zod";
import type { whyAnswer } from "../../shared/wire/http.ts";
import { isId } from "../../shared/wire/ids.ts";
import { usage } from "../failures.ts";
import { examples } from "../help.ts";
import { globalsOf, sessionOf } from "../session.ts";
import { bold, dim, print, printJson, safeJson, safeLine } from "../terminal.ts";

type Why = z.infer<typeof whyAnswer>;

export function addWhy(program: Command): void {
  const why = program
    .command("why")
    .argument("<event>", "the id of an event (evt_…) or of a message (msg_…)")
    .description("say why the room did what it did: whom a message was for, what was held, handed or paused")
    .action(async (id: string, _options: object, command: Command) => {
      if (!isId(id, "evt") && !isId(id, "msg"))
        throw usage(
          `${safeLine(id)} is no id of an event or a message.`,
          "bullpen post prints a message's id, bullpen tail --json has the id of each event.",
        );
      const globals = globalsOf(command);
      const answer = await sessionOf(globals).http.get<Why>(`/v1/why/${id}`);
      if (globals.json) return printJson(answer);
      print(`${bold(safeLine(answer.type))} ${dim(`at ${answer.seq}, ${safeLine(answer.event_id)}`)}`);
      const width = Math.max(...answer.decisions.map(({ rule }) => rule.length));
      for (const { rule, says, facts } of answer.decisions) {
        print(`${safeLine(rule).padEnd(width)}  ${safeLine(says)}`);
        const known = factsText(facts);
        if (known !== "") print(dim(`${" ".repeat(width)}  ${known}`));
      }
    });
  examples(why, [
    "bullpen why msg_01J…",
    "bullpen why evt_01J… --json",
    "bullpen why $(bullpen post Lobby '@Scout hello')",
  ]);
}

/** Facts on one line: `count 12, hold 48`. */
function factsText(facts: Why["decisions"][number]["facts"]): string {
  return Object.entries(facts)
    .filter(
      ([, value]) => value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0),
    )
    .map(([name, value]) => safeLine(`${name} ${typeof value === "string" ? value : safeJson(value)}`))
    .join(", ");
}
