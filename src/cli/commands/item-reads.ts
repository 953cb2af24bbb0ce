/** `item` verbs that look something up: one's work, pull requests, logs, what tickets used. */
import { text as readAll } from "node:stream/consumers";
import { type Command, InvalidArgumentError, Option } from "commander";
import { readPayload } from "../../agent/frames.ts";
import { answered, number } from "../agent/answered.ts";
import { sayForItem } from "../agent/item-client.ts";
import { listText, logText, pullsText, ticketPullsText, usageText } from "../agent/words.ts";
import { usage } from "../failures.ts";
import { examples } from "../help.ts";
import { globalsOf } from "../session.ts";
import { print, printJson, safeText, table } from "../terminal.ts";

export function addItemReads(item: Command): void {
  const show = item
    .command("show")
    .description("print the item again: its text, or with --json the whole offer")
    .action(async (_: object, self: Command) => {
      const { offer, prompt } = await sayForItem("show", {});
      if (globalsOf(self).json) printJson(offer);
      else print(safeText(String(prompt)));
    });
  examples(show, ["bullpen item show", "bullpen item show --json"]);
  const list = item
    .command("list")
    .description("list your own items: the open ones in the order they run, then the last finished")
    .action(async (_: object, self: Command) => {
      const current = process.env["BULLPEN_ITEM_ID"];
      const answer = await sayForItem("work_list", current === undefined ? {} : { workItemId: current });
      answered(self, answer, ({ items }) => listText(items));
    });
  examples(list, ["bullpen item list"]);
  const status = item
    .command("status")
    .argument("<item...>")
    .description("tell the state of items, by their ids")
    .action(async (workItemIds: string[], _: object, self: Command) => {
      answered(self, await sayForItem("work_status", { workItemIds }), ({ items }) =>
        table(items.map((one) => [one.workItemId, one.state])),
      );
    });
  examples(status, ["bullpen item status itm_01… itm_02…"]);
  const work = item
    .command("work")
    .description("tell your open tickets and pull requests, as text")
    .action(async (_: object, self: Command) => {
      answered(self, await sayForItem("current_work", {}), ({ text }) => safeText(text));
    });
  examples(work, ["bullpen item work"]);
  addPulls(item);
  const used = item
    .command("usage")
    .argument("<ticket>")
    .description("tell the tokens and the cost of a ticket's work")
    .action(async (ticket: string, _: object, self: Command) => {
      answered(self, await sayForItem("ticket_usage", { ticket }), usageText);
    });
  examples(used, ["bullpen item usage BP-7"]);
  const doctor = item
    .command("doctor")
    .description("report what you checked of your own surroundings: a JSON list on standard input")
    .action(async (_: object, self: Command) => {
      answered(
        self,
        await sayForItem("doctor_report", { checks: checksOf(await readAll(process.stdin)) }),
        () => "Reported.",
      );
    });
  examples(doctor, [`echo '[{"name":"Tools","status":"ok","detail":"git 2.51"}]' | bullpen item doctor`]);
}

function checksOf(text: string) {
  let checks: unknown;
  try {
    checks = JSON.parse(text);
  } catch {
    throw usage("Standard input must be a JSON list of checks.");
  }
  const read = readPayload("doctor_report", { checks });
  if (!read.ok) throw usage(`That is no list of checks: ${read.fault}`);
  return read.payload.checks;
}

interface PullFlags {
  state: "open" | "merged" | "closed" | "all";
  author?: string;
  ticket?: string;
  repo?: string;
  limit: number;
}

function addPulls(item: Command): void {
  const prs = item
    .command("prs")
    .addOption(new Option("--state <state>").choices(["open", "merged", "closed", "all"]).default("open"))
    .option("--author <who>", "only by this person or login")
    .option("--ticket <key>", "only those linked to it")
    .option("--repo <repo>", "only of this repository, OWNER/NAME")
    .option("--limit <n>", "how many at most", number, 20)
    .description("list pull requests, with their checks and reviews")
    .action(async (flags: PullFlags, self: Command) => {
      answered(self, await sayForItem("pr_list", flags), pullsText);
    });
  examples(prs, ["bullpen item prs", "bullpen item prs --state all --ticket BP-7"]);
  const ticketPrs = item
    .command("ticket-prs")
    .argument("<branch>", "from which a pull request is about to be opened")
    .argument("<title>")
    .option("--body <text>", "its description", "")
    .description("tell which ticket a pull request would be linked to, and which it has already")
    .action(async (headRef: string, title: string, { body }: { body: string }, self: Command) => {
      answered(self, await sayForItem("ticket_prs", { headRef, title, body }), ticketPullsText);
    });
  examples(ticketPrs, ["bullpen item ticket-prs bp-7-login 'Fix the login'"]);
  const log = item
    .command("ci-log")
    .argument("<url>", "the check's link", (text: string) => {
      if (!URL.canParse(text)) throw new InvalidArgumentError("It must be a link.");
      return text;
    })
    .option("--lines <n>", "of each failed step, from its end", number, 100)
    .description("read the end of a failed check's log")
    .action(async (url: string, { lines }: { lines: number }, self: Command) => {
      answered(self, await sayForItem("ci_log", { url, lines }), logText);
    });
  examples(log, ["bullpen item ci-log https://github.com/acme/shop/actions/runs/1/job/2 --lines 200"]);
}
