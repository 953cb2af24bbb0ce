/** What a space's job costs, and what happens at its ceiling (SPEND). */
import {
  type Job,
  jobAt,
  overCeiling,
  report,
  toMicros,
  toUsd,
  uncounted,
} from "../../../src/shared/rules/spend.ts";
import type { Db } from "../../kit/db.ts";
import { headSeq } from "../store/log.ts";
import { space } from "../store/spaces.ts";
import type { StoredSpend, Workspace } from "../types.ts";
import type { Writer } from "../writer.ts";
import { lastAct } from "./exchange.ts";

/** The job of a space as it stands now: a later act has begun a new one (SPEND-1). */
export function jobOf(db: Db, spaceId: string): Job {
  const row = db.one<Job & { upto: number }>("SELECT * FROM jobs WHERE space_id = ?", spaceId);
  const act = lastAct(db, spaceId, row?.upto ?? 0);
  if (!row) return jobAt(undefined, act?.seq);
  const { since_seq, spent_micros, uncounted } = row;
  return jobAt({ since_seq, spent_micros, uncounted }, act?.seq);
}

/** A brief was handed into a space: its job begins there (SPEND-1). */
export function beginJob(w: Writer, spaceId: string, seq: number): void {
  keepJob(w.db, spaceId, jobAt(jobOf(w.db, spaceId), seq));
}

function keepJob(db: Db, spaceId: string, job: Job): void {
  db.run(
    "INSERT OR REPLACE INTO jobs (space_id, since_seq, spent_micros, uncounted, upto) VALUES (?, ?, ?, ?, ?)",
    spaceId,
    job.since_seq,
    job.spent_micros,
    job.uncounted,
    headSeq(db),
  );
}

/** What a job may cost in a space: its own ceiling, else the workspace's; null is no cap (SPEND-2). */
export function ceilingOf(db: Db, workspace: Workspace, spaceId: string): number | null {
  const of = space(db, spaceId);
  return of?.ceiling_set ? of.ceiling_usd : workspace.settings.spend.job_usd;
}

/** The facts for a delivery; absent where there is no cap (WIN-6). */
export function spendFacts(w: Writer, spaceId: string, job = jobOf(w.db, spaceId)): { spend?: StoredSpend } {
  const ceiling = ceilingOf(w.db, w.workspace, spaceId);
  if (ceiling === null) return {};
  return {
    spend: {
      ceiling_usd: ceiling,
      spent_usd: toUsd(job.spent_micros),
      since_seq: job.since_seq,
      uncounted_runs: job.uncounted,
    },
  };
}

/** Adds what a run reported to its space's job and to the day (SPEND-1, SPEND-5). */
export function addCost(w: Writer, spaceId: string, micros: number, wasUncounted: boolean): void {
  const { db } = w;
  const job = report(jobOf(db, spaceId), micros);
  keepJob(db, spaceId, wasUncounted ? { ...job, uncounted: Math.max(0, job.uncounted - 1) } : job);
  if (micros > 0)
    db.run(
      "INSERT INTO days (day, spent_micros) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET spent_micros = spent_micros + ?2",
      dayOf(w.now),
      micros,
    );
}

export function addUncounted(w: Writer, spaceId: string): void {
  keepJob(w.db, spaceId, uncounted(jobOf(w.db, spaceId)));
}

function dayOf(now: number): string {
  return new Date(now).toISOString().slice(0, 10);
}

/** What the workspace has spent today against its ceiling (SPEND-5). */
export function daySpend(w: Writer): { day: string; spent_usd: number; ceiling_usd: number } {
  const day = dayOf(w.now);
  const spent = w.db.one<{ spent_micros: number }>("SELECT spent_micros FROM days WHERE day = ?", day);
  return {
    day,
    spent_usd: toUsd(spent?.spent_micros ?? 0),
    ceiling_usd: w.workspace.settings.spend.day_usd ?? 0,
  };
}

/** Why no turn may be handed out in a space now, if so (SPEND-2, SPEND-3, SPEND-5). */
export function spentOut(w: Writer, spaceId: string): "spend" | "day" | undefined {
  const perDay = w.workspace.settings.spend.day_usd;
  if (perDay !== null) {
    const spent = w.db.one<{ spent_micros: number }>(
      "SELECT spent_micros FROM days WHERE day = ?",
      dayOf(w.now),
    );
    if ((spent?.spent_micros ?? 0) >= toMicros(perDay)) return "day";
  }
  return overCeiling(jobOf(w.db, spaceId), ceilingOf(w.db, w.workspace, spaceId)) === undefined
    ? undefined
    : "spend";
}
