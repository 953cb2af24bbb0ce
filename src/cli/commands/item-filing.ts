/** `item` verbs that change work: one's own queue, what was made, and what a conversation asks for. */
import { type Command, InvalidArgumentError, Option } from "commander";
import type { AgentPayload } from "../../shared/wire/agent/index.ts";
import { answered } from "../agent/answered.ts";
import { sayForItem } from "../agent/item-client.ts";
import { briefLine, filedText } from "../agent/words.ts";
import { usage } from "../failures.ts";
import { examples } from "../help.ts";
import { table } from "../terminal.ts";

const noted = (): string => "Noted.";

export function addFiling(item: Command): void {
  addMade(item);
  addQueueing(item);
  addRequests(item);
}

interface MadeFlags {
  ticket?: string;
  pr?: { repo: { owner: string; name: string }; number: number };
  page?: string;
}

function addMade(item: Command): void {
  const made = item
    .command("made")
    .option("--ticket <key>", "the ticket that you made; with --pr, the one that it is for")
    .option("--pr <ref>", "the pull request that you opened, as OWNER/REPO#N", pull)
    .option("--page <url>", "with --pr: its address")
    .description("record a ticket or a pull request that you made in this item")
    .action(async ({ ticket, pr, page }: MadeFlags, self: Command) => {
      if (ticket === undefined && pr === undefined) throw usage("Say what was made: --ticket or --pr.");
      const payload = {
        ...(ticket === undefined ? {} : { ticket }),
        ...(pr === undefined ? {} : { pr: { ...pr, ...(page === undefined ? {} : { url: page }) } }),
      };
      answered(self, await sayForItem("work_made", payload), noted);
    });
  examples(made, ["bullpen item made --pr acme/shop#12 --ticket BP-7"]);
  const doc = item
    .command("doc")
    .argument("<id>", "the document's id in the knowledge base")
    .argument("<title>")
    .argument("<url>")
    .option("--ticket <key>", "the ticket that it is for (default: the item's)")
    .description("link a document that you wrote: comments on it reach you as work")
    .action(async (id: string, title: string, url: string, flags: { ticket?: string }, self: Command) => {
      answered(self, await sayForItem("doc_link", { doc: { id, title, url }, ...flags }), noted);
    });
  examples(doc, ["bullpen item doc doc_7 'The design' https://docs.example.com/7"]);
  const note = item
    .command("note")
    .addArgument(argumentOf(item, "change", ["added", "updated", "removed", "migrated"]))
    .argument("[text...]", "the note")
    .option("--count <n>", "with migrated: how many", Number)
    .description("tell that your own notes changed")
    .action(
      async (
        change: "added" | "updated" | "removed" | "migrated",
        text: string[],
        { count }: { count?: number },
        self: Command,
      ) => {
        const payload = {
          change,
          ...(text.length === 0 ? {} : { note: text.join(" ") }),
          ...(count === undefined ? {} : { count }),
        };
        answered(self, await sayForItem("notes_changed", payload), noted);
      },
    );
  examples(note, ["bullpen item note added 'Anna wants short summaries'"]);
}

function argumentOf(item: Command, name: string, choices: string[]) {
  return item.createArgument(`<${name}>`, choices.join(", ")).choices(choices);
}

function pull(text: string): { repo: { owner: string; name: string }; number: number } {
  const match = /^([\w.-]+)\/([\w.-]+)#(\d{1,9})$/.exec(text);
  if (!match?.[1] || !match[2]) throw new InvalidArgumentError("Write it as OWNER/REPO#N.");
  return { repo: { owner: match[1], name: match[2] }, number: Number(match[3]) };
}

function moved({ item }: AgentPayload<"work_move_result">): string {
  return table([briefLine(item)]);
}

type Position = "next" | "last" | "before" | "after";

function addQueueing(item: Command): void {
  const moving = item
    .command("move")
    .argument("<item>", "one of your own, as item list shows it")
    .addArgument(argumentOf(item, "status", ["queued", "blocked", "canceled"]))
    .description("change the state of one of your own items")
    .action(async (id: string, status: "queued" | "blocked" | "canceled", _: object, self: Command) => {
      answered(self, await sayForItem("work_move", { workItemId: id, status }), moved);
    });
  examples(moving, ["bullpen item move itm_01… canceled"]);
  const place = item
    .command("place")
    .argument("<item>", "one of your own that is queued")
    .addArgument(argumentOf(item, "position", ["next", "last", "before", "after"]))
    .argument("[other]", "with before and after: which item")
    .description("move one of your own queued items to another place")
    .action(
      async (workItemId: string, position: Position, other: string | undefined, _: object, self: Command) => {
        const relativeTo = other === undefined ? {} : { relativeTo: other };
        answered(self, await sayForItem("work_place", { workItemId, position, ...relativeTo }), moved);
      },
    );
  examples(place, ["bullpen item place itm_01… next", "bullpen item place itm_01… after itm_02…"]);
}

function addRequests(item: Command): void {
  const check = item
    .command("check")
    .argument("<request...>", "its title")
    .description("in a conversation: ask whether a request may be filed, before you make its ticket")
    .action(async (request: string[], _: object, self: Command) => {
      answered(
        self,
        await sayForItem("work_check", { request: request.join(" ") }),
        () => "It may be filed.",
      );
    });
  examples(check, ["bullpen item check 'Fix the login'"]);
  const file = item
    .command("file")
    .argument("<ticket>", "the key of the ticket that you made")
    .argument("<request...>", "the request's title")
    .option("--for <assignee>", "it is somebody else's: only recorded, they are woken by the assignment")
    .description("in a conversation: file the ticket that you made of it as work of yours")
    .action(async (ticket: string, request: string[], flags: { for?: string }, self: Command) => {
      const asked = { ticket, request: request.join(" ") };
      if (flags.for !== undefined)
        answered(self, await sayForItem("work_file_for", { ...asked, assignee: flags.for }), noted);
      else answered(self, await sayForItem("work_link", asked), filedText);
    });
  examples(file, ["bullpen item file BP-7 'Fix the login'", "bullpen item file BP-8 'New logo' --for milo"]);
  const queue = item
    .command("queue")
    .argument("<title...>")
    .option("--body <text>", "what is asked, and why")
    .description("in a conversation: file work of yours without a ticket")
    .action(async (title: string[], flags: { body?: string }, self: Command) => {
      answered(self, await sayForItem("work_queue", { title: title.join(" "), ...flags }), filedText);
    });
  examples(queue, ["bullpen item queue 'Look at the slow page' --body 'It takes 9 s since Monday.'"]);
  const attach = item
    .command("attach")
    .argument("<target>", "a ticket's key, or a pull request: N, #N, OWNER/REPO#N or its link")
    .option("--confirmed", "who asked said that it belongs to a pull request that is in review")
    .addOption(new Option("--request <text>", "what to add (default: the message of this item)"))
    .description("in a conversation: make the request part of work that you have already")
    .action(async (target: string, flags: { confirmed?: boolean; request?: string }, self: Command) => {
      answered(self, await sayForItem("work_attach", { target, ...flags }), filedText);
    });
  examples(attach, ["bullpen item attach BP-7", "bullpen item attach acme/shop#12 --confirmed"]);
}
