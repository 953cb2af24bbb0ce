/** An export's files on this machine: one a hash in a folder, each checked as it comes and goes (LOG-6). */
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createReadStream, createWriteStream, existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { BullpenError } from "../sdk/errors.ts";
import type { BullpenHttp } from "../sdk/http.ts";
import { CliError, EXIT } from "./failures.ts";
import { persist } from "./session.ts";
import { note } from "./terminal.ts";

export interface NamedFile {
  sha256: string;
  byte_size: number;
}

/** Every file that an export names, once. */
export async function filesIn(path: string): Promise<NamedFile[]> {
  const files = new Map<string, NamedFile>();
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
    if (!line.startsWith('{"type":"attachment"')) continue;
    const { sha256, byte_size } = JSON.parse(line) as NamedFile;
    // It becomes a file's name here: nothing of a path is taken from it.
    if (/^[0-9a-f]{64}$/.test(sha256)) files.set(sha256, { sha256, byte_size });
  }
  return [...files.values()];
}

/** Fetches what an export names into a folder; what is there already stays. */
export async function fetchFiles(http: BullpenHttp, path: string, folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const files = await filesIn(path);
  for (const [index, file] of files.entries()) {
    const to = join(folder, file.sha256);
    if (!existsSync(to)) await persist(() => fetchOne(http, file, to));
    note(`${index + 1} of ${files.length} files`);
  }
}

async function fetchOne(http: BullpenHttp, { sha256 }: NamedFile, to: string): Promise<void> {
  let response: Response;
  try {
    response = await http.request("GET", `/v1/export/files/${sha256}`);
  } catch (error) {
    // Deleted since the export was made, or its bytes never came after an import.
    if (!(error instanceof BullpenError && error.code === "not_found")) throw error;
    return note(`${sha256} is not there any more.`);
  }
  const beside = `${to}.${randomBytes(6).toString("hex")}.part`;
  const hash = createHash("sha256");
  const out = createWriteStream(beside, { flags: "wx", mode: 0o600 });
  try {
    await once(out, "open");
    const hashed = async function* (chunks: AsyncIterable<Uint8Array>) {
      for await (const chunk of chunks) {
        hash.update(chunk);
        yield chunk;
      }
    };
    await pipeline(response.body as unknown as AsyncIterable<Uint8Array>, hashed, out);
    if (hash.digest("hex") !== sha256)
      throw new CliError(EXIT.unreachable, `${sha256} was changed on its way.`, "Run it again.");
    renameSync(beside, to);
  } finally {
    out.destroy();
    rmSync(beside, { force: true });
  }
}

/** Sends the files of an import that the folder has; answers how many it lacks. */
export async function sendFiles(
  http: BullpenHttp,
  workspaceId: string,
  files: readonly NamedFile[],
  folder: string,
): Promise<number> {
  let lacking = 0;
  for (const [index, { sha256 }] of files.entries()) {
    const from = join(folder, sha256);
    if (existsSync(from))
      await persist(() =>
        http.put(`/v1/workspaces/${workspaceId}/files/${sha256}`, undefined, {
          content: Readable.toWeb(createReadStream(from)),
        }),
      );
    else lacking += 1;
    note(`${index + 1} of ${files.length} files`);
  }
  return lacking;
}
