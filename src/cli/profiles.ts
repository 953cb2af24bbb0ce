/** Who one is signed in as, where: profiles in the user's own config folder, readable by nobody else. */
import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import { CliError, EXIT, usage } from "./failures.ts";
import { safeLine } from "./terminal.ts";

const profile = z.object({
  url: z.string(),
  token: z.string(),
  workspace_id: z.string(),
  workspace_name: z.string().optional(),
  participant_id: z.string(),
  name: z.string(),
});
export type Profile = z.infer<typeof profile>;

const stored = z.object({
  /** The profile that is meant when none is named. */
  current: z.string().optional(),
  profiles: z.record(z.string(), profile),
});
export type Profiles = z.infer<typeof stored>;

type Env = Readonly<Record<string, string | undefined>>;

/** Where the profiles are kept: `$XDG_CONFIG_HOME/bullpen`, `~/.config/bullpen`, `%APPDATA%\bullpen`. */
export function configFolder(env: Env = process.env, platform: string = process.platform): string {
  if (platform === "win32") return join(env["APPDATA"] || join(homedir(), "AppData", "Roaming"), "bullpen");
  return join(env["XDG_CONFIG_HOME"] || join(env["HOME"] || homedir(), ".config"), "bullpen");
}

export function profilesFile(folder: string = configFolder()): string {
  return join(folder, "profiles.json");
}

/** What is stored; nothing yet is no error. */
export function loadProfiles(folder: string = configFolder()): Profiles {
  const file = profilesFile(folder);
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return { profiles: {} };
    throw error;
  }
  try {
    return stored.parse(JSON.parse(text));
  } catch {
    throw new CliError(
      EXIT.usage,
      `${file} cannot be read as profiles.`,
      "Move it out of the way and join again.",
    );
  }
}

export function saveProfiles(profiles: Profiles, folder: string = configFolder()): void {
  writePrivately(profilesFile(folder), profiles, folder);
}

/**
 * Writes a file with secrets into the config folder, for this user's eyes only. It is written beside and
 * renamed: whoever reads meanwhile sees the old file or the new one, never half of one.
 */
export function writePrivately(file: string, value: unknown, folder: string = configFolder()): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // A folder that was there may have been open to others.
  chmodSync(folder, 0o700);
  const beside = `${file}.${randomBytes(6).toString("hex")}`;
  try {
    writeFileSync(beside, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600, flag: "wx" });
    renameSync(beside, file);
  } catch (error) {
    rmSync(beside, { force: true });
    throw error;
  }
}

/** Saves a profile; it becomes the one that is meant when none is named, unless another is to stay so. */
export function saveProfile(
  name: string,
  made: Profile,
  { folder = configFolder(), keepCurrent = false }: { folder?: string; keepCurrent?: boolean } = {},
): void {
  const all = loadProfiles(folder);
  saveProfiles(
    {
      profiles: { ...all.profiles, [name]: made },
      current: keepCurrent && all.current !== undefined ? all.current : name,
    },
    folder,
  );
}

export function removeProfile(name: string, folder: string = configFolder()): void {
  const { profiles, current } = loadProfiles(folder);
  const { [name]: removed, ...rest } = profiles;
  if (!removed) throw unknownProfile(name, profiles);
  saveProfiles({ profiles: rest, ...(current === name ? {} : { current }) }, folder);
}

export function useProfile(name: string, folder: string = configFolder()): void {
  const { profiles } = loadProfiles(folder);
  if (!Object.hasOwn(profiles, name)) throw unknownProfile(name, profiles);
  saveProfiles({ profiles, current: name }, folder);
}

export function unknownProfile(name: string, profiles: Profiles["profiles"]): CliError {
  const names = Object.keys(profiles);
  return usage(
    `There is no profile ${safeLine(name)}.`,
    names.length > 0
      ? `There are: ${names.join(", ")}.`
      : "There are none yet: bullpen join LINK --name NAME",
  );
}

/** A name for a profile made from what it is of: lower-case letters, digits and dashes. */
export function profileNameFor(workspaceName: string): string {
  const slug = workspaceName
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-+|-+$/g, "");
  return slug === "" || slug === "__proto__" ? "default" : slug;
}

/** A free name: the one asked for, or with a number, unless the profile is of the same participant. */
export function freeProfileName(wanted: string, made: Profile, folder: string = configFolder()): string {
  const { profiles } = loadProfiles(folder);
  for (let n = 1; ; n++) {
    const name = n === 1 ? wanted : `${wanted}-${n}`;
    const there = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
    if (!there || there.participant_id === made.participant_id) return name;
  }
}
