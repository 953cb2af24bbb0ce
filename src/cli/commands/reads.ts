/** `search` and `context`: what was said. */
import type { Command } from "commander";
import type * as z from "zod";
import type { searchItem } from "../../shared/wire/http.ts";
import type { Context } from "../../shared/wire/index.ts";
import { examples, wholeNumber } from "../help.ts";
import { clockTime, Directory, day, Printer } from "../render.ts";
import { all, findSpace, type SpaceItem } from "../resolve.ts";
import { globalsOf, sessionOf } from "../session.ts";
import { bold, dim, note, print, printJson, safeLine } from "../terminal.ts";

type Found = z.infer<typeof searchItem>;

export function addReads(program: Command): void {
  const search = program
    .command("search")
    .argument("<words...>")
    .description("find messages by their words")
    .option("--limit <n>", "how many at most", wholeNumber, 20)
    .action(async (words: string[], options: { limit: number }, command: Command) => {
      const globals = globalsOf(command);
      const { http } = sessionOf(globals);
      const { items } = await http.get<{ items: Found[] }>("/v1/search", {
        q: words.join(" "),
        limit: options.limit,
      });
      if (globals.json) return printJson(items);
      if (items.length === 0) return note("Nothing found.");
      const names = new Directory();
      for (const { space_id, title } of await all<SpaceItem>(http, "/v1/spaces"))
        names.addSpace(space_id, title);
      for (const item of items)
        print(
          `${dim(`${day(item.at)} ${clockTime(item.at)} [${names.title(item.space_id)}]`)} ` +
            `${bold(safeLine(item.from.display_name))}: ${safeLine(item.excerpt)}`,
        );
    });
  examples(search, ["bullpen search weather", "bullpen search launch plan --json"]);

  const context = program
    .command("context")
    .argument("<space>", "its title or id")
    .description("show a space's latest lines, or those before a seq")
    .option("--lines <n>", "how many", wholeNumber, 40)
    .option("--before <seq>", "page back: the lines before this seq", wholeNumber)
    .action(async (text: string, options: { lines: number; before?: number }, command: Command) => {
      const globals = globalsOf(command);
      const { http } = sessionOf(globals);
      const { space_id } = await findSpace(http, text);
      const answer = await http.get<{ context: Context }>(`/v1/spaces/${space_id}/context`, { ...options });
      if (globals.json) return printJson(answer.context);
      const printer = new Printer(new Directory(), { withSpace: false, print });
      for (const line of answer.context.lines) printer.line(line);
      if (answer.context.truncated) note(`There is more: --before ${answer.context.before}`);
    });
  examples(context, ["bullpen context Lobby", "bullpen context Lobby --lines 100 --before 812"]);
}
