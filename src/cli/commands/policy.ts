/** `policy …`, `audit …`: what is decided before anybody is asked, and the record of all that was decided. */
import { readFileSync } from "node:fs";
import { text as readAll } from "node:stream/consumers";
import { type Command, Option } from "commander";
import type * as z from "zod";
import type { auditItem, auditVerified, policyAnswer, policyTried } from "../../shared/wire/http.ts";
import { type PolicyClasses, type PolicyRule, type RiskClass, riskClass } from "../../shared/wire/index.ts";
import { CliError, EXIT, usage } from "../failures.ts";
import { examples, wholeNumber } from "../help.ts";
import { clockTime, Directory, day } from "../render.ts";
import { all, findParticipant, findSpace, type Participant } from "../resolve.ts";
import { globalsOf, sessionOf, write } from "../session.ts";
import { dim, print, printJson, safeLine } from "../terminal.ts";

/** Stands in a policy's file for the agent that is named when it is set. */
export const AGENT_PLACE = "agt_AGENT";

export function addPolicy(program: Command): void {
  const policy = program.command("policy").description("what happens to an ask before any person is asked");
  const get = policy
    .command("get")
    .description("print the policy as JSON, as policy set takes it")
    .option("--version <n>", "as it stood in this version", wholeNumber)
    .action(async (options: { version?: number }, command: Command) => {
      const { http } = sessionOf(globalsOf(command));
      printJson(await http.get<z.infer<typeof policyAnswer>>("/v1/policy", { ...options }));
    });
  examples(get, ["bullpen policy get > policy.json"]);

  const set = policy
    .command("set")
    .argument("<file>", "JSON: {rules, classes?}, or the list of rules; - reads standard input")
    .description("replace the policy, whole; a fault anywhere changes nothing")
    .option("--agent <who>", `the agent that stands in place of ${AGENT_PLACE} in the file`)
    .action(async (file: string, options: { agent?: string }, command: Command) => {
      const globals = globalsOf(command);
      const session = sessionOf(globals);
      let text = file === "-" ? await readAll(process.stdin) : read(file);
      if (options.agent !== undefined) {
        const { participant_id } = await findParticipant(session.http, options.agent);
        text = text.replaceAll(AGENT_PLACE, participant_id);
      } else if (text.includes(AGENT_PLACE))
        throw usage("This policy is for one agent.", "Name it: --agent WHO");
      const receipt = await write(session, "policy.set", policyIn(text, file));
      if (globals.json) return printJson(receipt);
      print(`This is version ${receipt.policy?.version} of the policy.`);
    });
  examples(set, [
    "bullpen policy set docs/policies/nothing-leaves.json",
    "bullpen policy set docs/policies/trust-inside.json --agent Scout",
  ]);

  interface TryOptions {
    risk?: RiskClass[];
    money?: string;
    external?: true;
    irreversible?: true;
    agent?: string;
    space?: string;
  }
  const attempt = policy
    .command("try")
    .argument("<action>", "the dotted verb, as email.send")
    .description("say what the policy would do with an ask, and why; nobody is asked")
    .addOption(new Option("--risk <class>", "a class of risk; may be repeated").argParser(risks))
    .option("--money <usd>", "what it costs")
    .option("--external", "it reaches outside")
    .option("--irreversible", "it cannot be undone")
    .option("--agent <who>", "asked by this agent")
    .option("--space <space>", "asked in this space")
    .action(async (kind: string, options: TryOptions, command: Command) => {
      const globals = globalsOf(command);
      const { http } = sessionOf(globals);
      const { risk = [], money, external, irreversible } = options;
      const money_usd = Number(money ?? 0);
      if (!(money_usd >= 0)) throw usage("--money is a number of dollars.");
      const agent = options.agent === undefined ? undefined : await findParticipant(http, options.agent);
      const space = options.space === undefined ? undefined : await findSpace(http, options.space);
      const action = { kind, external, irreversible, ...(money === undefined ? {} : { money_usd }) };
      const body = { action, risk, agent_id: agent?.participant_id, space_id: space?.space_id };
      const tried = await http.post<z.infer<typeof policyTried>>("/v1/policy/try", body);
      if (globals.json) return printJson(tried);
      print(`${tried.then}: ${safeLine(tried.why)}`);
      if (tried.classes.length > 0) print(`risk: ${tried.classes.join(", ")}`);
      if (tried.approvers) print(`approvers: ${tried.approvers.map(safeLine).join(", ")}`);
    });
  examples(attempt, [
    "bullpen policy try email.send",
    "bullpen policy try payment.send --money 20 --agent Scout --space Lobby",
  ]);
}

export function addAudit(program: Command): void {
  const audit = program.command("audit").description("the record of every ask, decision and policy");
  const list = audit
    .command("list", { isDefault: true })
    .description("list the audit's records, from the first")
    .action(async (_options: object, command: Command) => {
      const globals = globalsOf(command);
      const { http } = sessionOf(globals);
      const items = await all<z.infer<typeof auditItem>>(http, "/v1/audit");
      if (globals.json) return printJson(items);
      const names = new Directory();
      names.addMembers(await all<Participant>(http, "/v1/participants"));
      for (const { n, at, type, by, subject, hash } of items)
        print(
          `${n}  ${dim(`${day(at)} ${clockTime(at)}`)}  ${safeLine(type)}  ${names.who(by)}  ` +
            `${safeLine(subject)}  ${dim(hash.slice(0, 12))}`,
        );
    });
  examples(list, ["bullpen audit list", "bullpen audit list --json > audit.json"]);

  const verify = audit
    .command("verify")
    .description("check that the audit is the chain that was written; ends with 1 when it is not")
    .action(async (_options: object, command: Command) => {
      const globals = globalsOf(command);
      const answer = await sessionOf(globals).http.get<z.infer<typeof auditVerified>>("/v1/audit/verify");
      if (globals.json) printJson(answer);
      if (!answer.ok)
        throw new CliError(
          EXIT.refused,
          `The audit is not what was written: record ${answer.first_fault} was changed or is missing.`,
        );
      if (!globals.json) print(`The audit is whole: ${answer.checked} records checked.`);
    });
  examples(verify, ["bullpen audit verify"]);
}

function risks(value: string, before: RiskClass[] = []): RiskClass[] {
  const parsed = riskClass.safeParse(value);
  if (!parsed.success) throw usage(`--risk is one of ${riskClass.options.join(", ")}.`);
  return [...before, parsed.data];
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw usage(`${file} cannot be read: ${(error as Error).message}`);
  }
}

/** The server checks the rules, all at once and in words; here only that there are some. */
function policyIn(text: string, file: string): { rules: PolicyRule[]; classes?: PolicyClasses } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw usage(`${file} is not JSON: ${safeLine((error as Error).message)}`);
  }
  if (Array.isArray(value)) return { rules: value as PolicyRule[] };
  const { rules, classes } = (value ?? {}) as { rules?: PolicyRule[]; classes?: PolicyClasses };
  if (!Array.isArray(rules)) throw usage(`${file} has no list of rules.`);
  return { rules, ...(classes === undefined ? {} : { classes }) };
}
