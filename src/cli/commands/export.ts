/** `export`: the whole workspace as lines of JSON, in a file. */
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createWriteStream, renameSync, rmSync } from "node:fs";
import type { Writable } from "node:stream";
import { finished } from "node:stream/promises";
import type { Command } from "commander";
import { CliError, EXIT, usage } from "../failures.ts";
import { fetchFiles } from "../files.ts";
import { examples } from "../help.ts";
import { globalsOf, sessionOf } from "../session.ts";
import { note, printJson } from "../terminal.ts";

const SAY_EVERY_MS = 1000;

export function addExport(program: Command): void {
  const command = program
    .command("export")
    .description("write the whole workspace to a file: people, log, words, files' hashes (owners and admins)")
    .option("--output <file>", "where to; - is standard output (default: bullpen-<workspace>.ndjson here)")
    .option("--files <folder>", "also the files' bytes, each under its hash; those that are there stay")
    .addHelpText(
      "after",
      `
One line of JSON each; spec/shapes.md says which. The file is there when it is whole: what ends early leaves
none. It holds every word of the workspace, and no token, session or invite.`,
    )
    .action(async (options: { output?: string; files?: string }, self: Command) => {
      if (options.files !== undefined && options.output === "-")
        throw usage("--files needs an export in a file.", "Leave out --output -.");
      const globals = globalsOf(self);
      const { http } = sessionOf(globals);
      const response = await http.request("GET", "/v1/export");
      if (!response.body) throw cutShort();
      const path = options.output ?? nameFrom(response.headers.get("content-disposition"));
      const done =
        path === "-"
          ? await copy(response.body, process.stdout, false)
          : await writeWhole(response.body, path);
      if (options.files !== undefined) await fetchFiles(http, path, options.files);
      if (globals.json && path !== "-") printJson({ file: path, ...done });
      else note(`${done.lines} lines, ${done.bytes} bytes${path === "-" ? "" : ` in ${path}`}.`);
    });
  examples(command, [
    "bullpen export",
    "bullpen export --output monday.ndjson --files monday",
    "bullpen export --output - | gzip > backup.ndjson.gz",
  ]);
}

/** The name that the server gives the file; nothing of a path is taken from it. */
function nameFrom(disposition: string | null): string {
  return /filename="([A-Za-z0-9_.-]+)"/.exec(disposition ?? "")?.[1] ?? "bullpen-export.ndjson";
}

interface Copied {
  lines: number;
  bytes: number;
}

/** Writes beside and renames: the file is never half of one, and one that was there stays until then. */
async function writeWhole(body: ReadableStream, path: string): Promise<Copied> {
  const beside = `${path}.${randomBytes(6).toString("hex")}.part`;
  const to = createWriteStream(beside, { flags: "wx", mode: 0o600 });
  try {
    // Removed before it was opened, it would be made afterwards.
    await once(to, "open");
    const copied = await copy(body, to, true);
    to.end();
    await finished(to);
    renameSync(beside, path);
    return copied;
  } catch (error) {
    to.destroy();
    rmSync(beside, { force: true });
    if (error instanceof CliError) throw error;
    throw new CliError(EXIT.usage, `${path} cannot be written: ${(error as Error).message}`);
  }
}

/** Passes bytes on no faster than they are taken, and checks that the last line ends what stands before it. */
async function copy(body: ReadableStream, to: Writable, tells: boolean): Promise<Copied> {
  const before = createHash("sha256");
  let last = Buffer.alloc(0);
  let bytes = 0;
  let lines = 0;
  let said = Date.now();
  // A write that fails later is thrown at the next one, not lost.
  let failed: Error | undefined;
  to.once("error", (error) => (failed = error));
  for await (const chunk of chunksOf(body)) {
    if (failed) throw failed;
    bytes += chunk.byteLength;
    for (const byte of chunk) if (byte === 10) lines += 1;
    last = Buffer.concat([last, chunk]);
    // Everything but the last line, which may be the end itself, is hashed as it comes.
    const at = last.lastIndexOf(10, last.length - 2) + 1;
    before.update(last.subarray(0, at));
    last = last.subarray(at);
    if (!to.write(chunk)) await once(to, "drain");
    if (tells && Date.now() - said > SAY_EVERY_MS) {
      said = Date.now();
      note(`${lines} lines, ${Math.round(bytes / 1024)} KiB …`);
    }
  }
  if (failed) throw failed;
  checkEnd(last.toString("utf8"), lines - 1, before.digest("hex"));
  return { lines, bytes };
}

async function* chunksOf(body: ReadableStream): AsyncGenerator<Uint8Array> {
  try {
    yield* body as unknown as AsyncIterable<Uint8Array>;
  } catch {
    throw cutShort();
  }
}

function checkEnd(line: string, lines: number, sha256: string): void {
  let end: { type?: unknown; lines?: unknown; sha256?: unknown };
  try {
    end = JSON.parse(line) as typeof end;
  } catch {
    throw cutShort();
  }
  if (end.type !== "end") throw cutShort();
  if (end.lines !== lines || end.sha256 !== sha256)
    throw new CliError(EXIT.unreachable, "The export was changed on its way.", "Run it again.");
}

function cutShort(): CliError {
  return new CliError(
    EXIT.unreachable,
    "The server ended the export before it was whole.",
    "Run it again: an export begins anew each time.",
  );
}
