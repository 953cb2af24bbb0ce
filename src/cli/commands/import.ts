/** `import`: a workspace from its export, on this server, with every id. */
import { createReadStream, existsSync } from "node:fs";
import type { Command } from "commander";
import type * as z from "zod";
import { BullpenError } from "../../sdk/errors.ts";
import { BullpenHttp } from "../../sdk/http.ts";
import type { imported, importing } from "../../shared/wire/http.ts";
import { CliError, EXIT, usage } from "../failures.ts";
import { filesIn, type NamedFile, sendFiles } from "../files.ts";
import { examples } from "../help.ts";
import { globalsOf, persist, urlOf } from "../session.ts";
import { note } from "../terminal.ts";
import { adminToken, keep } from "./access.ts";

type Importing = z.infer<typeof importing>;
type Imported = z.infer<typeof imported>;

/** So much is sent at once: what breaks off is sent again from there. */
const PIECE_BYTES = 4 * 1024 * 1024;

export function addImport(program: Command): void {
  const command = program
    .command("import")
    .description("make a workspace of its export, with every id (needs the deployment's ADMIN_TOKEN)")
    .argument("<export>", "the file that `bullpen export` wrote")
    .option("--files <folder>", "the files' bytes, as `bullpen export --files` wrote them")
    .option("--admin-token <token>", "the ADMIN_TOKEN of the server (better BULLPEN_ADMIN_TOKEN)")
    .addHelpText(
      "after",
      `
What broke off goes on when it is run again. Its oldest owner gets a new token, kept in a profile here; everybody
else comes in again by links and tokens that this owner makes.`,
    )
    .action(async (path: string, options: { files?: string; adminToken?: string }, self: Command) => {
      const globals = globalsOf(self);
      const url = urlOf(globals);
      const http = new BullpenHttp({ url, token: adminToken(options.adminToken) });
      if (!existsSync(path)) throw usage(`There is no file ${path}.`);
      const { workspace_id, name } = await headOf(path);
      const done = await sendLines(http, workspace_id, path, options.files !== undefined);
      const missing = done?.files_missing ?? (await filesIn(path));
      await sendMissing(http, workspace_id, missing, options.files);
      if (!done) return note("The workspace was there already; its files were looked after.");
      const { owner, token } = done;
      const { participant_id } = owner;
      await keep(
        globals,
        { url, token, workspace_id, workspace_name: name, participant_id, name: owner.name },
        { workspace_id, owner },
      );
    });
  examples(command, [
    "BULLPEN_ADMIN_TOKEN=… bullpen import monday.ndjson --files monday --url https://rooms.example.com",
  ]);
}

/** The first line: whose export it is. */
async function headOf(path: string): Promise<{ workspace_id: string; name: string }> {
  for await (const { text } of pieces(path, 1, 1)) {
    try {
      const line = JSON.parse(text.toString("utf8")) as {
        type?: unknown;
        workspace_id: string;
        name: string;
      };
      if (line.type === "workspace") return line;
    } catch {
      break;
    }
  }
  throw usage(`${path} is no export of a workspace.`, "It is what bullpen export writes.");
}

/** Sends the lines from where the server waits for them; nothing where the workspace is there and only files are. */
async function sendLines(
  http: BullpenHttp,
  workspaceId: string,
  path: string,
  orFiles: boolean,
): Promise<Imported | undefined> {
  let begun: Importing;
  try {
    begun = await persist(() => http.post<Importing>("/v1/workspaces", { import: workspaceId }));
  } catch (error) {
    if (orFiles && error instanceof BullpenError && error.code === "conflict") return undefined;
    throw error;
  }
  if (begun.next_line > 1) note(`It goes on from line ${begun.next_line}.`);
  for await (const { text, from, to } of pieces(path, begun.next_line, PIECE_BYTES)) {
    const answer = await persist(() =>
      http.json<Importing | Imported>("POST", `/v1/workspaces/${workspaceId}/import`, {
        query: { from },
        content: text,
      }),
    );
    note(`${to} lines …`);
    if ("token" in answer) return answer;
  }
  throw new CliError(EXIT.usage, `${path} is cut short: its end is missing.`, "Export it again.");
}

interface Piece {
  text: Buffer;
  from: number;
  to: number;
}

/** Whole lines of a file from a line on, so many bytes or more at once. */
async function* pieces(path: string, first: number, size: number): AsyncGenerator<Piece> {
  let number = 0;
  let from = first;
  let held: Buffer[] = [];
  let bytes = 0;
  let rest = Buffer.alloc(0);
  for await (const chunk of createReadStream(path)) {
    rest = Buffer.concat([rest, chunk as Buffer]);
    let start = 0;
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10, start)) {
      number += 1;
      if (number >= first) {
        held.push(rest.subarray(start, end + 1));
        bytes += end + 1 - start;
      }
      start = end + 1;
      if (bytes < size) continue;
      yield { text: Buffer.concat(held), from, to: number };
      from = number + 1;
      held = [];
      bytes = 0;
    }
    rest = rest.subarray(start);
  }
  if (bytes > 0) yield { text: Buffer.concat(held), from, to: number };
}

async function sendMissing(
  http: BullpenHttp,
  workspaceId: string,
  missing: readonly NamedFile[],
  folder: string | undefined,
): Promise<void> {
  if (missing.length === 0) return;
  const lacking = folder === undefined ? missing.length : await sendFiles(http, workspaceId, missing, folder);
  if (lacking > 0)
    note(`${lacking} files have no bytes here yet: send them with --files FOLDER, by running this again.`);
}
