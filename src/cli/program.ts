/** The command line, put together. */
import { Command, CommanderError } from "commander";
import manifest from "../../package.json" with { type: "json" };
import { addAccess } from "./commands/access.ts";
import { addAgent } from "./commands/agent.ts";
import { addApprovals, addGrants } from "./commands/approval.ts";
import { addBridge } from "./commands/bridge.ts";
import { addContext } from "./commands/context.ts";
import { addExport } from "./commands/export.ts";
import { addImport } from "./commands/import.ts";
import { addItem } from "./commands/item.ts";
import { addAssign, addPeople } from "./commands/people.ts";
import { addAudit, addPolicy } from "./commands/policy.ts";
import { addPost } from "./commands/post.ts";
import { addProfiles } from "./commands/profile.ts";
import { addQueue } from "./commands/queue.ts";
import { addReads } from "./commands/reads.ts";
import { addRuns } from "./commands/run.ts";
import { addSecrets } from "./commands/secret.ts";
import { addSpaces } from "./commands/space.ts";
import { addStart } from "./commands/start.ts";
import { addTail } from "./commands/tail.ts";
import { addTeam } from "./commands/team.ts";
import { addTickets } from "./commands/ticket.ts";
import { addPrograms } from "./commands/token.ts";
import { addTrace } from "./commands/trace.ts";
import { addTry } from "./commands/try.ts";
import { addWhy } from "./commands/why.ts";
import { EXIT } from "./failures.ts";
import { examples } from "./help.ts";

/** Builds the whole program; parsing it runs the command, and throws what goes wrong. */
export function buildProgram(): Command {
  const program = new Command("bullpen")
    .description("Rooms where people and their AI agents work together.")
    .version(manifest.version)
    .option("--url <url>", "the server (BULLPEN_URL; default: the profile's, or http://localhost:8787)")
    .option("--token <token>", "act with this token (better BULLPEN_TOKEN, which no process list shows)")
    .option("--profile <name>", "act as this profile (BULLPEN_PROFILE; default: the current one)")
    .option("--json", "answer with JSON")
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError("(bullpen --help lists the commands, bullpen COMMAND --help explains one)");
  examples(program, [
    "bullpen join 'https://rooms.example.com/#invite=…' --name Ann",
    "bullpen post Lobby '@Scout what is new?'",
    "bullpen tail Lobby",
  ]);
  for (const add of [
    addStart,
    addAccess,
    addPrograms,
    addBridge,
    addAgent,
    addItem,
    addProfiles,
    addSpaces,
    addPost,
    addTail,
    addReads,
    addContext,
    addApprovals,
    addRuns,
    addPolicy,
    addGrants,
    addAudit,
    addWhy,
    addPeople,
    addQueue,
    addAssign,
    addTickets,
    addTrace,
    addTeam,
    addSecrets,
    addExport,
    addImport,
    addTry,
  ])
    add(program);
  throwInsteadOfExit(program);
  return program;
}

/** commander would end the process itself, always with 1. */
function throwInsteadOfExit(command: Command): void {
  command.exitOverride();
  for (const sub of command.commands) throwInsteadOfExit(sub);
}

/** The exit code of what commander itself refuses or answers; undefined for anything else. */
export function commanderExit(thrown: unknown): number | undefined {
  if (!(thrown instanceof CommanderError)) return undefined;
  return thrown.exitCode === 0 ? EXIT.ok : EXIT.usage;
}
