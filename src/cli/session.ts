/** Which server, and as whom: from options, the environment or a profile, in this order. */
import type { Command } from "commander";
import { fullJitter } from "../sdk/backoff.ts";
import type { VerbFields } from "../sdk/client.ts";
import { BullpenError } from "../sdk/errors.ts";
import { BullpenHttp } from "../sdk/http.ts";
import { newId } from "../sdk/ids.ts";
import type { Actor } from "../shared/wire/envelope.ts";
import type { Receipt, VerbType } from "../shared/wire/index.ts";
import { CliError, EXIT, neverSent, usage } from "./failures.ts";
import { loadProfiles, type Profile, unknownProfile } from "./profiles.ts";
import { note } from "./terminal.ts";

export const DEFAULT_URL = "http://localhost:8787";

/** The options that every command takes. */
export interface Globals {
  url?: string;
  token?: string;
  profile?: string;
  json?: boolean;
}

export function globalsOf(command: Command): Globals {
  return command.optsWithGlobals<Globals>();
}

export interface Session {
  readonly url: string;
  readonly token: string;
  readonly http: BullpenHttp;
  /** The profile that the token came from. */
  readonly profile: string | undefined;
}

type Env = Readonly<Record<string, string | undefined>>;

/** A command of ours as whoever typed this one would type it: same launcher, same profile; never a token. */
export function commandLine(globals: Globals, env: Env = process.env): (rest: string) => string {
  const launcher = env["npm_lifecycle_event"] === "npx" ? "npx bullpen" : "bullpen";
  const { profile, url } = globals;
  const who = profile === undefined ? (url === undefined ? "" : ` --url ${url}`) : ` --profile ${profile}`;
  return (rest) => `${launcher} ${rest}${who}`;
}

/** The server's address where no sign-in is needed. */
export function urlOf(globals: Globals, env: Env = process.env): string {
  return checkedUrl(globals.url ?? env["BULLPEN_URL"] ?? DEFAULT_URL);
}

/** Who asks, and where; refuses with what to do when nobody is signed in. */
export function sessionOf(globals: Globals, env: Env = process.env, load = loadProfiles): Session {
  const given = globals.token ?? env["BULLPEN_TOKEN"];
  if (given && globals.profile === undefined) return session(urlOf(globals, env), given, undefined);
  const [name, profile] = chosen(globals, env, load);
  const url = globals.url ?? env["BULLPEN_URL"];
  // A token is the key to one server: no option may carry it to another by accident.
  if (url !== undefined && new URL(checkedUrl(url)).origin !== new URL(profile.url).origin)
    throw usage(
      `The profile ${name} belongs to ${profile.url}, not to ${url}.`,
      "Leave out --url and BULLPEN_URL, or say who you are there with --token or BULLPEN_TOKEN.",
    );
  return session(checkedUrl(profile.url), profile.token, name);
}

function chosen(globals: Globals, env: Env, load: typeof loadProfiles): [string, Profile] {
  const { current, profiles } = load();
  const name = globals.profile ?? env["BULLPEN_PROFILE"] ?? current;
  if (name === undefined)
    throw new CliError(
      EXIT.signedOut,
      "You are not signed in.",
      "Take an invite with: bullpen join LINK --name NAME (or set BULLPEN_URL and BULLPEN_TOKEN).",
    );
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (!profile) throw unknownProfile(name, profiles);
  return [name, profile];
}

function session(url: string, token: string, profile: string | undefined): Session {
  return { url, token, profile, http: new BullpenHttp({ url, token }) };
}

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

function checkedUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "http:" && url?.protocol !== "https:")
    throw usage(`${text} is no address of a server.`, "It looks like https://rooms.example.com.");
  if (url.protocol === "http:" && !LOOPBACK.test(url.hostname))
    note(`Warning: ${url.origin} is not encrypted; your token can be read on the way.`);
  return text.replace(/\/+$/, "");
}

const TRIES = 4;

/** Runs what may safely be sent again until it is answered, a few times. */
export async function persist<T>(send: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await send();
    } catch (error) {
      const again = error instanceof BullpenError && error.retryable && !neverSent(error);
      if (!again || attempt + 1 >= TRIES) throw error;
      const wait =
        error.retryAfterS === undefined ? fullJitter(attempt, Math.random) : error.retryAfterS * 1000;
      if (wait > 15_000) throw error;
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }
}

/** Writes one event. Its key is made once, so that sending it again cannot write it twice (ENV-4). */
export async function write<T extends VerbType>(
  { http }: Pick<Session, "http">,
  type: T,
  fields: VerbFields<T>,
  actor?: Pick<Actor, "kind" | "id">,
): Promise<Receipt> {
  const id = newId("evt");
  const event = { v: 1, type, id, idempotency_key: id, ...(actor ? { actor } : {}), ...fields };
  const answer = await persist(() => http.post<{ receipts: [Receipt] }>("/v1/events", event));
  return answer.receipts[0];
}

/** Makes something where asking again with the same key makes no second one (ENV-4). */
export function make<T>({ http }: Pick<Session, "http">, path: string, asked: object): Promise<T> {
  const body = { ...asked, idempotency_key: newId("evt") };
  return persist(() => http.post<T>(path, body));
}
