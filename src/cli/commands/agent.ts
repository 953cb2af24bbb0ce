/** `agent`: any command as an agent teammate of the office, a process an item. */
import { resolve } from "node:path";
import { type Command, Option } from "commander";
import manifest from "../../../package.json" with { type: "json" };
import { OfficeError } from "../../agent/errors.ts";
import { handle } from "../../shared/wire/team.ts";
import { agentIdentity } from "../agent/identity.ts";
import { startAgent } from "../agent/run.ts";
import { teller } from "../agent/tell.ts";
import { CliError, EXIT, usage } from "../failures.ts";
import { duration, examples } from "../help.ts";
import { globalsOf, sessionOf } from "../session.ts";
import { dim, note, safeLine } from "../terminal.ts";

interface AgentFlags {
  person: string;
  cwd?: string;
  state?: string;
  runtime?: string;
  model?: string;
  streamJson?: boolean;
  timeout?: number;
}

export function addAgent(program: Command): void {
  const agent = program
    .command("agent")
    .description("make any command an agent teammate: a process for each item of work, until Ctrl-C")
    .requiredOption("--person <handle>", "whose agent it is, of the team's config")
    .option("--cwd <folder>", "where the command runs (default: here)")
    .option("--state <folder>", "where it keeps what must survive a crash (default: in the config folder)")
    .option("--runtime <name>", "what it runs on, as the office shows it (default: the team's config says)")
    .option("--model <name>", "the model (default: the team's config says)")
    .addOption(
      new Option("--per-turn", "the summary is what it prints to standard output (the default)").conflicts(
        "streamJson",
      ),
    )
    .option(
      "--stream-json",
      "it prints events, as Claude Code and Codex do: steps, session, usage, and its final words",
    )
    .addOption(
      new Option("--timeout <time>", "how long an item may take, as 30m or 2h (default: any time)").argParser(
        duration,
      ),
    )
    .argument("<command...>", "the command, after --; the item comes on its standard input")
    .addHelpText(
      "after",
      `
The command runs as you: what it may do on this machine is for its own settings to say. Exit code 0 hands back
what it printed, any other fails the item with the last lines of standard error. It is told by its environment:
  BULLPEN_BIN                      this program, for: "$BULLPEN_BIN" item --help
  BULLPEN_ITEM_ID                  which item it is
  BULLPEN_ITEM_SESSION             the runtime's session of the item's earlier rounds, if there is one
With a person's profile the agent's token is made on the first start, and kept in the config folder. With an
agent's BULLPEN_TOKEN (bullpen token create --person ada) it is that one.`,
    )
    .action(async (command: string[], flags: AgentFlags, self: Command) => {
      const globals = globalsOf(self);
      const session = sessionOf(globals);
      if (!handle.safeParse(flags.person).success)
        throw usage(`${safeLine(flags.person)} is no handle of a person.`, "bullpen people lists them.");
      const identity = await agentIdentity(session, flags.person);
      const running = await startAgent({
        url: identity.url,
        token: identity.token,
        handle: flags.person,
        workspaceName: identity.workspaceName,
        stateDir: resolve(flags.state ?? identity.stateDir),
        runtime: flags.runtime,
        model: flags.model,
        agentVersion: `bullpen/${manifest.version}`,
        command,
        cwd: flags.cwd === undefined ? undefined : resolve(flags.cwd),
        mode: flags.streamJson ? "stream-json" : "per-turn",
        timeoutMs: flags.timeout === undefined ? undefined : flags.timeout * 1000,
        env: process.env,
        bin: resolve(process.argv[1] ?? ""),
        log: (line) => note(dim(safeLine(line))),
        tell: teller(globals.json ?? false),
      }).catch(explained);
      let asked = 0;
      for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
        process.on(signal, () => {
          asked += 1;
          // npm and a terminal both pass Ctrl-C on, so that one may come as two.
          if (asked > 2) process.exit(130);
          void running.close();
        });
      const error = await running.closed;
      if (error) explained(error);
    });
  examples(agent, [
    "bullpen agent --person ada -- claude -p",
    "bullpen agent --person ada --stream-json -- claude -p --output-format stream-json --verbose",
    "bullpen agent --person milo --cwd ~/shop -- codex exec -",
  ]);
}

/** What ended it, by the exit code that fits. */
function explained(error: unknown): never {
  if (!(error instanceof OfficeError)) throw error;
  const code = error.code === "auth_failed" ? EXIT.signedOut : EXIT.refused;
  throw new CliError(code, `${error.message} (${error.code})`);
}
