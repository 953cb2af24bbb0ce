/** People, queues, tickets and traces as lines of a terminal. What agents and others wrote is made safe on the way. */
import type {
  OfficeItem,
  PersonAnswer,
  PersonItem,
  TicketAnswer,
  TicketItem,
  TraceAnswer,
  WorkEventItem,
} from "../shared/wire/office.ts";
import { bold, dim, safeLine, safeText, table } from "./terminal.ts";
import { clockTime, day, span } from "./times.ts";

/** So much of a long text is shown; the rest is there with --json. */
const MOST_LINES = 40;

/** An instant in the reader's own time: the day where it is not today's. */
export function when(iso: string, now: number): string {
  const today = day(new Date(now).toISOString());
  return day(iso) === today ? clockTime(iso) : `${day(iso)} ${clockTime(iso)}`;
}

/** Who is in the team, and how each is. */
export function peopleText(items: readonly PersonItem[]): string {
  const rows = items.map((one) => [
    one.handle,
    one.name,
    one.role,
    one.removed ? "removed" : one.status,
    String(one.queued),
    one.usage ? `${Math.round(one.usage.utilization * 100)}% ${one.usage.window}` : "",
    one.current ?? "",
  ]);
  return table([["HANDLE", "NAME", "ROLE", "STATUS", "QUEUED", "USAGE", "ON"], ...rows]);
}

/** A person's queue: how they are, then the items in the order they run. */
export function queueText(person: PersonAnswer, now: number, all = false): string {
  const shown = person.items.filter((item) => all || !isFinished(item));
  const head = `${bold(safeLine(person.name))} (${safeLine(person.handle)}, ${safeLine(person.role)}): ${stateOf(person)}`;
  const lines = [head, ...notesOf(person, now)];
  if (shown.length === 0) lines.push(dim("Nothing is in the queue."));
  for (const item of shown) lines.push(...itemLines(item, now));
  const hidden = person.items.length - shown.length;
  if (hidden > 0) lines.push(dim(`${hidden} finished lately: --all shows them.`));
  return lines.join("\n");
}

function stateOf({ status, removed, connected, current }: PersonAnswer): string {
  if (removed) return "removed from the team";
  const on = current === undefined ? "" : `, on ${safeLine(current)}`;
  return `${status}${on}${connected ? "" : " (agent not connected)"}`;
}

function notesOf(person: PersonAnswer, now: number): string[] {
  const { paused, held, usage, doctor } = person;
  const notes: string[] = [];
  if (paused) {
    const until = paused.until === undefined ? "until resumed" : `until ${when(paused.until, now)}`;
    const why = paused.reason === undefined ? "" : `: ${safeLine(paused.reason)}`;
    notes.push(`paused by ${safeLine(paused.by)} ${until}${why}`);
  }
  if (held) {
    const until = held.until === undefined ? "" : ` until ${when(held.until, now)}`;
    notes.push(`held${until}: ${safeLine(held.why)}`);
  }
  if (usage) notes.push(`usage ${Math.round(usage.utilization * 100)}% of ${safeLine(usage.window)}`);
  for (const { name, status, detail, fix } of doctor?.checks ?? [])
    if (status !== "ok")
      notes.push(
        `${status === "fail" ? "fails" : "warns"}: ${safeLine(name)}: ${safeLine(detail)}${fix ? ` (${safeLine(fix)})` : ""}`,
      );
  return notes.map((text) => dim(`  ${text}`));
}

function isFinished({ state }: OfficeItem): boolean {
  return state === "done" || state === "canceled";
}

function itemLines(item: OfficeItem, now: number): string[] {
  const place = item.position === undefined ? "" : `#${item.position}`;
  const state = item.state === "queued" && item.offered ? "offered" : item.state;
  const about = [item.kind, `priority ${item.priority}`, item.ticket, item.pr].filter((t) => t !== undefined);
  const head = `${place.padStart(4)} ${state.padEnd(8)} ${bold(safeLine(item.title))} ${dim(`(${about.map(safeLine).join(", ")})  ${safeLine(item.id)}`)}`;
  const progress = progressOf(item);
  const said = progress === undefined ? [] : [`> ${safeLine(progress)}${timed(item, now)}`];
  const notes = [...said, ...[item.why_waiting, item.stuck].filter((t) => t !== undefined).map(safeLine)];
  return [head, ...notes.map((text) => dim(`${" ".repeat(14)}${text}`))];
}

/** How it goes with what runs; the last word on what does not would read as though somebody were at it. */
function progressOf({ state, progress }: OfficeItem): string | undefined {
  return state === "active" ? progress : undefined;
}

function timed({ progress_at }: OfficeItem, now: number): string {
  return progress_at === undefined ? "" : ` (${span(Math.max(0, now - Date.parse(progress_at)))} ago)`;
}

/** One item, with its history. */
export function itemText(item: OfficeItem, now: number): string {
  const rows = [
    ["id", item.id],
    ["kind", item.kind],
    ["state", item.offered && item.state === "queued" ? "queued, offered" : item.state],
    ["priority", String(item.priority)],
    ["round", String(item.round)],
    ["ticket", item.ticket],
    ["pull request", item.pr],
    ["asked by", item.requester && (item.requester.name ?? item.requester.id)],
    ["runs on", [item.runtime, item.model].filter(Boolean).join(", ") || undefined],
    ["progress", progressOf(item)],
    ["waits", item.why_waiting],
    ["stuck", item.stuck],
    ...(item.links ?? []).map(({ url, title }) => ["link", title === undefined ? url : `${url} (${title})`]),
  ].filter((row): row is [string, string] => row[1] !== undefined);
  const history = item.history.map(({ at, from, to, by, why }) => [
    when(at, now),
    from === undefined || from === to ? to : `${from} → ${to}`,
    by,
    why ?? "",
  ]);
  return [
    bold(safeLine(item.title)),
    table(rows),
    ...(item.summary === undefined ? [] : ["", ...quoted(item.summary)]),
    ...(history.length === 0 ? [] : ["", table(history)]),
  ].join("\n");
}

/** Text of others, each line marked, so that none of it passes for a line of ours. */
export function quoted(text: string, most = MOST_LINES): string[] {
  const lines = safeText(text).split("\n");
  const more = lines.length - most;
  return [
    ...lines.slice(0, most).map((line) => dim(`> ${line}`)),
    ...(more > 0 ? [dim(`… ${more} more lines: --json shows them.`)] : []),
  ];
}

/** Tickets as a list. */
export function ticketsText(items: readonly TicketItem[]): string {
  const rows = items.map((one) => [one.key, one.status ?? "", one.assignee ?? "", one.title]);
  return table([["KEY", "STATUS", "ASSIGNEE", "TITLE"], ...rows]);
}

/** A ticket with what belongs to it. */
export function ticketText(ticket: TicketAnswer, now: number): string {
  const rows = [
    ["status", ticket.status],
    ["assignee", ticket.assignee],
    ["part of", ticket.parent],
    ["parts", ticket.children.length === 0 ? undefined : ticket.children.join(", ")],
    ["at", ticket.url],
    ["changed", when(ticket.updated_at, now)],
    ...ticket.prs.map(({ ref, title, state }) => [
      "pull request",
      `${ref} ${state}${title === undefined ? "" : `: ${title}`}`,
    ]),
    ...ticket.docs.map(({ id, title, url }) => ["document", [title ?? id, url].filter(Boolean).join(" ")]),
  ].filter((row): row is [string, string] => row[1] !== undefined);
  const lines = [`${bold(safeLine(ticket.key))} ${bold(safeLine(ticket.title))}`, table(rows)];
  if (ticket.description !== undefined && ticket.description !== "")
    lines.push("", ...quoted(ticket.description));
  if (ticket.more_comments !== undefined) lines.push("", dim(`${ticket.more_comments} earlier comments.`));
  for (const { author, at, body } of ticket.comments)
    lines.push("", `${bold(safeLine(author))} ${dim(when(at, now))}`, ...quoted(body));
  return lines.join("\n");
}

/** Events as a list, and what each led to. */
export function eventsText(items: readonly WorkEventItem[], now: number): string {
  const rows = items.map((one) => [
    when(one.at, now),
    one.type,
    one.source,
    one.actor,
    one.about ?? "",
    one.event_id,
    one.decided.join(", "),
  ]);
  return table([["WHEN", "EVENT", "SOURCE", "BY", "ABOUT", "ID", "DECIDED"], ...rows]);
}

/** An event with what was decided of it, by which rule, and why. */
export function traceText({ event, decisions }: TraceAnswer, now: number): string {
  const about = event.ticket?.key ?? (event.pr && `${event.pr.repo}#${event.pr.number}`) ?? event.doc?.id;
  const head = `${bold(safeLine(event.type))} ${about === undefined ? "" : `${safeLine(about)} `}by ${safeLine(event.by)}`;
  const lines = [
    `${head} ${dim(`${when(event.at, now)}, from ${safeLine(event.source)}, ${safeLine(event.event_id)}`)}`,
  ];
  if (!event.trusted) lines.push(dim(`Its author is not trusted: ${safeLine(event.trust)}`));
  if (decisions.length === 0) lines.push(dim("No rule decided anything."));
  const width = Math.max(0, ...decisions.map(({ rule }) => safeLine(rule).length));
  for (const one of decisions) {
    const what = [one.decision, one.kind, one.person].filter((t) => t !== undefined).map(safeLine);
    const ids = [one.item, one.act].filter((t) => t !== undefined).map(safeLine);
    lines.push(
      `${safeLine(one.rule).padEnd(width)}  ${what.join(" ")}: ${safeLine(one.why)}${ids.length === 0 ? "" : dim(`  ${ids.join(" ")}`)}`,
    );
    const { result } = one;
    if (result)
      for (const text of [
        result.ok ? "made" : `not made: ${result.error ?? "no reason given"}`,
        ...result.results,
      ])
        lines.push(dim(`${" ".repeat(width)}  ${safeLine(text)}`));
  }
  return lines.join("\n");
}
