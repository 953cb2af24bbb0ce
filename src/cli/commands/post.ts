/** `post`: says something in a space. */
import { accessSync, constants, openAsBlob } from "node:fs";
import { basename } from "node:path";
import { text as readAll } from "node:stream/consumers";
import type { Command } from "commander";
import type * as z from "zod";
import { upload } from "../../sdk/files.ts";
import type { BullpenHttp } from "../../sdk/http.ts";
import type { me } from "../../shared/wire/http.ts";
import { CliError, EXIT, usage } from "../failures.ts";
import { collect, examples } from "../help.ts";
import { findSpace, pick } from "../resolve.ts";
import { globalsOf, persist, sessionOf, write } from "../session.ts";
import { print, printJson } from "../terminal.ts";

interface PostOptions {
  file?: string[];
  replyTo?: string;
  as?: string;
}

export function addPost(program: Command): void {
  const post = program
    .command("post")
    .description("say something in a space")
    .argument("<space>", "its title or id")
    .argument("[text...]", "the words, as typed, @mentions too; - reads them from standard input")
    .option("--file <path>", "a file to go with it; may be given several times", collect)
    .option("--reply-to <message>", "the id of the message that it answers")
    .option("--as <agent>", "with a harness's token: which of its agents says it")
    .action(async (spaceText: string, words: string[], options: PostOptions, command: Command) => {
      const globals = globalsOf(command);
      const text = await textOf(words);
      if (text.trim() === "" && !options.file)
        throw usage("There is nothing to say.", "Give a text, - for standard input, or --file.");
      const session = sessionOf(globals);
      const { http } = session;
      const blobs = await Promise.all((options.file ?? []).map(open));
      const { space_id } = await findSpace(http, spaceText);
      const actor = options.as === undefined ? undefined : await agentOf(http, options.as);
      const attachments = [];
      for (const { blob, filename } of blobs) {
        const { attachment_id } = await persist(() => upload(http, blob, { filename }));
        attachments.push({ attachment_id });
      }
      const receipt = await write(
        session,
        "message.post",
        {
          space_id,
          text,
          ...(attachments.length > 0 ? { attachments } : {}),
          ...(options.replyTo === undefined ? {} : { reply_to: options.replyTo }),
        },
        actor,
      );
      if (globals.json) return printJson(receipt);
      // What --reply-to takes.
      if (receipt.message_id !== undefined) print(receipt.message_id);
    });
  examples(post, [
    "bullpen post Lobby '@Scout what is the weather?'",
    "bullpen post Lobby 'the plan' --file plan.md --file chart.png",
    "git log -5 | bullpen post Launch -",
  ]);
}

async function textOf(words: readonly string[]): Promise<string> {
  if (words.length !== 1 || words[0] !== "-") return words.join(" ");
  // The shell's last line break is no part of what was meant.
  return (await readAll(process.stdin)).replace(/\r?\n$/, "");
}

async function open(path: string): Promise<{ blob: Blob; filename: string }> {
  try {
    accessSync(path, constants.R_OK); // openAsBlob does not say why it fails
    return { blob: await openAsBlob(path), filename: basename(path) };
  } catch (error) {
    throw new CliError(EXIT.usage, `${path} cannot be read: ${(error as Error).message}`);
  }
}

/** The harness's own agent of that name, as the claim that the server checks (ENV-5). */
async function agentOf(http: BullpenHttp, text: string): Promise<{ kind: "agent"; id: string }> {
  const { agents = [] } = await http.get<z.infer<typeof me>>("/v1/me");
  const agent = pick("agent of yours", text.replace(/^@/, ""), agents, ({ agent_id, name }) => ({
    id: agent_id,
    name,
    more: "",
  }));
  return { kind: "agent", id: agent.agent_id };
}
