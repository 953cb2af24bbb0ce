/** `trace`: what happened around the team's work, and what was decided of it, by which rule (PIPE-1). */
import { type Command, Option } from "commander";
import type { TraceAnswer, WorkEventItem } from "../../shared/wire/office.ts";
import { WORK_EVENT_TYPES } from "../../shared/wire/work.ts";
import { examples, wholeNumber } from "../help.ts";
import { eventsText, traceText } from "../office.ts";
import { globalsOf, sessionOf } from "../session.ts";
import { note, print, printJson } from "../terminal.ts";

interface TraceOptions {
  type?: string;
  limit: number;
}

export function addTrace(program: Command): void {
  const trace = program
    .command("trace")
    .argument("[event]", "the id of an event (default: the latest ones, as a list)")
    .description("say what an event led to, and why: whom it woke, what was done, which rule said so")
    .addOption(new Option("--type <type>", "in the list: only these").choices(WORK_EVENT_TYPES))
    .option("--limit <n>", "in the list: how many at most, up to 200", wholeNumber, 20)
    .action(async (id: string | undefined, options: TraceOptions, command: Command) => {
      const globals = globalsOf(command);
      const { http } = sessionOf(globals);
      if (id === undefined) {
        const { items } = await http.get<{ items: WorkEventItem[] }>("/v1/work/events", { ...options });
        if (globals.json) return printJson(items);
        if (items.length === 0) return note("Nothing has happened yet.");
        return print(eventsText(items, Date.now()));
      }
      const answer = await http.get<TraceAnswer>(`/v1/work/events/${encodeURIComponent(id)}`);
      if (globals.json) return printJson(answer);
      print(traceText(answer, Date.now()));
    });
  examples(trace, [
    "bullpen trace",
    "bullpen trace --type pr.reviewed --limit 50",
    "bullpen trace evt_01K4ZQPX000000000000000001",
  ]);
}
