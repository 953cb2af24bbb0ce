/** A folder that keeps an agent's state: one file, replaced whole, on the disk before anything is sent. */
import { randomUUID } from "node:crypto";
import { chmod, mkdir, open, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { OfficeError } from "./errors.ts";
import type { AgentStore } from "./store.ts";

const STATE = "agent.json";
/** Whose turn it is to write: the newest process that opened the folder. */
const OWNER = "owner";

/** Keeps the state in a folder, readable by this user alone. */
export function fileStore(folder: string): AgentStore {
  const self = randomUUID();
  const read = (name: string): Promise<string | undefined> =>
    readFile(join(folder, name), "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return undefined;
      throw error;
    });
  return {
    async load() {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await chmod(folder, 0o700);
      await replace(folder, OWNER, self);
      for (const name of await readdir(folder))
        if (name.startsWith(`${STATE}.`)) await rm(join(folder, name), { force: true });
      return await read(STATE);
    },
    async save(text) {
      // Two that write here would take back each other's notes, and post or make things twice.
      if ((await read(OWNER)) !== self)
        throw new OfficeError("replaced", `another agent has taken ${folder} over`);
      await replace(folder, STATE, text);
    },
  };
}

/** Writes beside and renames: a crash leaves the old text or the new one, never half of one. */
async function replace(folder: string, name: string, text: string): Promise<void> {
  const beside = join(folder, `${name}.${randomUUID()}`);
  try {
    const file = await open(beside, "wx", 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(beside, join(folder, name));
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
  await syncFolder(folder);
}

/** The renaming itself must be on the disk as well; Windows has no way to ask for that, and needs none. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
