/** `approvals`, `approve`, `refuse`, `route`, `answer`, `grants`, `revoke-grant`: what agents ask people. */
import { text as readAll } from "node:stream/consumers";
import { type Command, Option } from "commander";
import type * as z from "zod";
import type { approvalItem, grantItem } from "../../shared/wire/http.ts";
import { approvalState, type Receipt } from "../../shared/wire/index.ts";
import { usage } from "../failures.ts";
import { examples } from "../help.ts";
import { itemCard } from "../judgement.ts";
import { cardText, Directory, day } from "../render.ts";
import { all, findParticipant, type Participant, type SpaceItem } from "../resolve.ts";
import { commandLine, type Globals, globalsOf, type Session, sessionOf, write } from "../session.ts";
import { dim, note, print, printJson, safeLine, table } from "../terminal.ts";

type ApprovalItem = z.infer<typeof approvalItem>;

const STATES = [...approvalState.options, "all"];

export function addApprovals(program: Command): void {
  const list = program
    .command("approvals")
    .description("list what agents ask before they act, newest first, and how to answer")
    .addOption(new Option("--state <state>", "only those in this state").choices(STATES).default("pending"))
    .action(async ({ state }: { state: string }, command: Command) => {
      const globals = globalsOf(command);
      const session = sessionOf(globals);
      const query = state === "all" ? {} : { state };
      const items = await all<ApprovalItem>(session.http, "/v1/approvals", query);
      if (globals.json) return printJson(items);
      if (items.length === 0) return note(state === "pending" ? "Nobody asks anything." : "There is none.");
      const names = await directory(session);
      const reader = { now: Date.now(), command: commandLine(globals) };
      for (const item of items)
        print(`${dim(`[${names.title(item.space_id)}]`)} ${cardText(itemCard(item, names, reader), "  ")}`);
    });
  examples(list, ["bullpen approvals", "bullpen approvals --state denied --json"]);

  const approve = program
    .command("approve")
    .argument("<id>", "the ask's id, apr_…")
    .description("let an agent do what it asks")
    .option("--input <json>", "allow it with this input instead; - reads it from standard input")
    .action(async (approval_id: string, options: { input?: string }, command: Command) => {
      const input = options.input === undefined ? {} : { input: await jsonOf(options.input) };
      await decide(globalsOf(command), { approval_id, decision: "allow", ...input });
    });
  examples(approve, [
    "bullpen approve apr_01K4ZQPX000000000000000001",
    `bullpen approve apr_01K4ZQPX000000000000000001 --input '{"to":"dan@example.com"}'`,
  ]);

  const refuse = program
    .command("refuse")
    .argument("<id>", "the ask's id, apr_…")
    .description("do not let an agent do what it asks")
    .action((approval_id: string, _options: object, command: Command) =>
      decide(globalsOf(command), { approval_id, decision: "deny" }),
    );
  examples(refuse, ["bullpen refuse apr_01K4ZQPX000000000000000001"]);

  const route = program
    .command("route")
    .argument("<id>", "the ask's id, apr_…")
    .argument("<person>", "a name, a handle or an id")
    .description("hand your right to decide an ask to another person of its space")
    .action(async (approval_id: string, person: string, _options: object, command: Command) => {
      const globals = globalsOf(command);
      const session = sessionOf(globals);
      const to = await findParticipant(session.http, person);
      const fields = { approval_id, to: to.participant_id };
      const receipt = await write(session, "approval.route", fields);
      if (globals.json) return printJson(receipt);
      print(`${safeLine(to.name)} may answer it now.`);
    });
  examples(route, ["bullpen route apr_01K4ZQPX000000000000000001 Bob"]);

  const answer = program
    .command("answer")
    .argument("<id>", "the question's id, qst_…")
    .argument("<text...>", "the answer: one of the options as it stands, or any words")
    .description("answer a question that an agent put to people")
    .action(async (question_id: string, words: string[], _options: object, command: Command) => {
      const globals = globalsOf(command);
      const fields = { question_id, text: words.join(" ") };
      const receipt = await write(sessionOf(globals), "question.answer", fields);
      if (globals.json) return printJson(receipt);
      print("Answered.");
    });
  examples(answer, ["bullpen answer qst_01K4ZQPX000000000000000001 the blue one"]);
}

export function addGrants(program: Command): void {
  const list = program
    .command("grants")
    .description("list standing yeses: asks that are allowed at once")
    .action(async (_options: object, command: Command) => {
      const globals = globalsOf(command);
      const session = sessionOf(globals);
      const items = await all<z.infer<typeof grantItem>>(session.http, "/v1/grants");
      if (globals.json) return printJson(items);
      if (items.length === 0) return note("There is no standing yes.");
      const names = await directory(session);
      const rows = items.map((item) => [
        names.who(item.agent_id),
        item.action.kind,
        JSON.stringify(item.action.input ?? null).slice(0, 60),
        names.who(item.by),
        day(item.expires_at),
        item.grant_id,
      ]);
      print(table([["AGENT", "MAY", "WITH", "BY", "UNTIL", "ID"], ...rows]));
    });
  examples(list, ["bullpen grants", "bullpen grants --json"]);

  const revoke = program
    .command("revoke-grant")
    .argument("<id>", "the grant's id, grt_…")
    .description("take a standing yes back")
    .action(async (grant_id: string, _options: object, command: Command) => {
      const globals = globalsOf(command);
      const receipt = await write(sessionOf(globals), "grant.revoke", { grant_id });
      if (globals.json) return printJson(receipt);
      print("Taken back.");
    });
  examples(revoke, ["bullpen revoke-grant grt_01K4ZQPX000000000000000001"]);
}

interface Deciding {
  approval_id: string;
  decision: "allow" | "deny";
  input?: unknown;
}

async function decide(globals: Globals, fields: Deciding): Promise<void> {
  const receipt: Receipt = await write(sessionOf(globals), "approval.decide", fields);
  if (globals.json) return printJson(receipt);
  print(fields.decision === "allow" ? "Allowed." : "Denied.");
  const grant = receipt.approval?.grant_id;
  if (grant !== undefined)
    note(
      `The same is allowed from now on. To take that back: ${commandLine(globals)(`revoke-grant ${grant}`)}`,
    );
}

async function jsonOf(argument: string): Promise<unknown> {
  const text = argument === "-" ? await readAll(process.stdin) : argument;
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw usage(`--input is not JSON: ${safeLine((error as Error).message)}`);
  }
}

/** Everybody's name and every space's title. */
async function directory({ http }: Session): Promise<Directory> {
  const names = new Directory();
  names.addMembers(await all<Participant>(http, "/v1/participants"));
  for (const { space_id, title } of await all<SpaceItem>(http, "/v1/spaces")) names.addSpace(space_id, title);
  return names;
}
