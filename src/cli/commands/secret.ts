/** `secret set`: what the office must know and nobody reads again (SECRET-1). */
import { text as readAll } from "node:stream/consumers";
import type { Command } from "commander";
import { usage } from "../failures.ts";
import { examples } from "../help.ts";
import { globalsOf, sessionOf } from "../session.ts";
import { note, print, safeLine } from "../terminal.ts";

export function addSecrets(program: Command): void {
  const secret = program.command("secret").description("secrets of the workspace: written, never read");
  const set = secret
    .command("set")
    .argument("<name>", "as github_token: small letters, digits and _")
    .allowExcessArguments()
    .description("set a secret to what standard input says; for the owner")
    .action(async (name: string, _options: object, command: Command) => {
      // In a command line it would stand in the shell's history and in every list of processes.
      if (command.args.length > 1)
        throw usage("A secret is never an argument.", "Give it on standard input.");
      if (process.stdin.isTTY) note("Paste the value, then press Enter and Ctrl-D.");
      const value = (await readAll(process.stdin)).replace(/\r?\n$/, "");
      if (value === "") throw usage("Standard input was empty.", "Pipe the value in, as in the examples.");
      await sessionOf(globalsOf(command)).http.put(`/v1/secrets/${encodeURIComponent(name)}`, { value });
      print(`${safeLine(name)} is set. The value before it stays good until it is set once more.`);
    });
  examples(set, [
    "gh auth token | bullpen secret set github_token",
    "bullpen secret set github_webhook_secret < secret.txt",
  ]);
}
