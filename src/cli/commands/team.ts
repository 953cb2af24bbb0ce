/** `team …`: the team's config, checked here and set there (TEAM-1). */
import { readFileSync } from "node:fs";
import { text as readAll } from "node:stream/consumers";
import type { Command } from "commander";
import { BullpenError } from "../../sdk/errors.ts";
import type { DocumentFormat } from "../../shared/rules/document.ts";
import type { TeamAnswer } from "../../shared/wire/office.ts";
import { type Team, team as teamSchema } from "../../shared/wire/team.ts";
import { CliError, EXIT, usage } from "../failures.ts";
import { examples } from "../help.ts";
import { globalsOf, type Session, sessionOf } from "../session.ts";
import { changesOf, type TeamChange } from "../team-changes.ts";
import { note, print, printJson, safeJson, safeLine } from "../terminal.ts";

const FILE = "YAML, or JSON when it ends in .json; - reads YAML or JSON from standard input";

export function addTeam(program: Command): void {
  const team = program
    .command("team")
    .description("who is in the team, and how work is handed out: its config");
  const show = team
    .command("show")
    .description("print the config as it stands, with its defaults, as YAML; --json has its version too")
    .action(async (_options: object, command: Command) => {
      const globals = globalsOf(command);
      const current = await currentTeam(sessionOf(globals));
      if (globals.json) return printJson(current);
      process.stdout.write(await yamlOf(current.team));
      note(current.version === 0 ? "Nobody has set it yet." : `This is version ${current.version}.`);
    });
  examples(show, ["bullpen team show > team.yaml", "bullpen team show --json | jq .version"]);

  const check = team
    .command("check")
    .argument("<file>", FILE)
    .description("check a config here, without a server: every fault with its path and line")
    .action(async (file: string, _options: object, command: Command) => {
      const { team: checked } = await readTeam(file);
      if (globalsOf(command).json) return printJson(checked);
      const { people, humans, repositories } = checked;
      print(
        `${safeLine(file)} is right: ${counted(people.length, "agent", "agents")}, ` +
          `${counted(humans.length, "human", "humans")}, ${counted(repositories.length, "repository", "repositories")}.`,
      );
      advise(checked);
    });
  examples(check, ["bullpen team check team.yaml"]);
  addApply(team);
}

function addApply(team: Command): void {
  const apply = team
    .command("apply")
    .argument("<file>", FILE)
    .description("set the config, whole, and say what changed; for owners and admins")
    .option("--dry-run", "only say what would change")
    .addHelpText(
      "after",
      `
It is set on the version that the changes were worked out against: when somebody was faster, nothing is changed.
Who is no longer in it is taken out of the team: their agent is disconnected, and their open work is blocked.`,
    )
    .action(async (file: string, options: { dryRun?: true }, command: Command) => {
      const { json } = globalsOf(command);
      const wanted = await readTeam(file);
      const session = sessionOf(globalsOf(command));
      const current = await currentTeam(session);
      const changes = changesOf(current.team, wanted.team);
      if (options.dryRun) {
        if (json) return printJson(changes);
        printChanges(changes);
        return note(
          changes.length === 0 ? "Nothing would change." : "Nothing was changed: this was a dry run.",
        );
      }
      if (changes.length === 0 && current.version > 0) {
        if (json) return printJson(current);
        return print(`Nothing changes: version ${current.version} stands.`);
      }
      const made = await put(session, file, wanted, current.version);
      if (json) return printJson(made);
      printChanges(changes);
      print(`This is version ${made.version} of the team.`);
      advise(made.team);
    });
  examples(apply, ["bullpen team apply team.yaml --dry-run", "bullpen team apply team.yaml"]);
}

interface Wanted {
  text: string;
  format: DocumentFormat;
  team: Team;
}

/** A config that is right, or every fault of it as a compiler would say it: `file:line: path: message`. */
async function readTeam(file: string): Promise<Wanted> {
  const text = file === "-" ? await readAll(process.stdin) : read(file);
  const format = file.toLowerCase().endsWith(".json") ? "json" : "yaml";
  // Only here: every other command starts without a YAML parser and a calendar.
  const { checkTeam } = await import("../../shared/rules/team-check.ts");
  const checked = checkTeam(text, format);
  if ("faults" in checked) throw faulty(file, checked.faults);
  return { text, format, team: checked.team };
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw usage(`Cannot read ${safeLine(file)}${code === undefined ? "" : ` (${code})`}.`);
  }
}

function faulty(
  file: string,
  faults: readonly { path: string; line?: number | undefined; message: string }[],
): CliError {
  const lines = faults.map(({ path, line, message }) =>
    safeLine(`${file === "-" ? "stdin" : file}:${line ?? 1}: ${path === "" ? "" : `${path}: `}${message}`),
  );
  const many = counted(faults.length, "fault", "faults");
  return new CliError(EXIT.refused, lines.join("\n"), `${many}; nothing was changed.`, { places: true });
}

/** Right, and yet hardly what is meant (PIPE-5). */
function advise({ people, humans }: Team): void {
  if (people.length > 0 && humans.every(({ user }) => user === undefined))
    note(
      "No human has a `user`, so that nobody's messages and tickets here wake an agent: bullpen whoami shows your id.",
    );
}

/** As it stands; before the first one, what holds for a team of nobody. */
async function currentTeam({ http }: Session): Promise<TeamAnswer> {
  try {
    return await http.get<TeamAnswer>("/v1/team");
  } catch (error) {
    if (error instanceof BullpenError && error.code === "not_found")
      return { team: teamSchema.parse({}), version: 0 };
    throw error;
  }
}

async function put({ http }: Session, file: string, wanted: Wanted, version: number): Promise<TeamAnswer> {
  const headers = {
    "content-type": wanted.format === "json" ? "application/json" : "application/yaml",
    ...(version === 0 ? {} : { "if-match": `"${version}"` }),
  };
  try {
    return await http.json<TeamAnswer>("PUT", "/v1/team", { content: wanted.text, headers });
  } catch (error) {
    // What only the server knows: people and spaces that are not there.
    if (error instanceof BullpenError && error.code === "invalid" && error.details.length > 0)
      throw faulty(file, error.details);
    throw error;
  }
}

function printChanges(changes: readonly TeamChange[]): void {
  for (const { kind, path, from, to } of changes) {
    const at = safeLine(path);
    if (kind === "added") print(`+ ${at}${said(to)}`);
    else if (kind === "removed") print(`- ${at}`);
    else print(`~ ${at}: ${short(from)} → ${short(to)}`);
  }
}

function said(value: unknown): string {
  return typeof value === "object" && value !== null ? "" : `: ${short(value)}`;
}

function short(value: unknown): string {
  const text =
    value === undefined ? "nothing" : typeof value === "string" ? safeLine(value) : safeJson(value);
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

function counted(n: number, one: string, many: string): string {
  return `${n} ${n === 1 ? one : many}`;
}

/** What a terminal obeys, or what turns the direction of the text around it. */
// oxlint-disable-next-line no-control-regex
const STEERING = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** The config as YAML that reads back as the same, with nothing in it that a terminal obeys. */
export async function yamlOf(team: Team): Promise<string> {
  const { stringify } = await import("yaml");
  const plain = stringify(team, { lineWidth: 0 });
  if (plain.search(STEERING) < 0) return plain;
  const quoted = stringify(team, {
    lineWidth: 0,
    defaultStringType: "QUOTE_DOUBLE",
    defaultKeyType: "QUOTE_DOUBLE",
  });
  return quoted.replace(STEERING, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
