/** `search`: what was said. */
import type { Command } from "commander";
import type * as z from "zod";
import type { searchItem } from "../../shared/wire/http.ts";
import { examples, wholeNumber } from "../help.ts";
import { clockTime, Directory, day } from "../render.ts";
import { all, type SpaceItem } from "../resolve.ts";
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
}
