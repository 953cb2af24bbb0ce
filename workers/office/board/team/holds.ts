/** Usage windows and pauses that hold offers back: of a person, and of who shares a subscription (USE-3, QUEUE-4). */
import {
  busiestWindow,
  type Hold,
  NO_END,
  type UsageWindow,
  type WindowsReport,
  windowHold,
} from "../../../../src/shared/rules/usage-windows.ts";
import type { TeamPerson } from "../../../../src/shared/wire/team.ts";
import { refuse } from "../../../kit/result.ts";
import type { BoardLetters, Identity } from "../../letters.ts";
import type { BoardLedger } from "../ledger.ts";
import { mustBeMember } from "../rights.ts";

export interface SubscriptionAnswer {
  subscription: string;
  paused: boolean;
  until?: string;
  people: string[];
}

/** Takes in a person's report of usage windows, in place of their last (ITEM-1, USE-3). */
export function takeWindows(ledger: BoardLedger, report: BoardLetters["windows"]): void {
  ledger.db.run(
    `INSERT INTO windows (handle, at, windows) VALUES (?1, ?2, ?3)
       ON CONFLICT (handle) DO UPDATE SET at = ?2, windows = ?3 WHERE at <= ?2`,
    report.handle,
    // A report is of now at the latest, or it would hold too long.
    Math.min(report.at, ledger.now),
    JSON.stringify(report.windows),
  );
  ledger.changed({ people: sharing(ledger, report.handle) });
  settleHolds(ledger);
}

/** Each person's newest report: theirs, or of whoever shares their subscription. */
function reports({ db, team }: BoardLedger): (person: TeamPerson) => WindowsReport | undefined {
  const newest = new Map<string, { at: number; windows: string }>();
  const own = new Map(
    db
      .all<{ handle: string; at: number; windows: string }>("SELECT handle, at, windows FROM windows")
      .map((row) => [row.handle, row]),
  );
  for (const person of team.people) {
    const row = own.get(person.handle);
    if (row && row.at > (newest.get(shared(person))?.at ?? -1)) newest.set(shared(person), row);
  }
  return (person) => {
    const row = newest.get(shared(person));
    return row && { at: row.at, windows: JSON.parse(row.windows) as UsageWindow[] };
  };
}

/** What a person's windows are kept under: no subscription can be called like a handle with its mark. */
const shared = ({ handle, subscription }: TeamPerson) => subscription ?? `\n${handle}`;

/** Everybody who shares a person's subscription, and the person. */
function sharing({ team }: BoardLedger, handle: string): string[] {
  const subscription = team.people.find((p) => p.handle === handle)?.subscription;
  if (subscription === undefined) return [handle];
  return team.people.filter((p) => p.subscription === subscription).map((p) => p.handle);
}

/** The busiest window of each person that was reported within the hour (ITEM-3). */
export function busiestWindows(ledger: BoardLedger): (person: TeamPerson) => UsageWindow | undefined {
  const report = reports(ledger);
  return (person) => busiestWindow(report(person), ledger.now);
}

/** What holds a person's offers back now, until when and why (USE-3); undefined: nothing does. */
export function holdOf(ledger: BoardLedger, handle: string): Hold | undefined {
  const person = ledger.team.people.find((p) => p.handle === handle);
  return person && holds(ledger)(person);
}

function holds(ledger: BoardLedger): (person: TeamPerson) => Hold | undefined {
  const report = reports(ledger);
  return (person) => {
    const paused = pauseOf(ledger, person.subscription);
    const said = report(person);
    const full = said && windowHold(said, ledger.team.policies.usage.pause_at, ledger.now);
    return paused && !(full && full.until > paused.until) ? paused : full;
  };
}

function pauseOf(ledger: BoardLedger, subscription: string | undefined): Hold | undefined {
  if (subscription === undefined) return undefined;
  const row = ledger.db.one<{ reason: string | null; until: number | null; by: string }>(
    "SELECT reason, until, by FROM subscriptions WHERE name = ?",
    subscription,
  );
  const until = row?.until ?? NO_END;
  if (!row || until <= ledger.now) return undefined;
  return {
    until,
    why: `${row.by} paused the subscription ${subscription}${row.reason === null ? "" : `: ${row.reason}`}`,
  };
}

/** Tells every office whose hold changed (USE-3). */
export function settleHolds(ledger: BoardLedger): void {
  const holding = holds(ledger);
  for (const person of ledger.team.people) {
    const { handle } = person;
    const had = ledger.db.one<{ until: number | null; why: string | null }>(
      "SELECT hold_until AS until, hold_why AS why FROM people WHERE handle = ?",
      handle,
    );
    const hold = holding(person);
    // One that ended by itself need not be told: the office knows its end.
    const stood = had && (had.until ?? 0) > ledger.now ? had : undefined;
    if (stood?.until === hold?.until && (stood?.why ?? undefined) === hold?.why) continue;
    ledger.db.run(
      "UPDATE people SET hold_until = ?, hold_why = ? WHERE handle = ?",
      hold?.until ?? null,
      hold?.why ?? null,
      handle,
    );
    ledger.toOffice(handle, "hold", hold ? { until: hold.until, why: hold.why } : {});
    ledger.changed({ people: [handle] });
  }
}

/** Pauses a subscription: nothing new is offered to who shares it (QUEUE-4). */
export function pauseSubscription(
  ledger: BoardLedger,
  by: Identity,
  name: string,
  asked: { reason?: string | undefined; until?: string | undefined },
): SubscriptionAnswer {
  mustBeMember(by);
  const people = sharers(ledger, name);
  const until = asked.until === undefined ? undefined : Date.parse(asked.until);
  if (until !== undefined && !(until > ledger.now))
    refuse("invalid", "until is over already. Send a time to come, or none to pause until it is resumed.", {
      details: [{ path: "until", message: "must be a time to come" }],
    });
  ledger.db.run(
    `INSERT OR REPLACE INTO subscriptions (name, reason, until, by, at) VALUES (?, ?, ?, ?, ?)`,
    name,
    asked.reason ?? null,
    until ?? null,
    by.name,
    ledger.now,
  );
  settleHolds(ledger);
  return {
    subscription: name,
    paused: true,
    ...(until === undefined ? {} : { until: new Date(until).toISOString() }),
    people,
  };
}

/** Lets offers of a subscription go again; full windows hold on (QUEUE-4, USE-3). */
export function resumeSubscription(ledger: BoardLedger, by: Identity, name: string): SubscriptionAnswer {
  mustBeMember(by);
  const people = sharers(ledger, name);
  ledger.db.run("DELETE FROM subscriptions WHERE name = ?", name);
  settleHolds(ledger);
  return { subscription: name, paused: false, people };
}

/** Who shares a subscription; refuses one that nobody has. */
function sharers({ team }: BoardLedger, name: string): string[] {
  const people = team.people.filter((p) => p.subscription === name).map((p) => p.handle);
  if (people.length === 0) {
    const known = [...new Set(team.people.flatMap((p) => p.subscription ?? []))];
    refuse(
      "not_found",
      `Nobody in the team has the subscription ${name}.${known.length === 0 ? "" : ` There are ${known.join(", ")}.`}`,
    );
  }
  return people;
}
