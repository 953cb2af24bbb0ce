import type { Command } from "commander";
import { expect, it } from "vitest";
import { duration } from "./help.ts";
import { buildProgram, commanderExit } from "./program.ts";

function leaves(command: Command): Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leaves);
}

/** What `--help` prints, with what `addHelpText` adds. */
function helpOf(command: Command): string {
  let text = "";
  command.configureOutput({ writeOut: (part) => (text += part) });
  command.outputHelp();
  return text;
}

it.each(leaves(buildProgram()).map((command) => [command.name(), command] as const))(
  "%s --help has examples, the exit codes and the options of all",
  (_name, command) => {
    const help = helpOf(command);
    expect(help).toMatch(/Examples:\n {2}\$ .*bullpen/);
    expect(help).toContain("Exit codes:");
    expect(help).toContain("--profile <name>");
  },
);

it.each([
  [["--nope"]],
  [["nope"]],
  [["post"]],
  [["invite", "--expires", "soon"]],
  [["tail", "--after", "-1"]],
])("calls a wrong command line one: %j", async (args) => {
  const program = buildProgram();
  for (const command of [program, ...leaves(program)]) command.configureOutput({ writeErr: () => {} });
  const thrown: unknown = await program.parseAsync(args, { from: "user" }).catch((error: unknown) => error);
  expect(commanderExit(thrown)).toBe(2);
});

it("reads times as people write them", () => {
  expect([duration("90s"), duration("30m"), duration("12h"), duration("7d")]).toEqual([
    90, 1800, 43_200, 604_800,
  ]);
  expect(() => duration("soon")).toThrow("30m");
});
