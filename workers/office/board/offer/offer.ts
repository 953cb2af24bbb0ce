/** What the board says of an item before it is offered: whether it still stands, and its context (OFFER-2, OFFER-8). */
import { textOf } from "../../../../src/shared/rules/work-state.ts";
import type { OfferContext, Wake } from "../../../../src/shared/wire/agent/index.ts";
import type { ItemRef, OfferAnswer, OfferAsk, Ref } from "../../letters.ts";
import { storedJob } from "../host/store.ts";
import { canRead, failedJobs, heldUntil, isUnread, type Wanted } from "../host/wants.ts";
import type { BoardLedger } from "../ledger.ts";
import { holdOf } from "../team/holds.ts";
import { prSubject } from "../work/find.ts";
import { checksOf } from "../work/prs.ts";
import { docRow, type PrRow, prKey, prRow, ticketRow } from "../work/store.ts";
import { bundleOf } from "./bundle.ts";
import { conversationOf } from "./conversation.ts";
import { eventsOf, type Made } from "./events.ts";
import { failedChecksOf, mergeOf } from "./merge.ts";
import { fallen } from "./stands.ts";
import { known } from "./words.ts";

type Subject = OfferContext["subjects"][number];
type Link = OfferContext["links"][number];

/** Subjects and links of one offer. */
const SUBJECTS = 50;
const LINKS = 20;
/** Checks of a base are as good as new for so long: a push or a check of it comes as an event. */
const BASE_MS = 300_000;

/** @param secrets what logs are masked of */
export function offer(ledger: BoardLedger, ask: OfferAsk, secrets: readonly string[] = []): OfferAnswer {
  const events = eventsOf(ledger, ask.handle, ask.events);
  const why = fallen(ledger, ask, events);
  if (why !== undefined) return { stands: false, why };
  const hold = holdOf(ledger, ask.handle);
  const conversation = conversationOf(ledger, events);
  const wake = wakeOf(ledger, ask, events, secrets);
  return {
    stands: true,
    ...(hold === undefined ? {} : { holdUntil: hold.until }),
    subjects: subjectsOf(ledger, ask),
    links: linksOf(ledger, ask),
    ...(conversation && conversation.length > 0 && { conversation }),
    ...(wake && { wake }),
  };
}

function wakeOf(
  ledger: BoardLedger,
  ask: OfferAsk,
  events: readonly Made[],
  secrets: readonly string[],
): Wake | undefined {
  const bundle = bundleOf(ledger, ask, events);
  const pr = mergeSubject(ledger, ask, events);
  const timedOut = events.some(({ event }) => event.type === "merge.timed_out");
  const failedChecks = pr?.state === "merged" ? failedChecksOf(ledger, pr, timedOut, secrets) : undefined;
  const { tickets, prs, docs, chats } = bundle;
  if (!pr && tickets.length + prs.length + docs.length + chats.length === 0) return undefined;
  return { ...bundle, ...(pr && { merge: mergeOf(ledger, pr) }), ...(failedChecks && { failedChecks }) };
}

/** The pull request that a merge is about: its event's, which an item may have more of. */
function mergeSubject(
  ledger: BoardLedger,
  { kind, subject, refs }: OfferAsk,
  events: readonly Made[],
): PrRow | undefined {
  if (kind !== "merge") return undefined;
  const made = events.findLast(({ event }) => event.pr)?.event.pr;
  const named = [...(subject ? [subject] : []), ...refs].find(({ type }) => type === "pr");
  const key = made ? prKey(made) : named?.ref;
  return key === undefined ? undefined : prRow(ledger, key);
}

/** What is worth a short wait before a merge is offered: what was not read of it yet (WORK-5). */
export function unreadFor(ledger: BoardLedger, ask: OfferAsk): Wanted[] {
  const events = eventsOf(ledger, ask.handle, ask.events);
  const pr = mergeSubject(ledger, ask, events);
  if (!pr || !canRead(ledger) || heldUntil(ledger) > ledger.now) return [];
  const wanted: Wanted[] = [];
  if (isUnread(ledger, pr)) wanted.push({ kind: "pr", repo: pr.repo, what: String(pr.number) });
  const base = ledger.db.one<{ at: number }>(
    "SELECT at FROM host_bases WHERE repo = ? AND base = ?",
    pr.repo,
    pr.base ?? "",
  );
  if (pr.base && (!base || base.at < ledger.now - BASE_MS))
    wanted.push({ kind: "base", repo: pr.repo, what: pr.base });
  if (events.some(({ event }) => event.type.startsWith("merge.")))
    wanted.push(
      ...failedJobs(ledger, ledger.hostApi, pr).filter(
        ({ repo, what }) => storedJob(ledger, repo, what) === undefined,
      ),
    );
  // What failed before has its own time: nobody waits for it again.
  return wanted.filter(
    ({ kind, repo, what }) =>
      ledger.db.one(
        "SELECT 1 FROM host_reads WHERE kind = ? AND repo = ? AND what = ? AND tries > 0",
        kind,
        repo,
        what,
      ) === undefined,
  );
}

/** What the item concerns: its subject, then what else it refers to by itself. */
function subjectsOf(ledger: BoardLedger, { handle, subject, refs }: OfferAsk): Subject[] {
  const concerned: (Ref & Partial<ItemRef>)[] = [
    ...(subject ? [{ ...refs.find((ref) => isSame(ref, subject)), ...subject }] : []),
    ...refs.filter(({ role }) => role !== "mentioned"),
  ];
  const once = concerned.filter((ref, n) => concerned.findIndex((other) => isSame(other, ref)) === n);
  return once.slice(0, SUBJECTS).map((ref) => subjectOf(ledger, handle, ref));
}

const isSame = (a: Ref, b: Ref): boolean => a.type === b.type && a.ref === b.ref;

function subjectOf(ledger: BoardLedger, handle: string, ref: Ref & Partial<ItemRef>): Subject {
  const { type, title, url } = ref;
  const pr = type === "pr" ? prRow(ledger, ref.ref) : undefined;
  if (pr) return prSubject(ledger, pr, handle);
  const ticket = type === "ticket" ? ticketRow(ledger, ref.ref) : undefined;
  const doc = type === "doc" ? docRow(ledger, ref.ref) : undefined;
  const row = ticket ?? doc;
  return known({
    type,
    ref: ref.ref,
    title: (row && textOf(row.fields, "title")) ?? title,
    url: (row && textOf(row.fields, "url")) ?? url,
  });
}

/** Further links worth opening: documents of the subject's ticket, and failing checks of its pull request. */
function linksOf(ledger: BoardLedger, { subject }: OfferAsk): Link[] {
  const pr = subject?.type === "pr" ? prRow(ledger, subject.ref) : undefined;
  const key = subject?.type === "ticket" ? subject.ref : pr?.ticket;
  const docs = ledger.db.all<{ fields: string }>(
    "SELECT fields FROM docs WHERE ticket = ? ORDER BY at DESC LIMIT ?",
    key ?? "",
    LINKS,
  );
  const links = [
    ...docs.map(({ fields }) => {
      const stored = JSON.parse(fields);
      return { url: textOf(stored, "url"), title: textOf(stored, "title") };
    }),
    ...checksOf(ledger, pr?.repo ?? "", pr?.head_sha)
      .filter(({ status }) => status === "failure")
      .map(({ name, url }) => ({ url: url ?? undefined, title: `Failing check: ${name}` })),
  ];
  return links
    .flatMap(({ url, title }) => (url === undefined ? [] : [known({ url, title })]))
    .slice(0, LINKS);
}
