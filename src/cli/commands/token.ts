/** `token` and `harness`: how programs come in. */
import type { Command } from "commander";
import type * as z from "zod";
import type { BullpenHttp } from "../../sdk/http.ts";
import type { harnessCreated, tokenCreated, tokenItem } from "../../shared/wire/http.ts";
import { CliError, EXIT, usage } from "../failures.ts";
import { collect, examples } from "../help.ts";
import { all, findParticipant, findSpace } from "../resolve.ts";
import { globalsOf, sessionOf, write } from "../session.ts";
import { note, print, printJson, safeLine, table } from "../terminal.ts";
import { clockTime, day } from "../times.ts";

export function addPrograms(program: Command): void {
  addTokens(program);
  addHarnesses(program);
}

function addTokens(program: Command): void {
  const token = program.command("token").description("tokens of the workspace");
  const create = token
    .command("create")
    .description("make a token; it is shown this once")
    .option("--for <who>", "whose it is: yourself, or a harness (default: yourself)")
    .option(
      "--person <handle>",
      "for the agent of this person of the team: it connects with it, and speaks as them",
    )
    .option("--hook <source>", "for a tool that tells of events, by the name that its events will have")
    .option(
      "--types <types>",
      "with --hook: which events it may send, as ticket.assigned,ticket.closed",
      types,
    )
    .option(
      "--scope <scope>",
      "what it is for: person, admin, harness, agent or hook; may be repeated",
      collect,
    )
    .option("--name <name>", "what the list calls it")
    .action(async (options: CreateOptions, command: Command) => {
      const globals = globalsOf(command);
      const { http } = sessionOf(globals);
      const made = await http.post<z.infer<typeof tokenCreated>>("/v1/tokens", await askedFor(http, options));
      if (globals.json) return printJson(made);
      print(made.token);
      note(`${made.token_id}: keep it safe, it is not shown again.`);
    });
  examples(create, [
    "bullpen token create --name laptop",
    "bullpen token create --for Scout --scope harness --name server",
    "bullpen token create --person scout",
    "bullpen token create --hook linear --types ticket.assigned,ticket.closed,ticket.commented",
  ]);
  const list = token
    .command("list")
    .description("list the tokens that you may see")
    .action(async (_options: object, command: Command) => {
      const globals = globalsOf(command);
      const items = await all<z.infer<typeof tokenItem>>(sessionOf(globals).http, "/v1/tokens");
      if (globals.json) return printJson(items);
      const rows = items.map((item) => [
        item.token_id,
        item.name,
        usesOf(item),
        item.participant_id,
        item.last_used_at ? `used ${day(item.last_used_at)} ${clockTime(item.last_used_at)}` : "never used",
      ]);
      print(table(rows));
    });
  examples(list, ["bullpen token list"]);
  const revoke = token
    .command("revoke")
    .argument("<token-id>", "as token list shows it")
    .description("end a token: its connections close at once")
    .action(async (id: string, _options: object, command: Command) => {
      if (id.startsWith("bp_"))
        throw new CliError(
          EXIT.usage,
          "That is a token, not its id.",
          "bullpen token list shows the ids: tok_…",
        );
      await sessionOf(globalsOf(command)).http.delete(`/v1/tokens/${encodeURIComponent(id)}`);
      print("Revoked.");
    });
  examples(revoke, ["bullpen token revoke tok_01J…"]);
}

/** What a token is for, and of whom or what it is where that is no participant of the workspace's rooms. */
function usesOf({ session, scopes, person, source, types: sends }: z.infer<typeof tokenItem>): string {
  if (session) return "session";
  if (source !== undefined) return `hook of ${source}: ${(sends ?? []).join(",")}`;
  return person === undefined ? scopes.join(",") : `agent of ${person}`;
}

interface CreateOptions {
  for?: string;
  person?: string;
  hook?: string;
  types?: string[];
  scope?: string[];
  name?: string;
}

function types(text: string, before: string[] = []): string[] {
  return [...before, ...text.split(",").map((type) => type.trim())].filter(Boolean);
}

/** The body of a token: one's own, a harness's, an agent's of the team (TEAM-2), or a hook's (WORK-4). */
async function askedFor(http: BullpenHttp, options: CreateOptions): Promise<object> {
  const { for: text, person, hook, types: sends, scope, name } = options;
  if ([text, person, hook].filter((one) => one !== undefined).length > 1)
    throw usage("A token is for one: give --for, --person or --hook.");
  if ((hook === undefined) !== (sends === undefined))
    throw usage(
      "--hook SOURCE and --types TYPES go together.",
      "As in: --hook linear --types ticket.assigned",
    );
  if (scope !== undefined && (person !== undefined || hook !== undefined))
    throw usage("What the token of an agent or of a hook is for is given: leave out --scope.");
  if (person !== undefined) return { person: person.replace(/^@/, ""), scopes: ["agent"], name };
  if (hook !== undefined) return { source: hook, types: sends, scopes: ["hook"], name };
  const who = text === undefined ? undefined : await findParticipant(http, text);
  return { participant_id: who?.participant_id, scopes: scope ?? [who?.kind ?? "person"], name };
}

function addHarnesses(program: Command): void {
  const harness = program.command("harness").description("programs that take their agents' turns");
  const create = harness
    .command("create")
    .argument("<name>")
    .description("make a harness and its token, which is shown this once")
    .option("--space <space>", "a space it will be in itself; may be repeated", collect)
    .action(async (name: string, options: { space?: string[] }, command: Command) => {
      const globals = globalsOf(command);
      const session = sessionOf(globals);
      // Looked up first: a title that is wrong must not leave a harness behind.
      const spaces = [];
      for (const text of options.space ?? []) spaces.push(await findSpace(session.http, text));
      const made = await session.http.post<z.infer<typeof harnessCreated>>("/v1/harnesses", { name });
      for (const { space_id } of spaces)
        await write(session, "member.add", { space_id, participant_id: made.participant_id });
      if (globals.json) return printJson(made);
      print(made.token);
      note(`${safeLine(name)} is ${made.participant_id}. Its token is not shown again.`);
    });
  examples(create, [
    "bullpen harness create builder",
    "BULLPEN_TOKEN=$(bullpen harness create builder) node my-harness.ts",
  ]);
}
