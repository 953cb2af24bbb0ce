/**
 * The folder of a turn: the message's files in `in`, what the program leaves in `out`. Names in it come from
 * people in the room, and what stands in `out` from a program that read their words: neither decides where
 * anything is written or read.
 */
import { constants, createWriteStream } from "node:fs";
import { lstat, mkdir, mkdtemp, open, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Turn } from "../../sdk/index.ts";
import { plain } from "../../sdk/quote.ts";
import type { Attachment } from "../../shared/wire/parts.ts";

/** A file of the message, as it was saved. */
export interface SavedFile {
  attachment: Attachment;
  /** Its name in `in`; undefined when it could not be fetched. */
  saved?: string;
}

/** A file that the program left. */
export interface LeftFile {
  name: string;
  path: string;
}

/** A message carries so many at most. */
export const MOST_FILES = 20;
/** Deeper, and beyond so many entries, nothing is looked at: a checkout is no answer. */
const DEEPEST = 4;
const MOST_ENTRIES = 2000;
const NAME_BYTES = 200;

export class TurnFolder {
  readonly path: string;
  readonly in: string;
  readonly out: string;
  readonly turnFile: string;

  private constructor(path: string) {
    this.path = path;
    this.in = join(path, "in");
    this.out = join(path, "out");
    this.turnFile = join(path, "turn.json");
  }

  /** A fresh one, which nobody else on the machine can look into. */
  static async make(): Promise<TurnFolder> {
    // mkdtemp makes it with mode 0700.
    const folder = new TurnFolder(await mkdtemp(join(tmpdir(), "bullpen-turn-")));
    await mkdir(folder.in);
    await mkdir(folder.out);
    return folder;
  }

  /** Fetches the files of the turn's messages, and writes down what the turn is. */
  async fill(turn: Turn, download: (file: Attachment) => Promise<Response>): Promise<SavedFile[]> {
    const messages = [...turn.earlier, turn.message];
    const attachments = messages.flatMap((message) => message.attachments ?? []);
    const taken = new Set<string>();
    const files: SavedFile[] = [];
    for (const attachment of attachments) {
      const saved = freeName(safeName(attachment.filename), taken);
      files.push((await this.#fetch(attachment, saved, download)) ? { attachment, saved } : { attachment });
      turn.signal.throwIfAborted();
    }
    const { runId: run_id, spaceId: space_id, agent, message, earlier } = turn;
    const told = { run_id, space_id, agent, message, earlier, files: files.map(fileFact) };
    await writeFile(this.turnFile, JSON.stringify(told, withoutKeys, 2), { mode: 0o600, flag: "wx" });
    return files;
  }

  /** The files in `out`, by path; links are not followed, and what is no plain file is no file. */
  async left(): Promise<LeftFile[]> {
    const found: LeftFile[] = [];
    let entries = 0;
    const walk = async (folder: string, depth: number): Promise<void> => {
      // The folder itself may have been changed for a link.
      if (depth > DEEPEST || !(await lstat(folder)).isDirectory()) return;
      const list = await readdir(folder, { withFileTypes: true });
      for (const entry of list.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
        if (++entries > MOST_ENTRIES) return;
        const path = join(folder, entry.name);
        if (entry.isDirectory()) await walk(path, depth + 1);
        else if (entry.isFile()) found.push({ name: safeName(entry.name), path });
      }
    };
    await walk(this.out, 0).catch(() => {});
    return found;
  }

  async remove(): Promise<void> {
    await rm(this.path, { recursive: true, force: true, maxRetries: 2 });
  }

  async #fetch(
    attachment: Attachment,
    name: string,
    download: (file: Attachment) => Promise<Response>,
  ): Promise<boolean> {
    try {
      const { body } = await download(attachment);
      const file = createWriteStream(join(this.in, name), { flags: "wx", mode: 0o600 });
      if (body) await pipeline(Readable.fromWeb(body), file);
      else await new Promise<void>((resolve) => file.end(resolve));
      return true;
    } catch {
      await rm(join(this.in, name), { force: true });
      return false;
    }
  }
}

/** A signed URL is a key to the file: whoever reads this has the file already. */
function withoutKeys(key: string, value: unknown): unknown {
  return key === "url" || key === "url_expires_at" ? undefined : value;
}

function fileFact({ attachment, saved }: SavedFile): object {
  const { attachment_id, filename } = attachment;
  return { attachment_id, filename, ...(saved === undefined ? {} : { saved_as: saved }) };
}

/** The bytes of a left file, if it still is a plain file of at most so many bytes. */
export async function readLeft({ path }: LeftFile, mostBytes: number): Promise<Blob | "too large" | "gone"> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  try {
    // Between finding and opening it may have become a link, or a pipe that nobody writes to.
    const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      const { size } = await file.stat().then((stat) => (stat.isFile() ? stat : Promise.reject(stat)));
      if (size > mostBytes) return "too large";
      return new Blob([await file.readFile()]);
    } finally {
      await file.close();
    }
  } catch {
    return "gone";
  }
}

/** Device names that Windows takes for no file, with any extension. */
const DEVICES = /^(?:con|prn|aux|nul|com\d|lpt\d)(?=\.|$)/iu;

/** A name for one file in one folder, on any system: never a path, a hidden file, or empty. */
export function safeName(name: string): string {
  const last = plain(name).split(/[/\\]/u).at(-1) ?? "";
  const clean = last
    .replace(/[<>:"|?*\p{Cc}\p{Cf}]/gu, "_")
    .replace(/^[.\s]+|[.\s]+$/gu, "")
    .replace(DEVICES, "_$&");
  return clean === "" ? "file" : shortened(clean);
}

/** At most so many bytes, the extension kept. */
function shortened(name: string): string {
  const [, stem = name, extension = ""] = /^(.*?)(\.[^.]{1,20})?$/su.exec(name) ?? [];
  // No name is that long; the work stays in proportion to what may be kept.
  let short = stem.slice(0, NAME_BYTES);
  while (Buffer.byteLength(short + extension) > NAME_BYTES) short = short.slice(0, -1);
  return short.replace(/[\uD800-\uDBFF]$/u, "") + extension;
}

/** A name that is not taken: case aside, as some file systems see it. */
export function freeName(name: string, taken: Set<string>): string {
  const [, stem = name, extension = ""] = /^(.*?)(\.[^.]{1,20})?$/su.exec(name) ?? [];
  for (let n = 1; ; n++) {
    const free = n === 1 ? name : `${stem} (${n})${extension}`;
    const key = free.normalize("NFC").toLowerCase();
    if (taken.has(key)) continue;
    taken.add(key);
    return free;
  }
}
