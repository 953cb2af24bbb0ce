/** The log of a check, for an agent that asks (WORK-5, ITEM-4). */
import { failedSteps, lastOf, linesAsked, type StepLog } from "../../../../src/shared/rules/ci-log.ts";
import { jobOfLink } from "../../../../src/shared/rules/github/host.ts";
import { mask } from "../../../../src/shared/rules/mask.ts";
import type { AgentPayload } from "../../../../src/shared/wire/agent/index.ts";
import { refuse } from "../../../kit/result.ts";
import type { BoardLedger } from "../ledger.ts";
import type { Github, Missing, Read } from "./api.ts";
import { storedJob, storeJob } from "./store.ts";
import { canRead, teamRepo } from "./wants.ts";

export type CiLog = AgentPayload<"ci_log_result">;

/** Which job of which repository a link is, if it may be read. */
export function jobAsked(ledger: BoardLedger, url: string): { repo: string; job: string } {
  if (!canRead(ledger))
    refuse(
      "unsupported",
      "The office has no token of the code host. An owner puts it with PUT /v1/secrets/github_token; until then " +
        "read the log where it is.",
    );
  const found = jobOfLink(url, ledger.hostApi);
  const repo = found && teamRepo(ledger, found.repo);
  if (!found || repo === undefined)
    refuse(
      "not_found",
      "This is no link of an Actions job in one of the team's repositories. It has the form " +
        "https://github.com/owner/repo/actions/runs/1/job/2.",
    );
  return { repo, job: found.job };
}

/** The answer from what is kept; undefined when the job was not read yet. */
export function keptLog(
  ledger: BoardLedger,
  { repo, job }: { repo: string; job: string },
  lines: number,
  secrets: readonly string[],
): CiLog | undefined {
  const kept = storedJob(ledger, repo, job);
  return kept && { repo, steps: kept.steps.map((step) => shown(step, lines, secrets)) };
}

/** The last lines of a step, masked of what has become a secret since it was kept. */
export function shown(step: StepLog, asked: number, secrets: readonly string[]): StepLog {
  const last = lastOf(step, linesAsked(asked));
  return { ...last, lines: last.lines.map((line) => mask(line, secrets)) };
}

/** Reads a job and its log. What has ended is kept. */
export async function readLog(
  github: Github | undefined,
  { repo, job }: { repo: string; job: string },
  lines: number,
  secrets: readonly string[],
  work: <T>(work: (ledger: BoardLedger) => T) => T,
): Promise<CiLog> {
  // A token that cannot be opened any more is one that the host refuses.
  if (!github) refuse("unavailable", WORDS.denied);
  const found = valueOf(await github.job(repo, job));
  const log = valueOf(await github.log(repo, job));
  if (found.ended) {
    work((ledger) => storeJob(ledger, { repo, what: job }, found, log, secrets));
    const kept = work((ledger) => keptLog(ledger, { repo, job }, lines, secrets));
    if (kept) return kept;
  }
  return { repo, steps: failedSteps(log, found.steps, lines, secrets) };
}

const WORDS: Record<Missing["why"], string> = {
  not_found: "The code host has no such job or no log of it any more, or the office's token may not see it.",
  denied:
    "The code host refuses the office's token. An owner puts a new one with PUT /v1/secrets/github_token.",
  limited: "The code host's limit is reached. Try again later.",
  unreachable: "The code host did not answer, or broke off. Try again.",
  malformed: "The code host answered with something that is not what it documents. Try again later.",
  too_large: "The log is too large to be read here. Read it where it is.",
};

function valueOf<T>(read: Read<T>): T {
  if (read.ok) return read.value;
  refuse(read.why === "not_found" ? "not_found" : "unavailable", WORDS[read.why]);
}
