/** `whoami`, `profile …`, `sign-out`: who one is here. */
import type { Command } from "commander";
import type * as z from "zod";
import { BullpenError } from "../../sdk/errors.ts";
import type { me } from "../../shared/wire/http.ts";
import { examples } from "../help.ts";
import { loadProfiles, profilesFile, removeProfile, useProfile } from "../profiles.ts";
import { globalsOf, sessionOf } from "../session.ts";
import { print, printJson, safeLine, table } from "../terminal.ts";

export function addProfiles(program: Command): void {
  const whoami = program
    .command("whoami")
    .description("say as whom, and where, you are signed in")
    .action(async (_options: object, command: Command) => {
      const globals = globalsOf(command);
      const { http, url, profile } = sessionOf(globals);
      const answer = await http.get<z.infer<typeof me>>("/v1/me");
      if (globals.json) return printJson({ ...answer, url, ...(profile ? { profile } : {}) });
      const { participant, workspace_id, workspace_name, scopes, agents = [] } = answer;
      print(
        table([
          ["name", participant.name],
          ["id", participant.participant_id],
          ["kind", [participant.kind, participant.role].filter(Boolean).join(", ")],
          ["workspace", `${workspace_name} (${workspace_id})`],
          ["server", url],
          ["scopes", scopes.join(", ")],
          ...(profile ? [["profile", profile]] : []),
          ...agents.map(({ name, agent_id }) => ["agent", `${name} (${agent_id})`]),
        ]),
      );
    });
  examples(whoami, ["bullpen whoami", "BULLPEN_TOKEN=bp_… bullpen whoami --url https://rooms.example.com"]);

  const profiles = program.command("profile").description("the profiles kept on this machine");
  const list = profiles
    .command("list")
    .description("list the profiles; the current one has a star")
    .action((_options: object, command: Command) => {
      const all = loadProfiles();
      const rows = Object.entries(all.profiles).map(([name, { token: _secret, ...rest }]) => ({
        profile: name,
        current: name === all.current,
        ...rest,
      }));
      if (globalsOf(command).json) return printJson(rows);
      if (rows.length === 0) return print(`No profiles in ${profilesFile()} yet.`);
      print(
        table(
          rows.map((row) => [
            row.current ? "*" : " ",
            row.profile,
            row.name,
            row.workspace_name ?? row.workspace_id,
            row.url,
          ]),
        ),
      );
    });
  examples(list, ["bullpen profile list"]);
  const use = profiles
    .command("use")
    .argument("<name>")
    .description("make a profile the current one")
    .action((name: string) => {
      useProfile(name);
      print(`${safeLine(name)} is the current profile.`);
    });
  examples(use, ["bullpen profile use work"]);
  const remove = profiles
    .command("remove")
    .argument("<name>")
    .description("forget a profile here; its token stays good (see sign-out)")
    .action((name: string) => {
      removeProfile(name);
      print(`${safeLine(name)} is forgotten.`);
    });
  examples(remove, ["bullpen profile remove old"]);

  const signOut = program
    .command("sign-out")
    .description("end the token in use for good, and forget its profile")
    .action(async (_options: object, command: Command) => {
      const { http, profile } = sessionOf(globalsOf(command));
      try {
        await http.post("/v1/sign-out");
      } catch (error) {
        // A token that had ended already leaves only the profile to forget.
        if (!(error instanceof BullpenError && error.code === "unauthenticated" && profile)) throw error;
      }
      if (profile !== undefined) removeProfile(profile);
      print("Signed out.");
    });
  examples(signOut, ["bullpen sign-out", "bullpen sign-out --profile work"]);
}
