/** `workspace`, `invite`, `join`, `sign-in-link`: how people come in. */
import { randomUUID } from "node:crypto";
import { type Command, Option } from "commander";
import type * as z from "zod";
import { BullpenHttp } from "../../sdk/http.ts";
import type * as wire from "../../shared/wire/http.ts";
import { usage } from "../failures.ts";
import { collect, duration, examples, wholeNumber } from "../help.ts";
import { readLink } from "../link.ts";
import { freeProfileName, type Profile, profileNameFor, saveProfile } from "../profiles.ts";
import { findParticipant, findSpace } from "../resolve.ts";
import { commandLine, type Globals, globalsOf, persist, sessionOf, urlOf } from "../session.ts";
import { note, print, printJson, safeLine } from "../terminal.ts";
import { clockTime, day } from "../times.ts";

type Answer<K extends keyof typeof wire> = (typeof wire)[K] extends z.ZodType
  ? z.infer<(typeof wire)[K]>
  : never;

export function addAccess(program: Command): void {
  addWorkspace(program);
  addInvites(program);
}

/** Saves who one has become and says so; the token itself is shown nowhere. */
export async function keep(globals: Globals, profile: Profile, more: object): Promise<void> {
  const wanted = globals.profile ?? profileNameFor(profile.workspace_name ?? profile.name);
  const name = globals.profile === undefined ? freeProfileName(wanted, profile) : wanted;
  saveProfile(name, profile);
  if (globals.json) return printJson({ profile: name, ...more });
  print(`You are ${safeLine(profile.name)} in ${safeLine(profile.workspace_name ?? profile.workspace_id)}.`);
  print(`Saved as the profile ${name}, which is the current one now.`);
}

/** The deployment's own token, which makes and imports workspaces. */
export function adminToken(given: string | undefined): string {
  const token = given ?? process.env["BULLPEN_ADMIN_TOKEN"];
  if (token) return token;
  throw usage(
    "--admin-token or BULLPEN_ADMIN_TOKEN is missing.",
    "It is the ADMIN_TOKEN of the server; for the local one it stands in .dev.vars.",
  );
}

function addWorkspace(program: Command): void {
  const workspace = program.command("workspace").description("workspaces of a server");
  const create = workspace
    .command("create")
    .description("make a workspace and become its owner (needs the deployment's ADMIN_TOKEN)")
    .requiredOption("--name <name>", "what the workspace is called")
    .requiredOption("--owner <name>", "what you are called there")
    .option("--admin-token <token>", "the ADMIN_TOKEN of the server (better BULLPEN_ADMIN_TOKEN)")
    .action(async (options: { name: string; owner: string; adminToken?: string }, command: Command) => {
      const globals = globalsOf(command);
      const url = urlOf(globals);
      const token = adminToken(options.adminToken);
      const made = await new BullpenHttp({ url, token }).post<Answer<"workspaceCreated">>("/v1/workspaces", {
        name: options.name,
        owner_name: options.owner,
      });
      const { workspace_id, owner } = made;
      const profile = { url, token: made.token, workspace_id, workspace_name: options.name };
      await keep(
        globals,
        { ...profile, participant_id: owner.participant_id, name: owner.name },
        { workspace_id, owner },
      );
    });
  examples(create, [
    "BULLPEN_ADMIN_TOKEN=… bullpen workspace create --name Acme --owner Ann --url https://rooms.example.com",
  ]);
}

function addInvites(program: Command): void {
  const invite = program
    .command("invite")
    .description("make a link that lets somebody in")
    .addOption(new Option("--role <role>", "what they will be").choices(["admin", "member", "guest"]))
    .option("--uses <n>", "how many may come in by it (default: 1)", wholeNumber)
    .option("--expires <time>", "how long it is good, as 30m, 12h or 7d (default: 30m, at most 7d)", duration)
    .option("--space <space>", "a space they will be in; may be given several times", collect)
    .action(
      async (
        options: { role?: string; uses?: number; expires?: number; space?: string[] },
        command: Command,
      ) => {
        const globals = globalsOf(command);
        const { http } = sessionOf(globals);
        const space_ids: string[] = [];
        for (const text of options.space ?? []) space_ids.push((await findSpace(http, text)).space_id);
        const made = await http.post<Answer<"inviteCreated">>("/v1/invites", {
          role: options.role,
          uses: options.uses,
          expires_in_s: options.expires,
          space_ids,
        });
        if (globals.json) return printJson(made);
        print(made.link);
        note(`Good until ${day(made.expires_at)} ${clockTime(made.expires_at)}. Open it in a browser, or:`);
        note(`  ${commandLine({})(`join '${made.link}' --name NAME`)}`);
      },
    );
  examples(invite, ["bullpen invite --space Lobby", "bullpen invite --role guest --uses 5 --expires 7d"]);

  const join = program
    .command("join")
    .description("come in by an invite, or sign in by a sign-in link")
    .argument("<link>", "the link, in quotes: its # is special to some shells")
    .option("--name <name>", "what you will be called; not for a sign-in link")
    .action(async (text: string, options: { name?: string }, command: Command) => {
      const globals = globalsOf(command);
      const { kind, url, secret } = readLink(text, () => urlOf(globals));
      const http = new BullpenHttp({ url });
      const idempotency_key = randomUUID();
      if (kind === "invite" && options.name === undefined)
        throw usage("An invite needs a name.", "Say what you are called: --name NAME");
      // The key makes a second try the same coming in, not another (AUTH-8).
      const came = await persist(() =>
        kind === "invite"
          ? http.post<Answer<"inviteRedeemed">>("/v1/invites/redeem", {
              secret,
              display_name: options.name,
              idempotency_key,
            })
          : http.post<Answer<"inviteRedeemed">>("/v1/sign-in-links/redeem", { secret, idempotency_key }),
      );
      const { token } = came;
      const me = await new BullpenHttp({ url, token }).get<Answer<"me">>("/v1/me");
      const { workspace_id, workspace_name } = me;
      const { participant_id, name } = me.participant;
      await keep(
        globals,
        { url, token, workspace_id, workspace_name, participant_id, name },
        {
          workspace_id,
          workspace_name,
          participant: me.participant,
        },
      );
    });
  examples(join, ["bullpen join 'https://rooms.example.com/#invite=…' --name Ann"]);

  const signInLink = program
    .command("sign-in-link")
    .description("make a link that signs you in somewhere else: one use, five minutes")
    .option("--for <who>", "somebody else, who is told of it (owners only)")
    .action(async (options: { for?: string }, command: Command) => {
      const globals = globalsOf(command);
      const { http } = sessionOf(globals);
      const who = options.for === undefined ? undefined : await findParticipant(http, options.for);
      const made = await http.post<Answer<"signInLinkCreated">>("/v1/sign-in-links", {
        participant_id: who?.participant_id,
      });
      if (globals.json) return printJson(made);
      print(made.link);
    });
  examples(signInLink, ["bullpen sign-in-link", "bullpen sign-in-link --for Ann"]);
}
