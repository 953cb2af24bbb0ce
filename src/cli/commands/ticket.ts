/** `ticket …`: the board's tickets (WORK-3). */
import { type Command, Option } from "commander";
import { ticketStatus } from "../../shared/wire/agent/ops.ts";
import type { TicketAnswer, TicketComment, TicketItem } from "../../shared/wire/office.ts";
import { usage } from "../failures.ts";
import { examples, wholeNumber } from "../help.ts";
import { ticketsText, ticketText } from "../office.ts";
import { type Globals, globalsOf, make, sessionOf } from "../session.ts";
import { note, print, printJson, safeLine } from "../terminal.ts";
import { textFrom } from "../words.ts";

const KEY = "the ticket's key, as BP-12";
const status = () => new Option("--status <status>", "how it stands").choices(ticketStatus.options);

interface NewOptions {
  description?: string;
  assignee?: string;
  parent?: string;
  status?: string;
}

export function addTickets(program: Command): void {
  const ticket = program.command("ticket").description("the team's tickets");
  addNew(ticket);
  addReads(ticket);
  addSet(ticket);
  const comment = ticket
    .command("comment")
    .argument("<key>", KEY)
    .argument("<text...>", "the words; - reads them from standard input")
    .description("comment on a ticket; who has it gets the comment as feedback, unless it is done")
    .action(async (key: string, words: string[], _options: object, command: Command) => {
      const globals = globalsOf(command);
      const body = await textFrom(words.join(" "));
      const made = await make<TicketComment>(sessionOf(globals), `${pathOf(key)}/comments`, { body });
      if (globals.json) return printJson(made);
      print("Said.");
    });
  examples(comment, [
    "bullpen ticket comment BP-12 And oil the hinges",
    "bullpen ticket comment BP-12 - < notes.md",
  ]);
}

const pathOf = (key: string) => `/v1/tickets/${encodeURIComponent(key)}`;

function addNew(ticket: Command): void {
  const fresh = ticket
    .command("new")
    .argument("<title...>", "what it is about, in a few words")
    .description("make a ticket; assigned to one of the team, it becomes work for them")
    .option("--description <text>", "all that there is to say; - reads it from standard input")
    .option("--assignee <who>", "a handle of the team, or a person's name")
    .option("--parent <key>", "the ticket that it is a part of")
    .addOption(status())
    .action(async (words: string[], options: NewOptions, command: Command) => {
      const globals = globalsOf(command);
      const asked = { ...(await fieldsOf(options)), title: words.join(" ") };
      const made = await make<TicketAnswer>(sessionOf(globals), "/v1/tickets", asked);
      if (globals.json) return printJson(made);
      print(made.key);
      note(
        `${safeLine(made.title)}: ${made.status ?? "made"}${made.assignee === undefined ? "" : `, ${safeLine(made.assignee)}'s`}.`,
      );
    });
  examples(fresh, [
    "bullpen ticket new Paint the door --assignee scout",
    "bullpen ticket new 'Oil the hinges' --parent BP-12 --description - < hinges.md",
  ]);
}

interface ListOptions {
  status?: string;
  assignee?: string;
  limit: number;
}

function addReads(ticket: Command): void {
  const list = ticket
    .command("list")
    .description("list tickets, the last changed first")
    .addOption(status())
    .option("--assignee <who>", "only those of this handle or name")
    .option("--limit <n>", "how many at most, up to 200", wholeNumber, 50)
    .action(async (options: ListOptions, command: Command) => {
      const globals = globalsOf(command);
      const { http } = sessionOf(globals);
      const answer = await http.get<{ items: TicketItem[]; next?: string }>("/v1/tickets", { ...options });
      if (globals.json) return printJson(answer.items);
      if (answer.items.length === 0)
        return note("There is no such ticket. Make one: bullpen ticket new TITLE");
      print(ticketsText(answer.items));
      if (answer.next !== undefined) note("There are more: --limit, --status and --assignee choose.");
    });
  examples(list, ["bullpen ticket list", "bullpen ticket list --status review --assignee scout"]);

  const show = ticket
    .command("show")
    .argument("<key>", KEY)
    .description("show a ticket with its comments, parts and pull requests")
    .action(async (key: string, _options: object, command: Command) => {
      const globals = globalsOf(command);
      await shown(globals, await sessionOf(globals).http.get<TicketAnswer>(pathOf(key)));
    });
  examples(show, ["bullpen ticket show BP-12", "bullpen ticket show BP-12 --json"]);
}

interface SetOptions extends NewOptions {
  title?: string;
}

function addSet(ticket: Command): void {
  const set = ticket
    .command("set")
    .argument("<key>", KEY)
    .description("change a ticket: what is not named stays")
    .option("--title <title>", "what it is about")
    .option("--description <text>", "all that there is to say; - reads it from standard input")
    .option("--assignee <who>", "a handle of the team, a person's name, or none")
    .option("--parent <key>", "the ticket that it is a part of, or none")
    .addOption(status())
    .action(async (key: string, options: SetOptions, command: Command) => {
      const asked = await fieldsOf(options);
      if (Object.keys(asked).length === 0)
        throw usage(
          "There is nothing to change.",
          "Name it: --title, --description, --assignee, --parent or --status.",
        );
      const globals = globalsOf(command);
      await shown(globals, await sessionOf(globals).http.patch<TicketAnswer>(pathOf(key), asked));
    });
  examples(set, [
    "bullpen ticket set BP-12 --status review",
    "bullpen ticket set BP-12 --assignee mason --parent none",
  ]);
}

/** The fields that were given; `none` takes an assignee or a parent away. */
async function fieldsOf(options: SetOptions): Promise<Record<string, string | null>> {
  const fields: Record<string, string | null> = {};
  for (const [name, value] of Object.entries(options) as [string, string][])
    fields[name] = value === "none" && (name === "assignee" || name === "parent") ? null : value;
  if (options.description !== undefined) fields["description"] = await textFrom(options.description);
  return fields;
}

async function shown(globals: Globals, ticket: TicketAnswer): Promise<void> {
  if (globals.json) return printJson(ticket);
  print(ticketText(ticket, Date.now()));
}
