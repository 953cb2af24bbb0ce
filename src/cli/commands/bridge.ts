/** `bridge` and `ask-approval`: any command-line agent as a member (BRIDGE-1). */
import { resolve } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import type * as z from "zod";
import { BullpenError } from "../../sdk/errors.ts";
import { MAX_EXPIRES_S, type RiskClass, riskClass } from "../../shared/wire/approval.ts";
import type { settingsAnswer } from "../../shared/wire/http.ts";
import { askBridge } from "../bridge/ask-client.ts";
import { type Identity, identityOf } from "../bridge/identity.ts";
import { startBridge } from "../bridge/run.ts";
import { CliError, EXIT, usage } from "../failures.ts";
import { collect, duration, examples } from "../help.ts";
import { findSpace, type SpaceItem } from "../resolve.ts";
import { commandLine, globalsOf, sessionOf, write } from "../session.ts";
import { note, print, printJson, safeJson, safeLine } from "../terminal.ts";

interface BridgeFlags {
  name: string;
  space?: string[];
  streamJson?: boolean;
  stepsFromStderr?: boolean;
  timeout: number;
}

export function addBridge(program: Command): void {
  addBridgeCommand(program);
  addAskApproval(program);
}

function addBridgeCommand(program: Command): void {
  const bridge = program
    .command("bridge")
    .description("make any command-line agent a member: a process a turn, until Ctrl-C")
    .requiredOption("--name <name>", "what the agent is called")
    .option("--space <space>", "a space to put it into; may be repeated", collect)
    .addOption(
      new Option("--per-turn", "its answer is what it prints to standard output (the default)").conflicts(
        "streamJson",
      ),
    )
    .option(
      "--stream-json",
      "it prints events, as Claude Code and Codex do: steps, cost, and its final words",
    )
    .option("--steps-from-stderr", "what it prints to standard error is shown as its steps")
    .addOption(
      new Option("--timeout <time>", "how long a turn may take, as 90s, 30m or 2h")
        .argParser(duration)
        .default(3600, "1h"),
    )
    .argument("<command...>", "the command, after --; the prompt comes on its standard input")
    .addHelpText(
      "after",
      `
The command runs where you are, as you: what it may do on this machine is for its own settings to say.
It is told by its environment:
  BULLPEN_IN, BULLPEN_OUT          folders: the message's files, and files for the reply
  BULLPEN_TURN_FILE                the turn as JSON
  BULLPEN_RUN_ID, BULLPEN_SPACE_ID, BULLPEN_AGENT_ID
  BULLPEN_BIN                      this program, for: "$BULLPEN_BIN" ask-approval --help
With a person's profile the harness is made on the first start, and kept in the config folder. With a
harness's BULLPEN_TOKEN it is that harness.`,
    )
    .action(async (command: string[], flags: BridgeFlags, self: Command) => {
      const globals = globalsOf(self);
      const session = sessionOf(globals);
      // Looked up first: a title that is wrong must not leave a harness behind.
      const spaces: SpaceItem[] = [];
      for (const text of flags.space ?? []) spaces.push(await findSpace(session.http, text));
      const { attachments } = await session.http.get<z.infer<typeof settingsAnswer>>("/v1/settings");
      const identity = await identityOf(session, flags.name);
      const running = await startBridge({
        url: identity.url,
        token: identity.token,
        name: flags.name,
        agentId: identity.agentId,
        command,
        mode: flags.streamJson ? "stream-json" : "per-turn",
        timeoutMs: flags.timeout * 1000,
        stepsFromStderr: flags.stepsFromStderr ?? false,
        fileBytes: attachments.max_bytes,
        env: process.env,
        bin: resolve(process.argv[1] ?? ""),
        log: (line) => note(safeLine(line)),
        onState: (state) => note(state === "lost" ? "Connection lost; trying again." : "Connected again."),
      });
      // For the rest of the process: npm and a terminal both pass Ctrl-C on, so that it may come twice.
      for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
        process.on(signal, () => void running.close());
      identity.remember(running.agentId);
      const joined = await putInto(identity, spaces, running.agentId);
      const { agentId: agent_id, harnessId: harness_id } = running;
      if (globals.json) printJson({ agent_id, harness_id, spaces: joined.map(({ space_id }) => space_id) });
      else introduce(flags.name, identity, joined, session.profile);
      const error = await running.closed;
      await running.close();
      if (error) throw error;
    });
  examples(bridge, [
    "bullpen bridge --name Claude --space Lobby -- claude -p",
    "bullpen bridge --name Claude --stream-json -- claude -p --output-format stream-json --verbose",
    "bullpen bridge --name Codex --stream-json -- codex exec --json -",
    "bullpen bridge --name Clock --timeout 10s -- sh -c 'date'",
  ]);
}

/** Puts the agent into the spaces; where it is already it stays. */
async function putInto(identity: Identity, spaces: SpaceItem[], agentId: string): Promise<SpaceItem[]> {
  const { person } = identity;
  if (!person) return [];
  for (const { space_id } of spaces)
    try {
      await write(person, "member.add", { space_id, participant_id: agentId });
    } catch (error) {
      if (!(error instanceof BullpenError && error.code === "conflict")) throw error;
    }
  return spaces;
}

function introduce(name: string, identity: Identity, joined: SpaceItem[], profile: string | undefined): void {
  const { workspaceName, isNew } = identity;
  const called = safeLine(name);
  const typed = commandLine(profile === undefined ? {} : { profile: safeLine(profile) });
  const first = isNew ? ", for the first time" : "";
  print(`${called} is here, in ${safeLine(workspaceName)}${first}. Ctrl-C ends it.`);
  const [space] = joined;
  const handle = `@${called.replaceAll(" ", "")}`;
  if (space) print(`Say something: ${typed(`post '${safeLine(space.title)}' '${handle} hello'`)}`);
  else print(`Put it into a space: ${typed(`member add SPACE '${called}'`)}`);
}

interface AskFlags {
  action: string;
  question?: string;
  effect?: string;
  risk?: RiskClass[];
  input?: unknown;
  external?: boolean;
  irreversible?: boolean;
  money?: number;
  standing?: boolean;
  editable?: boolean;
  expires?: number;
}

function addAskApproval(program: Command): void {
  const ask = program
    .command("ask-approval")
    .description("inside a turn of a bridge: ask the room before acting, and wait for the answer")
    .requiredOption("--action <kind>", "what kind of thing it is, as in email.send")
    .option("--question <text>", "what the approver is asked")
    .option("--effect <text>", "what will be so afterwards")
    .addOption(
      new Option("--risk <class>", `may be repeated: ${riskClass.options.join(", ")}`).argParser(
        (text: string, before: RiskClass[] | undefined) => [...(before ?? []), risk(text)],
      ),
    )
    .option("--input <json>", "what it will be done with; the answer prints it, as it was allowed", json)
    .option("--external", "it leaves the workspace")
    .option("--irreversible", "it cannot be taken back")
    .option("--money <usd>", "what it costs, in US dollars", dollars)
    .option("--editable", "the approver may change the input")
    .option("--standing", "a yes may hold for the same thing again")
    .option("--expires <time>", "how long the question stands, as 30m, 12h or 7d (default: 1d)", expiry)
    .addHelpText(
      "after",
      `
Exit codes of this command:
  0  allowed; standard output has the input as it was allowed, as JSON
  1  denied, or nobody decided in time
  2, 4  it could not be asked: take it for a no`,
    )
    .action(async (flags: AskFlags) => {
      const {
        action: kind,
        input,
        external,
        irreversible,
        money: money_usd,
        standing,
        expires,
        ...rest
      } = flags;
      const answer = await askBridge({
        action: clean({ kind, input, external, irreversible, money_usd }),
        ...clean({ ...rest, lasts: standing ? ("standing" as const) : undefined, expires_in: expires }),
      });
      if (answer.decision === "deny")
        throw new CliError(EXIT.refused, `Denied (${safeLine(answer.via ?? "no")}). Do not do it.`);
      print(safeJson(answer.input ?? input ?? null));
    });
  examples(ask, [
    `bullpen ask-approval --action email.send --external --question 'Send it to Bob?' --input '{"to":"bob"}'`,
    "bullpen ask-approval --action deploy --risk irreversible && ./deploy.sh",
  ]);
}

type Known<T> = { [K in keyof T]: Exclude<T[K], undefined> };

/** Without what was not said. */
function clean<T extends object>(fields: T): Known<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Known<T>;
}

function risk(text: string): RiskClass {
  const parsed = riskClass.safeParse(text);
  if (!parsed.success) throw new InvalidArgumentError(`It must be one of: ${riskClass.options.join(", ")}.`);
  return parsed.data;
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new InvalidArgumentError("It must be JSON.");
  }
}

function dollars(text: string): number {
  if (!/^\d{1,9}(\.\d{1,6})?$/.test(text)) throw new InvalidArgumentError("It must be an amount, as 12.50.");
  return Number(text);
}

function expiry(text: string): number {
  const seconds = duration(text);
  if (seconds < 1 || seconds > MAX_EXPIRES_S) throw usage("--expires must be from 1s to 30d.");
  return seconds;
}
