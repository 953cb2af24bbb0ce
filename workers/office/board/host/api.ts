/**
 * GitHub's API, read for what its webhooks do not say (WORK-5). The token goes to the one origin that the
 * deployment is configured for and nowhere else, every answer has a limit of time and size, and what is wrong is a
 * value: nothing of a host's is thrown.
 */
import {
  type CheckRead,
  checkRunsRead,
  filesRead,
  isRepo,
  type JobRead,
  jobRead,
  type PullRead,
  pullRead,
  statusesRead,
} from "../../../../src/shared/rules/github/host.ts";
import { readAll, readEnd } from "./body.ts";

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Why there is nothing: `denied` is the token's fault, `limited` says until when, the rest is the host's. */
export interface Missing {
  ok: false;
  why: "not_found" | "denied" | "limited" | "unreachable" | "malformed" | "too_large";
  /** Ms. */
  until?: number;
}
export type Read<T> = { ok: true; value: T } | Missing;

export interface HostNeeds {
  /** `GITHUB_API_URL`. */
  api: string;
  /** The token, then the one before it while it is rotated (SECRET-1). */
  tokens: readonly string[];
  fetch: Fetch;
  now: () => number;
}

const REQUEST_MS = 10_000;
const LOG_MS = 30_000;
const JSON_BYTES = 4 * 1024 * 1024;
/** A log's end that is looked through; what is before it is read past. */
const LOG_END_BYTES = 8 * 1024 * 1024;
const LOG_BYTES = 256 * 1024 * 1024;
const REDIRECTS = 3;
/** Pages of files, of a hundred each: a larger change overlaps with everything anyway. */
const FILE_PAGES = 3;

const missing = (why: Missing["why"], until?: number): Missing => ({
  ok: false,
  why,
  ...(until !== undefined && { until }),
});

export interface Github {
  pull(repo: string, number: number): Promise<Read<PullRead>>;
  files(repo: string, number: number): Promise<Read<string[]>>;
  /** The checks of a branch's head, or of a commit. */
  checks(repo: string, ref: string): Promise<Read<{ sha?: string; checks: CheckRead[] }>>;
  job(repo: string, job: string): Promise<Read<JobRead>>;
  /** The end of a job's log. */
  log(repo: string, job: string): Promise<Read<string>>;
}

export function openGithub(need: HostNeeds): Github {
  const json = async (path: string): Promise<Read<unknown>> => {
    const signal = AbortSignal.timeout(REQUEST_MS);
    const found = await ask(need, path, signal);
    if (!found.ok) return found;
    const text = await readAll(found.value, JSON_BYTES);
    if (text === undefined) return missing("too_large");
    try {
      return { ok: true, value: JSON.parse(text) as unknown };
    } catch {
      return missing("malformed");
    }
  };
  const read = async <T>(repo: string, path: string, as: (json: unknown) => T): Promise<Read<T>> => {
    if (!isRepo(repo)) return missing("not_found");
    return caught(async () => {
      const found = await json(`/repos/${repo}${path}`);
      return found.ok ? { ok: true, value: as(found.value) } : found;
    });
  };
  return {
    pull: (repo, number) => read(repo, `/pulls/${number}`, pullRead),
    async files(repo, number) {
      const all: string[] = [];
      for (let page = 1; page <= FILE_PAGES; page++) {
        const path = `/pulls/${number}/files?per_page=100&page=${page}`;
        const found = await read(repo, path, (answer) => ({
          paths: filesRead(answer),
          more: Array.isArray(answer) && answer.length === 100,
        }));
        if (!found.ok) return found;
        all.push(...found.value.paths);
        if (!found.value.more) break;
      }
      return { ok: true, value: all };
    },
    async checks(repo, ref) {
      const commit = `/commits/${encodeURIComponent(ref)}`;
      const [runs, statuses] = await Promise.all([
        read(repo, `${commit}/check-runs?per_page=100`, checkRunsRead),
        read(repo, `${commit}/status?per_page=100`, statusesRead),
      ]);
      if (!runs.ok) return runs;
      if (!statuses.ok) return statuses;
      const sha = statuses.value.sha ?? runs.value.sha;
      const checks = [...runs.value.checks, ...statuses.value.checks];
      return { ok: true, value: { checks, ...(sha !== undefined && { sha }) } };
    },
    job: (repo, job) => read(repo, `/actions/jobs/${job}`, jobRead),
    log: (repo, job) => {
      if (!isRepo(repo)) return Promise.resolve(missing("not_found"));
      return caught(async () => {
        const signal = AbortSignal.timeout(LOG_MS);
        const found = await ask(need, `/repos/${repo}/actions/jobs/${job}/logs`, signal, true);
        if (!found.ok) return found;
        const end = await readEnd(found.value, LOG_END_BYTES, LOG_BYTES);
        return end === undefined ? missing("too_large") : { ok: true, value: end };
      });
    },
  };
}

/** A host that cannot be reached, takes too long or breaks off is a value like any other. */
async function caught<T>(work: () => Promise<Read<T>>): Promise<Read<T>> {
  try {
    return await work();
  } catch {
    return missing("unreachable");
  }
}

/** One request with the token that works. @param away whether a redirect may lead to a signed URL elsewhere */
async function ask(
  need: HostNeeds,
  path: string,
  signal: AbortSignal,
  away = false,
): Promise<Read<Response>> {
  let found: Read<Response> = missing("denied");
  for (const token of need.tokens) {
    found = await hop(need, `${need.api.replace(/\/$/, "")}${path}`, token, signal, away);
    if (found.ok || found.why !== "denied") return found;
  }
  return found;
}

async function hop(
  need: HostNeeds,
  first: string,
  token: string,
  signal: AbortSignal,
  away: boolean,
): Promise<Read<Response>> {
  const home = new URL(need.api);
  let at = new URL(first);
  for (let hops = 0; hops <= REDIRECTS; hops++) {
    const own = at.origin === home.origin;
    if (!own && !(away && mayLeadTo(at, home))) return missing("unreachable");
    const response = await need.fetch(at.href, {
      redirect: "manual",
      signal,
      headers: own
        ? {
            authorization: `Bearer ${token}`,
            accept: "application/vnd.github+json",
            "x-github-api-version": "2022-11-28",
            "user-agent": "bullpen",
          }
        : { "user-agent": "bullpen" },
    });
    if (response.status < 300 || response.status > 399) return answerOf(need, response, own);
    await response.body?.cancel();
    const location = response.headers.get("location");
    if (location === null || !URL.canParse(location, at.href)) return missing("malformed");
    at = new URL(location, at.href);
  }
  return missing("unreachable");
}

/** A signed URL that GitHub sends a log's reader to: some host of the net, never one by its number. */
function mayLeadTo(url: URL, home: URL): boolean {
  if (url.username !== "" || url.password !== "") return false;
  if (url.hostname === home.hostname && url.protocol === home.protocol) return true;
  const name = url.hostname.toLowerCase();
  const local = name === "localhost" || /\.(?:localhost|local|internal)$/.test(name) || !name.includes(".");
  return url.protocol === "https:" && !local && !/^[\d.]+$/.test(name) && !name.startsWith("[");
}

async function answerOf(need: HostNeeds, response: Response, own: boolean): Promise<Read<Response>> {
  if (response.ok) return { ok: true, value: response };
  await response.body?.cancel();
  const { status, headers } = response;
  if (status === 404 || status === 410) return missing("not_found");
  const limited = status === 429 || (status === 403 && headers.get("x-ratelimit-remaining") === "0");
  if (limited || (status === 403 && headers.has("retry-after")))
    return missing("limited", until(need, headers));
  if (own && (status === 401 || status === 403)) return missing("denied");
  return missing("unreachable");
}

/** When a limit is over: at least a minute from now, at most two hours. */
function until({ now }: HostNeeds, headers: Headers): number {
  const wait = Number(headers.get("retry-after")) * 1000;
  const reset = Number(headers.get("x-ratelimit-reset")) * 1000 - now();
  const asked = wait > 0 ? wait : reset > 0 ? reset : 60_000;
  return now() + Math.min(7_200_000, Math.max(60_000, asked));
}
