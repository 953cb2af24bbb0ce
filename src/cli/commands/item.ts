/** `item …`: inside an item of `bullpen agent`, what its program says for it (ITEM, CHAT-3, CHAT-4). */
import { type Command, InvalidArgumentError, Option } from "commander";
import { answered, number } from "../agent/answered.ts";
import { sayForItem } from "../agent/item-client.ts";
import { momentsText, rosterText } from "../agent/words.ts";
import { examples } from "../help.ts";
import { safeText } from "../terminal.ts";
import { textFrom } from "../words.ts";
import { addFiling } from "./item-filing.ts";
import { addItemReads } from "./item-reads.ts";

export function addItem(program: Command): void {
  const item = program
    .command("item")
    .description("inside an item of bullpen agent: speak for it, ask, look things up, file work");
  addSaying(item);
  addEnding(item);
  addAsking(item);
  addFiling(item);
  addItemReads(item);
}

const said = (): string => "Said.";
const ended = (): string => "Handed back.";

function addSaying(item: Command): void {
  const progress = item
    .command("progress")
    .argument("<text...>")
    .description("say to people how it goes; the last line is kept")
    .action(async (text: string[], _: object, self: Command) => {
      answered(self, await sayForItem("progress", { text: text.join(" ") }), said);
    });
  examples(progress, ["bullpen item progress 'the tests are green, writing the docs'"]);
  const journal = item
    .command("journal")
    .argument("<text...>", "the line; - reads standard input")
    .description("note something for later rounds of this item, which start from the journal")
    .action(async (text: string[], _: object, self: Command) => {
      answered(self, await sayForItem("journal", { text: await textFrom(text.join(" ")) }), said);
    });
  examples(journal, ["bullpen item journal 'the flaky test is login.spec: it needs the mail server'"]);
  const report = item
    .command("report")
    .argument("<text...>")
    .description("tell who asked, in their thread, that it was begun; once an item")
    .action(async (text: string[], _: object, self: Command) => {
      answered(self, await sayForItem("acknowledge", { text: text.join(" ") }), said);
    });
  examples(report, ["bullpen item report 'I have it, and look into the logs first'"]);
  const session = item
    .command("session")
    .argument("<id>", "the runtime's session, which a later round is given as BULLPEN_ITEM_SESSION")
    .option("--model <model>", "the model that it runs on")
    .description("keep the runtime's session for later rounds")
    .action(async (sessionId: string, { model }: { model?: string }, self: Command) => {
      answered(self, await sayForItem("session", { sessionId, ...(model ? { model } : {}) }), said);
    });
  examples(session, ["bullpen item session 0199f000-0000-7000-8000-000000000001"]);
  const windows = item
    .command("windows")
    .argument(
      "<window...>",
      "each as NAME=SHARE or NAME=SHARE@WHEN-IT-RESETS",
      (text: string, before: Window[] | undefined) => [...(before ?? []), windowOf(text)],
    )
    .description("report the runtime's usage windows, in place of those told last")
    .action(async (all: Window[], _: object, self: Command) => {
      answered(self, await sayForItem("usage", { windows: all }), said);
    });
  examples(windows, ["bullpen item windows five_hour=0.82@2026-12-01T14:00:00Z seven_day=0.4"]);
}

interface Window {
  name: string;
  utilization: number;
  resetsAt?: string;
}

function windowOf(text: string): Window {
  const match = /^([\w.-]{1,100})=(\d+(?:\.\d+)?)(?:@(\S+))?$/.exec(text);
  const [, name, share, at] = match ?? [];
  if (!name || (at !== undefined && Number.isNaN(Date.parse(at))))
    throw new InvalidArgumentError(
      `${text}: write it as five_hour=0.82 or five_hour=0.82@2026-12-01T14:00:00Z.`,
    );
  return {
    name,
    utilization: Number(share),
    ...(at === undefined ? {} : { resetsAt: new Date(at).toISOString() }),
  };
}

interface HandbackFlags {
  status: "done" | "waiting" | "blocked" | "silent";
  link?: { url: string; title?: string }[];
  review?: string[];
}

function addEnding(item: Command): void {
  const handback = item
    .command("handback")
    .argument("[summary...]", "what was done, decided and left open; - reads standard input")
    .addOption(
      new Option("--status <status>", "how it stands")
        .choices(["done", "waiting", "blocked", "silent"])
        .default("done"),
    )
    .option(
      "--link <url>",
      "a pull request, document or ticket touched, as URL or TITLE=URL; may be repeated",
      (text: string, before: { url: string; title?: string }[] | undefined) => [
        ...(before ?? []),
        linkOf(text),
      ],
    )
    .option(
      "--review <what>",
      "what there is to review or finished; may be repeated",
      (text: string, before: string[] | undefined) => [...(before ?? []), text],
    )
    .description("end the round: done, or waiting for somebody, or blocked")
    .action(async (summary: string[], flags: HandbackFlags, self: Command) => {
      const { status, link: links = [], review } = flags;
      const text = await textFrom(summary.join(" "));
      const toReview = review ? { toReview: review } : {};
      answered(self, await sayForItem("handback", { summary: text, status, links, ...toReview }), ended);
    });
  examples(handback, [
    "bullpen item handback 'The login works again.' --link 'The fix=https://github.com/acme/shop/pull/12'",
    "bullpen item handback --status waiting 'Asked Anna which colour.'",
  ]);
  const fail = item
    .command("fail")
    .argument("<reason...>")
    .description("end the round: it cannot be done")
    .action(async (reason: string[], _: object, self: Command) => {
      answered(self, await sayForItem("fail", { reason: reason.join(" ") }), ended);
    });
  examples(fail, ["bullpen item fail 'the repository cannot be read with this key'"]);
}

function linkOf(text: string): { url: string; title?: string } {
  const [, title, url = text] = /^([^=]*[^=:/?&])=(https?:.+)$/.exec(text) ?? [];
  if (!URL.canParse(url)) throw new InvalidArgumentError("It must be a URL, or TITLE=URL.");
  return { url, ...(title === undefined ? {} : { title }) };
}

function addAsking(item: Command): void {
  const ask = item
    .command("ask")
    .argument("<who>", "a handle, a name, or a role")
    .argument("<question...>")
    .description("ask a teammate or a human; the answer may come in a later round")
    .action(async (to: string, question: string[], _: object, self: Command) => {
      answered(self, await sayForItem("ask", { to, question: question.join(" ") }), (answer) =>
        answer.status === "answered"
          ? safeText(answer.answer ?? "")
          : "Asked. The answer comes into the journal: hand back as waiting if you cannot go on without it.",
      );
    });
  examples(ask, ["bullpen item ask anna 'which of the two colours?'"]);
  const answer = item
    .command("answer")
    .argument("<answer...>", "- reads standard input")
    .description("answer the question that this item is; that ends it")
    .action(async (text: string[], _: object, self: Command) => {
      const words = await textFrom(text.join(" "));
      answered(self, await sayForItem("answer", { answer: words }), () => "Answered.");
    });
  examples(answer, ["bullpen item answer 'The blue one.'"]);
  const roster = item
    .command("roster")
    .description("list the team: who is there, and what everybody is on")
    .action(async (_: object, self: Command) => {
      answered(self, await sayForItem("roster", {}), rosterText);
    });
  examples(roster, ["bullpen item roster"]);
  const recall = item
    .command("recall")
    .argument("<words...>", 'words, "quoted phrases", or, -word; best as one word of the shell')
    .option("--with <who>", "only with this person")
    .option("--about <what>", "only about this ticket, pull request or document")
    .option("--since <when>", "only since then, as 2026-11-30")
    .option("--limit <n>", "how many at most", number, 20)
    .description("search what you did, noted and were told before")
    .action(
      async (
        words: string[],
        { limit, ...rest }: { limit: number; with?: string; about?: string; since?: string },
        self: Command,
      ) => {
        answered(self, await sayForItem("recall", { query: words.join(" "), limit, ...rest }), momentsText);
      },
    );
  examples(recall, ["bullpen item recall 'login -cookie' --since 2026-11-01"]);
}
