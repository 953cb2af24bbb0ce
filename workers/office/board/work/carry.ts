/** Carries decisions out: each on the trace with its reason, and what follows as letters (PIPE-1, PIPE-3). */
import type { Decision, RefFact, WakeDraft } from "../../../../src/shared/rules/pipeline-types.ts";
import type { WorkEvent } from "../../../../src/shared/wire/work.ts";
import type { BoardLetters, ItemRef, Wake } from "../../letters.ts";
import type { BoardLedger } from "../ledger.ts";
import { makeAct } from "./acts.ts";
import { leadOn } from "./talk.ts";
import { tell } from "./tell.ts";

/** One line of a trace. */
interface Line {
  rule: string;
  decision: string;
  why: string;
  kind?: string;
  person?: string;
  item?: string;
  act?: string;
}

/** Writes a line on an event's trace. */
export function onTrace(ledger: BoardLedger, eventId: string, line: Line): void {
  ledger.db.run(
    "INSERT INTO decisions (event_id, rule, decision, kind, person, item, act, why, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    eventId,
    line.rule,
    line.decision,
    line.kind ?? null,
    line.person ?? null,
    line.item ?? null,
    line.act ?? null,
    line.why,
    ledger.now,
  );
}

/** The name of a decision that is made now, or nothing when it was made before and still stands. */
function claim(ledger: BoardLedger, base: string): string | undefined {
  const row = ledger.db.one<{ times: number; live: number }>(
    "SELECT times, live FROM decision_keys WHERE base = ?",
    base,
  );
  if (row?.live === 1) return undefined;
  const times = (row?.times ?? 0) + 1;
  ledger.db.run("INSERT OR REPLACE INTO decision_keys (base, times, live) VALUES (?, ?, 1)", base, times);
  return times === 1 ? base : `${base}#${times}`;
}

/** What these decisions stood for is over: the same may be decided again. A base that ends in `:` means all under it. */
export function release(ledger: BoardLedger, bases: readonly string[]): void {
  for (const base of bases) {
    if (base.endsWith(":"))
      ledger.db.run(
        "UPDATE decision_keys SET live = 0 WHERE base >= ? AND base < ? AND live = 1",
        base,
        `${base.slice(0, -1)};`,
      );
    else ledger.db.run("UPDATE decision_keys SET live = 0 WHERE base = ? AND live = 1", base);
  }
}

export function carryOut(
  ledger: BoardLedger,
  event: WorkEvent,
  eventId: string,
  decisions: readonly Decision[],
): void {
  for (const decision of decisions) carryOne(ledger, event, eventId, decision);
}

function carryOne(ledger: BoardLedger, event: WorkEvent, eventId: string, decision: Decision): void {
  const { rule, why } = decision;
  if (decision.decision === "ignore") {
    const { person } = decision;
    onTrace(ledger, eventId, { rule, decision: "ignore", why, ...(person ? { person } : {}) });
    return;
  }
  if (decision.decision === "tell") {
    const told = tell(ledger, decision.cause, decision.text);
    onTrace(ledger, eventId, { rule, decision: "tell", why: told ? why : `${why}: people were told before` });
    return;
  }
  if (decision.decision === "cancel") {
    const { person, ref } = decision;
    ledger.toOffice(person, "cancel", { ref, why, eventId, by: rule });
    onTrace(ledger, eventId, { rule, decision: "cancel", why, person });
    return;
  }
  const key = claim(ledger, decision.key);
  if (key === undefined) {
    const { person } = decision;
    const again = `decided before: ${why}`;
    onTrace(ledger, eventId, { rule, decision: "ignore", why: again, ...(person ? { person } : {}) });
    return;
  }
  if (decision.decision === "act") {
    makeAct(ledger, eventId, decision);
    return;
  }
  const { person, wake } = decision;
  onTrace(ledger, eventId, { rule, decision: "wake", kind: wake.kind, person, why });
  ledger.toOffice(person, "wake", wakeLetter(ledger, event, { key, eventId, rule }, wake));
}

function authorOf({ actor: { id, name, kind }, source }: WorkEvent): NonNullable<Wake["author"]> {
  return { id, ...(name !== undefined && { name }), ...(kind && { kind }), source };
}

/** The letter of a wake: what it is about, each thing with why it belongs (OFFER-8). */
function wakeLetter(
  ledger: BoardLedger,
  event: WorkEvent,
  by: { key: string; eventId: string; rule: string },
  { subject, linked, feedback, ...wake }: WakeDraft,
): Wake {
  const addedAt = new Date(ledger.now).toISOString();
  const ref = (fact: RefFact, role: ItemRef["role"], source: string): ItemRef => ({
    ...fact,
    role,
    source,
    addedAt,
  });
  const refs = subject
    ? [
        ref(subject, "trigger", event.chat?.message ?? by.eventId),
        ...linked.map((fact) => ref(fact, "linked", `link:${subject.ref}`)),
      ]
    : [];
  return {
    ...by,
    ...wake,
    ...(subject ? { subject: { type: subject.type, ref: subject.ref } } : {}),
    refs,
    ...(feedback ? { feedback } : {}),
    author: authorOf(event),
  };
}

/** Which item a wake became stands on the trace of its event. */
export function takeWoken(ledger: BoardLedger, { handle, eventId, item }: BoardLetters["woken"]): void {
  ledger.db.run(
    "UPDATE decisions SET item = ? WHERE event_id = ? AND person = ? AND decision = 'wake' AND item IS NULL",
    item,
    eventId,
    handle,
  );
  leadOn(ledger, eventId, item);
}

/** An item was canceled: what had made its round says so. */
export function takeCanceledItem(ledger: BoardLedger, canceled: BoardLetters["canceled"]): void {
  const { handle, item, why } = canceled;
  const known = canceled.events.filter((id) => ledger.db.one("SELECT 1 FROM events WHERE id = ?", id));
  for (const id of known)
    onTrace(ledger, id, { rule: "item.canceled", decision: "cancel", person: handle, item, why });
  ledger.changed({ events: known });
}
