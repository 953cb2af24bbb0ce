/** `spaces`, `space …`, `members`, `member …`. */
import type { Command } from "commander";
import type * as z from "zod";
import type { memberItem } from "../../shared/wire/http.ts";
import { collect, examples } from "../help.ts";
import { all, findParticipant, findSpace, type SpaceItem } from "../resolve.ts";
import { globalsOf, sessionOf, write } from "../session.ts";
import { note, print, printJson, safeLine, table } from "../terminal.ts";

export function addSpaces(program: Command): void {
  const list = program
    .command("spaces")
    .description("list the spaces that you can see")
    .action(async (_options: object, command: Command) => {
      const globals = globalsOf(command);
      const items = await all<SpaceItem>(sessionOf(globals).http, "/v1/spaces");
      if (globals.json) return printJson(items);
      if (items.length === 0) return note("You see no space yet. Make one: bullpen space create TITLE");
      print(table([["SPACE", "MEMBERS", "UNREAD", "", "ID"], ...items.map(row)]));
    });
  examples(list, ["bullpen spaces", "bullpen spaces --json"]);

  const space = program.command("space").description("make and change spaces");
  const create = space
    .command("create")
    .argument("<title>")
    .description("make a space; you own it")
    .option("--open", "everybody of the workspace may read and join it")
    .option("--with <who>", "somebody to add: a name, a handle or an id; may be repeated", collect)
    .action(async (title: string, options: { open?: boolean; with?: string[] }, command: Command) => {
      const globals = globalsOf(command);
      const session = sessionOf(globals);
      const people = [];
      for (const text of options.with ?? []) people.push(await findParticipant(session.http, text));
      const visibility = options.open ? "open" : "private";
      const { space_id = "" } = await write(session, "space.create", { title, visibility });
      for (const { participant_id } of people)
        await write(session, "member.add", { space_id, participant_id });
      if (globals.json) return printJson({ space_id, title });
      print(space_id);
    });
  examples(create, [
    "bullpen space create Lobby --open",
    "bullpen space create Launch --with Ann --with Scout",
  ]);

  const rename = space
    .command("rename")
    .argument("<space>")
    .argument("<title>")
    .description("give a space another title")
    .action(async (text: string, title: string, _options: object, command: Command) => {
      const session = sessionOf(globalsOf(command));
      const { space_id } = await findSpace(session.http, text);
      await write(session, "space.rename", { space_id, title });
      print("Renamed.");
    });
  examples(rename, ["bullpen space rename Launch 'Launch 2'"]);

  for (const [name, does, done] of [
    ["archive", "close a space to new words", "Archived."],
    ["unarchive", "bring an archived space back", "Brought back."],
  ] as const) {
    const command = space
      .command(name)
      .argument("<space>")
      .description(does)
      .action(async (text: string, _options: object, self: Command) => {
        const session = sessionOf(globalsOf(self));
        const { space_id } = await findSpace(session.http, text);
        await write(session, `space.${name}`, { space_id });
        print(done);
      });
    examples(command, [`bullpen space ${name} Launch`]);
  }

  const members = program
    .command("members")
    .argument("<space>", "its title or id")
    .description("list who is in a space, with their handles")
    .action(async (text: string, _options: object, command: Command) => {
      const globals = globalsOf(command);
      const { http } = sessionOf(globals);
      const { space_id } = await findSpace(http, text);
      const items = await all<z.infer<typeof memberItem>>(http, `/v1/spaces/${space_id}/members`);
      if (globals.json) return printJson(items);
      const rows = items.map((item) => [
        item.handle === undefined ? "" : `@${item.handle}`,
        item.name,
        item.kind,
        item.role,
        item.online ? "online" : "",
        item.participant_id,
      ]);
      print(table([["HANDLE", "NAME", "KIND", "ROLE", "", "ID"], ...rows]));
    });
  examples(members, ["bullpen members Lobby"]);

  const member = program.command("member").description("add and remove members of a space");
  for (const [name, does, done] of [
    ["add", "add somebody to a space", "is in"],
    ["remove", "take somebody out of a space", "is out of"],
  ] as const) {
    const command = member
      .command(name)
      .argument("<space>", "its title or id")
      .argument("<who>", "a name, a handle or an id")
      .description(does)
      .action(async (text: string, who: string, _options: object, self: Command) => {
        const session = sessionOf(globalsOf(self));
        const { space_id, title } = await findSpace(session.http, text);
        const participant = await findParticipant(session.http, who);
        await write(session, `member.${name}`, { space_id, participant_id: participant.participant_id });
        print(`${safeLine(participant.name)} ${done} ${safeLine(title)}.`);
      });
    examples(command, [`bullpen member ${name} Lobby Scout`]);
  }
}

function row({ title, members, unread, mentioned, archived, joined, space_id }: SpaceItem): string[] {
  const marks = [
    mentioned > 0 ? `${mentioned} for you` : "",
    archived ? "archived" : "",
    joined ? "" : "not joined",
  ];
  return [title, String(members), String(unread), marks.filter(Boolean).join(", "), space_id];
}
