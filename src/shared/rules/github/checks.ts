/** Deliveries about checks, in the four forms that GitHub has them, and about pushes (WORK-1, WORK-2). */
import type { WorkEvent } from "../../wire/work.ts";
import {
  bodyAt,
  type Draft,
  type Fields,
  flagAt,
  idAt,
  instantAt,
  known,
  objectAt,
  textAt,
  urlAt,
} from "./fields.ts";
import { actorOf } from "./parts.ts";

type Check = NonNullable<WorkEvent["check"]>;

/** What counts as passed; all other endings are failures. A stale one never ended. */
const PASSED = new Set(["success", "neutral", "skipped"]);

/** How a run, a suite, a job or a step ended, as far as it did. */
export function outcomeOf(run: Fields): Check["status"] {
  const conclusion = textAt(run, "conclusion", 40);
  if (textAt(run, "status", 40) !== "completed" || conclusion === undefined || conclusion === "stale")
    return "pending";
  return PASSED.has(conclusion) ? "success" : "failure";
}

function drafted(check: Check, at: string): Draft {
  return { type: "check.updated", at, actor: { id: check.app || "github", kind: "bot" }, check };
}

/** An app by its slug. Who leaves it out names the app, and GitHub makes slugs of names. */
function appOf(owner: Fields): string {
  const app = objectAt(owner, "app");
  const named =
    textAt(app, "name", 200)
      ?.toLowerCase()
      .replace(/[^a-z0-9]+/g, "-") ?? "";
  return textAt(app, "slug", 200) ?? named;
}

/** The link of an Actions job is what `ci_log` takes; else the page of the run. */
const JOB = /\/actions\/runs\/\d+\/job\/\d+/;

export function checkRun(payload: Fields, repo: string, received: string): Draft[] {
  const run = objectAt(payload, "check_run");
  const action = textAt(payload, "action", 60);
  const sha = textAt(run, "head_sha", 80);
  const name = textAt(run, "name");
  // The other actions ask an app for something and carry the state from before.
  if (sha === undefined || name === undefined || (action !== "created" && action !== "completed")) return [];
  const details = urlAt(run, "details_url");
  const output = objectAt(run, "output");
  const summary = [bodyAt(output, "title"), bodyAt(output, "summary")].filter(Boolean).join("\n\n");
  const check = known({
    repo,
    sha,
    app: appOf(run),
    name,
    run: idAt(run, "id")?.slice(0, 80),
    status: outcomeOf(run),
    url: details !== undefined && JOB.test(details) ? details : (urlAt(run, "html_url") ?? details),
    summary: summary === "" ? undefined : summary,
  });
  return [drafted(check, instantAt(run, "completed_at") ?? instantAt(run, "started_at") ?? received)];
}

/** What a suite is called as a check. */
const suiteName = (app: string): string => `${app} check suite`;

/**
 * The checks of a commit without the suites whose app has runs of its own there: a suite says nothing that they do
 * not, and of several of one app only the newest is known (WORK-2).
 */
export function withoutSuites<T extends { app: string; name: string }>(checks: readonly T[]): T[] {
  const isSuite = ({ app, name }: T) => name === suiteName(app);
  const running = new Set(checks.filter((check) => !isSuite(check)).map(({ app }) => app));
  return checks.filter((check) => !isSuite(check) || !running.has(check.app));
}

/** A suite counts as a check where its app tells of no runs: who sends only suites is understood too. */
export function checkSuite(payload: Fields, repo: string, received: string): Draft[] {
  const suite = objectAt(payload, "check_suite");
  const sha = textAt(suite, "head_sha", 80);
  // Before its end a suite says nothing that its runs do not: many are never begun at all.
  if (sha === undefined || textAt(payload, "action", 60) !== "completed" || outcomeOf(suite) === "pending")
    return [];
  const check = known({
    repo,
    sha,
    app: appOf(suite),
    name: suiteName(appOf(suite)),
    run: idAt(suite, "id")?.slice(0, 80),
    status: outcomeOf(suite),
  });
  return [drafted(check, instantAt(suite, "updated_at") ?? received)];
}

export function status(payload: Fields, repo: string, received: string): Draft[] {
  const sha = textAt(payload, "sha", 80);
  const name = textAt(payload, "context");
  const state = textAt(payload, "state", 20);
  if (sha === undefined || name === undefined || state === undefined) return [];
  const check = known({
    repo,
    sha,
    app: "",
    name,
    run: idAt(payload, "id")?.slice(0, 80),
    status: state === "success" ? "success" : state === "pending" ? "pending" : "failure",
    url: urlAt(payload, "target_url"),
    summary: bodyAt(payload, "description") || undefined,
  } as const);
  return [drafted(check, instantAt(payload, "updated_at") ?? instantAt(payload, "created_at") ?? received)];
}

/** A job of Actions is the check run of the same number: whichever comes, it is one check. */
export function workflowJob(payload: Fields, repo: string, received: string): Draft[] {
  const job = objectAt(payload, "workflow_job");
  const sha = textAt(job, "head_sha", 80);
  const name = textAt(job, "name");
  if (sha === undefined || name === undefined) return [];
  const run = /\/check-runs\/(\d{1,20})$/.exec(urlAt(job, "check_run_url") ?? "")?.[1] ?? idAt(job, "id");
  const check = known({
    repo,
    sha,
    app: "github-actions",
    name,
    run: run?.slice(0, 80),
    status: outcomeOf(job),
    url: urlAt(job, "html_url"),
  });
  const at = instantAt(job, "completed_at") ?? instantAt(job, "started_at") ?? instantAt(job, "created_at");
  return [drafted(check, at ?? received)];
}

/** Commits that came to a branch. Tags and deleted branches are nothing. */
export function push(payload: Fields, repo: string, received: string): Draft[] {
  const branch = /^refs\/heads\/(.+)$/s.exec(textAt(payload, "ref") ?? "")?.[1];
  const sha = textAt(payload, "after", 80);
  if (branch === undefined || sha === undefined || flagAt(payload, "deleted") || /^0+$/.test(sha)) return [];
  return [
    {
      type: "push",
      at: instantAt(objectAt(payload, "repository"), "pushed_at") ?? received,
      actor: actorOf(objectAt(payload, "sender")),
      push: { repo, branch, sha },
    },
  ];
}
