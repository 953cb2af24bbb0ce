/** `runs`, `stop`, `pause`, `resume`: the turns of agents, and people's word in them (TURN-4, GUARD-5). */
import type { Command } from "commander";
import type * as z from "zod";
import type { memberItem, runItem } from "../../shared/wire/http.ts";
import { isId } from "../../shared/wire/ids.ts";
import { examples, wholeNumber } from "../help.ts";
import { clockTime, Directory, day } from "../render.ts";
import { all, findSpace } from "../resolve.ts";
import { globalsOf, sessionOf, write } from "../session.ts";
import { note, print, printJson, safeLine, table } from "../terminal.ts";

type RunItem = z.infer<typeof runItem>;

export function addRuns(program: Command): void {
  const runs = program
    .command("runs")
    .argument("<space>", "its title or id")
    .description("list the turns of a space's agents, newest first")
    .option("--limit <n>", "how many at most", wholeNumber, 20)
    .action(async (text: string, options: { limit: number }, command: Command) => {
      const globals = globalsOf(command);
      const { http } = sessionOf(globals);
      const { space_id } = await findSpace(http, text);
      const path = `/v1/spaces/${space_id}`;
      const { items } = await http.get<{ items: RunItem[] }>(`${path}/runs`, { limit: options.limit });
      if (globals.json) return printJson(items);
      if (items.length === 0) return note("No agent has had a turn here.");
      const names = new Directory();
      names.addMembers(await all<z.infer<typeof memberItem>>(http, `${path}/members`));
      const rows = items.map((item) => [
        names.who(item.agent_id),
        item.outcome ?? item.state,
        item.cost_usd === undefined ? "" : `$${item.cost_usd}`,
        `${day(item.started_at)} ${clockTime(item.started_at)}`,
        item.run_id,
        item.step ?? "",
      ]);
      print(table([["AGENT", "STATE", "COST", "BEGAN", "ID", "STEP"], ...rows]));
    });
  examples(runs, ["bullpen runs Lobby", "bullpen runs Lobby --limit 5 --json"]);

  const stop = program
    .command("stop")
    .argument("<run>", "the turn's id, run_…: bullpen runs lists them")
    .description("stop an agent's turn; it ends within half a minute, and what it asked is asked no more")
    .action(async (run_id: string, _options: object, command: Command) => {
      const globals = globalsOf(command);
      const receipt = await write(sessionOf(globals), "run.stop", { run_id });
      if (globals.json) return printJson(receipt);
      print("Asked to stop.");
    });
  examples(stop, ["bullpen stop run_01K4ZQPX000000000000000001"]);

  const pause = program
    .command("pause")
    .argument("<space>", "its title or id; or a turn's id, run_…")
    .description("hold back what a space's agents say to each other, until a person acts; or pause one turn")
    .option("--lasting", "of a space: until it is resumed, and for what people say to them as well")
    .action(async (text: string, options: { lasting?: true }, command: Command) => {
      const globals = globalsOf(command);
      const session = sessionOf(globals);
      if (isId(text, "run")) await write(session, "run.pause", { run_id: text });
      else {
        const { space_id, title } = await findSpace(session.http, text);
        await write(session, "agents.pause", { space_id, lasting: options.lasting ?? false });
        return print(`The agents of ${safeLine(title)} are paused.`);
      }
      print("Asked to pause.");
    });
  examples(pause, ["bullpen pause Lobby", "bullpen pause Lobby --lasting"]);

  const resume = program
    .command("resume")
    .argument("<space>", "its title or id; or a turn's id, run_…")
    .description("let a space's agents go on, or one turn")
    .action(async (text: string, _options: object, command: Command) => {
      const session = sessionOf(globalsOf(command));
      if (isId(text, "run")) {
        await write(session, "run.resume", { run_id: text });
        return print("It may go on.");
      }
      const { space_id, title } = await findSpace(session.http, text);
      await write(session, "agents.resume", { space_id });
      print(`The agents of ${safeLine(title)} go on.`);
    });
  examples(resume, ["bullpen resume Lobby"]);
}
