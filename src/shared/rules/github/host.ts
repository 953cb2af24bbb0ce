/** What GitHub's API answers, read as hostilely as its deliveries, and the links of its jobs (WORK-5). */
import type { JobStep } from "../ci-log.ts";
import type { CheckStatus, Mergeable } from "../work-state.ts";
import { outcomeOf } from "./checks.ts";
import { type Fields, flagAt, instantAt, listAt, objectAt, textAt, urlAt, wholeAt } from "./fields.ts";

const asFields = (json: unknown): Fields =>
  typeof json === "object" && json !== null && !Array.isArray(json) ? (json as Fields) : {};

export interface PullRead {
  headSha?: string;
  /** The base's head that it was tried against. */
  baseSha?: string;
  mergeable: Mergeable;
}

/** `GET /repos/{o}/{r}/pulls/{n}`. `null` is that the host has only now begun to try. */
export function pullRead(json: unknown): PullRead {
  const pull = asFields(json);
  const headSha = textAt(objectAt(pull, "head"), "sha", 80);
  const baseSha = textAt(objectAt(pull, "base"), "sha", 80);
  const mergeable = flagAt(pull, "mergeable");
  return {
    ...(headSha !== undefined && { headSha }),
    ...(baseSha !== undefined && { baseSha }),
    mergeable: mergeable === undefined ? "unknown" : mergeable ? "clean" : "conflicting",
  };
}

/** `GET /repos/{o}/{r}/pulls/{n}/files`: the paths of one page, a renamed file's old one too. */
export function filesRead(json: unknown): string[] {
  return listAt({ json }, "json", 100).flatMap((file) =>
    [textAt(file, "filename", 1000), textAt(file, "previous_filename", 1000)].filter((p) => p !== undefined),
  );
}

export interface CheckRead {
  name: string;
  status: CheckStatus;
  url?: string;
}

/** `GET /repos/{o}/{r}/commits/{ref}/check-runs`, each check's newest run, and the commit that they are of. */
export function checkRunsRead(json: unknown): { sha?: string; total: number; checks: CheckRead[] } {
  const runs = listAt(asFields(json), "check_runs", 100);
  const sha = runs.map((run) => textAt(run, "head_sha", 80)).find((one) => one !== undefined);
  return {
    ...(sha !== undefined && { sha }),
    total: wholeAt(asFields(json), "total_count") ?? runs.length,
    checks: runs.flatMap((run) => {
      const name = textAt(run, "name");
      const url = urlAt(run, "details_url") ?? urlAt(run, "html_url");
      return name === undefined ? [] : [{ name, status: outcomeOf(run), ...(url !== undefined && { url }) }];
    }),
  };
}

/** `GET /repos/{o}/{r}/commits/{ref}/status`: the older kind of check. */
export function statusesRead(json: unknown): { sha?: string; checks: CheckRead[] } {
  const sha = textAt(asFields(json), "sha", 80);
  const checks = listAt(asFields(json), "statuses", 100).flatMap((one): CheckRead[] => {
    const name = textAt(one, "context");
    const state = textAt(one, "state", 20);
    const url = urlAt(one, "target_url");
    if (name === undefined || state === undefined) return [];
    const status = state === "success" ? "success" : state === "pending" ? "pending" : "failure";
    return [{ name, status, ...(url !== undefined && { url }) }];
  });
  return { ...(sha !== undefined && { sha }), checks };
}

export interface JobRead {
  /** Whether it has ended: what is read of one that runs is not kept. */
  ended: boolean;
  steps: JobStep[];
}

/** `GET /repos/{o}/{r}/actions/jobs/{id}`. */
export function jobRead(json: unknown): JobRead {
  const job = asFields(json);
  return {
    ended: textAt(job, "status", 40) === "completed",
    steps: listAt(job, "steps", 1000).map((step) => {
      const from = ms(instantAt(step, "started_at"));
      const to = ms(instantAt(step, "completed_at"));
      return {
        name: textAt(step, "name") ?? "step",
        failed: outcomeOf(step) === "failure",
        ...(from !== undefined && { from }),
        ...(to !== undefined && { to }),
      };
    }),
  };
}

const ms = (at: string | undefined): number | undefined => (at === undefined ? undefined : Date.parse(at));

const JOB = /^\/([\w.-]+\/[\w.-]+)\/(?:actions\/runs\/\d{1,20}\/job|runs|actions\/jobs)\/(\d{1,20})\/?$/;

/**
 * The repository and the number of an Actions job, from its link: the page of the job, of the check run that it
 * is, or its address at the API. Only the path is used: what is asked is the host that is configured (WORK-5).
 */
export function jobOfLink(url: string, api: string): { repo: string; job: string } | undefined {
  let link: URL;
  let host: URL;
  try {
    link = new URL(url);
    host = new URL(api);
  } catch {
    return undefined;
  }
  // An API may be reached by another name than the site: `api.` before it, or a proxy of GitHub's own.
  const sites = ["github.com", host.hostname, host.hostname.replace(/^api\./, "")];
  if (!sites.includes(link.hostname)) return undefined;
  const isApi = link.host === host.host;
  const path = isApi
    ? link.pathname.replace(host.pathname.replace(/\/$/, ""), "").replace(/^\/repos/, "")
    : link.pathname;
  const found = JOB.exec(path);
  return found && isRepo(found[1] as string)
    ? { repo: found[1] as string, job: found[2] as string }
    : undefined;
}

/** Whether a name may stand in a path: no part of it climbs out. */
export function isRepo(repo: string): boolean {
  const parts = repo.split("/");
  return parts.length === 2 && parts.every((part) => /^[\w.-]+$/.test(part) && !/^\.+$/.test(part));
}
