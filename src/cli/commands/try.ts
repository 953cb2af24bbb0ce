/** `try`: an export run through the rules again, with other settings or another policy. Works offline. */
import { createReadStream, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import type { Command } from "commander";
import { validatePolicy } from "../../shared/rules/policy.ts";
import { openReplay, type Replayed, type ReplayOptions } from "../../shared/rules/replay.ts";
import { exportedLine, settingsPatch } from "../../shared/wire/index.ts";
import { CliError, EXIT, usage } from "../failures.ts";
import { examples, wholeNumber } from "../help.ts";
import { globalsOf } from "../session.ts";
import { note, print, printJson, safeLine, table } from "../terminal.ts";

interface TryOptions {
  settings?: string;
  policy?: string;
  limit: number;
}

export function addTry(program: Command): void {
  const command = program
    .command("try")
    .argument("<export>", "a file that bullpen export wrote; - reads standard input")
    .description("say what would have been held, handed, paused, allowed or spent with other settings")
    .option("--settings <file>", "JSON: the part of the settings that changes, as settings.set takes it")
    .option("--policy <file>", "JSON: the policy to try, {rules, classes?}")
    .option("--limit <n>", "how many changes to show; --json has them all", wholeNumber, 50)
    .addHelpText(
      "after",
      `
Each message is judged as it stands in the export: what agents would have said otherwise nobody knows. The
cost of turns that would not have begun is taken off. Needs no server and no sign-in.`,
    )
    .action(async (path: string, options: TryOptions, self: Command) => {
      const tried = optionsOf(options);
      const replayed = await replay(path, tried);
      if (globalsOf(self).json) return printJson(replayed);
      show(replayed, options.limit);
    });
  examples(command, [
    'echo \'{"guard": {"hold": 24}}\' > calmer.json && bullpen try monday.ndjson --settings calmer.json',
    "bullpen try monday.ndjson --policy policy.json --json | jq .totals",
    "bullpen export --output - | bullpen try - --settings calmer.json",
  ]);
}

function optionsOf({ settings, policy }: TryOptions): ReplayOptions {
  if (settings === undefined && policy === undefined)
    throw usage("There is nothing to try.", "Give --settings FILE, --policy FILE, or both.");
  return {
    ...(settings === undefined ? {} : { settings: settingsIn(settings) }),
    ...(policy === undefined ? {} : { policy: policyIn(policy) }),
  };
}

function settingsIn(path: string): NonNullable<ReplayOptions["settings"]> {
  const parsed = settingsPatch.safeParse(jsonIn(path));
  if (parsed.success) return parsed.data;
  throw faulty(
    path,
    parsed.error.issues.map(({ path: at, message }) => ({ path: at.join("."), message })),
  );
}

function policyIn(path: string): NonNullable<ReplayOptions["policy"]> {
  const given = jsonIn(path);
  const { rules, classes } = (Array.isArray(given) ? { rules: given } : given) as Record<string, unknown>;
  const checked = validatePolicy(rules, classes);
  if (checked.ok) return { rules: checked.rules, classes: checked.classes };
  throw faulty(path, checked.faults);
}

function jsonIn(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new CliError(EXIT.usage, `${path} cannot be read: ${(error as Error).message}`);
  }
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) return value;
  } catch {
    // Said below, as for any other value.
  }
  throw usage(`${path} is no JSON object.`);
}

function faulty(path: string, faults: readonly { path: string; message: string }[]): CliError {
  const lines = faults.slice(0, 20).map((fault) => `  ${safeLine(fault.path)}: ${safeLine(fault.message)}`);
  return usage(`${path} cannot be used:`, lines.join("\n"));
}

/** Reads the export line by line: it may be larger than memory. */
async function replay(path: string, options: ReplayOptions): Promise<Replayed> {
  const replaying = openReplay(options);
  const input = path === "-" ? process.stdin : createReadStream(path);
  let n = 0;
  let ended = false;
  try {
    for await (const text of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      n += 1;
      if (text.trim() === "") continue;
      const line = lineOf(text, path, n);
      if (n === 1 && line.type !== "workspace")
        throw usage(`${path} is no export: bullpen export writes one.`);
      ended = line.type === "end";
      replaying.take(line);
    }
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(EXIT.usage, `${path} cannot be read: ${(error as Error).message}`);
  }
  if (!ended) throw usage(`${path} was cut short: its last line is missing.`, "Export again.");
  return replaying.finish();
}

function lineOf(text: string, path: string, n: number) {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw usage(`${path} is no export: line ${n} is no JSON.`);
  }
  const parsed = exportedLine.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw usage(
    `${path} has a line that this version cannot read: line ${n}.`,
    `  ${issue?.path.join(".")}: ${issue?.message}`,
  );
}

const TOTALS: [keyof Replayed["totals"], string][] = [
  ["messages_for_agents", "messages for agents"],
  ["held", "of them held"],
  ["handed", "handed over"],
  ["pauses", "pauses by the room"],
  ["runs", "turns begun"],
  ["spent_usd", "spent, in dollars"],
  ["asks_allowed", "asks allowed at once"],
  ["asks_denied", "asks denied at once"],
  ["asks_put_to_people", "asks put to people"],
];

function show({ changes, totals }: Replayed, limit: number): void {
  const rows = TOTALS.map(([key, label]) => {
    const { was, would } = totals[key];
    return [label, String(was), String(would), was === would ? "" : "differs"];
  });
  print(table([["", "WAS", "WOULD BE", ""], ...rows]));
  print("");
  if (changes.length === 0) return print("Nothing would have been otherwise.");
  const shown = changes
    .slice(0, limit)
    .map((c) => [String(c.seq), c.what, c.was, c.would, c.rule, c.says, c.id ?? c.event_id]);
  print(table([["SEQ", "WHAT", "WAS", "WOULD BE", "RULE", "WHY", "ID"], ...shown]));
  if (changes.length > limit) note(`${changes.length - limit} more: --limit ${changes.length}, or --json.`);
}
