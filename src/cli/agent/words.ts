/** The office's answers to `bullpen item …` as text. What others wrote is made safe, and marked as theirs. */
import type { AgentPayload } from "../../shared/wire/agent/index.ts";
import { safeLine, safeText, table } from "../terminal.ts";

type Brief = AgentPayload<"work_move_result">["item"];
type Filed = Pick<AgentPayload<"work_queue_result">, "item" | "waiting" | "work" | "url">;

/** One item in a line. */
export function briefLine(item: Brief): string[] {
  const about = item.ticketKey ?? item.pr ?? "";
  return [item.current ? "*" : "", item.id, item.status, item.kind ?? "", about, item.title];
}

export function listText(items: readonly Brief[]): string {
  return items.length === 0 ? "Nothing." : table(items.map(briefLine));
}

/** What became of filed work, and whether somebody should say where it goes. */
export function filedText({ item, waiting, work, url }: Filed): string {
  const lines = [table([briefLine(item)]), ...(url === undefined ? [] : [safeLine(url)])];
  if (!waiting) return lines.join("\n");
  lines.push("It waits at the end; ask who requested it where it goes. Before it come:");
  return [...lines, listText(work)].join("\n");
}

export function rosterText({ members, humans = [] }: AgentPayload<"roster_result">): string {
  const rows = members.map((one) => [
    one.handle,
    one.name,
    one.title ?? one.role,
    one.status,
    one.usage ? `${Math.round(one.usage.utilization * 100)}% ${one.usage.window}` : "",
    one.current ?? "",
  ]);
  const people = humans.map(({ name }) => safeLine(name)).join(", ");
  return [table(rows), ...(people === "" ? [] : [`Humans: ${people}`])].join("\n");
}

export function momentsText({ moments, more }: AgentPayload<"recall_result">): string {
  if (moments.length === 0) return "Nothing found.";
  const lines = moments.flatMap((one) => {
    const where = one.where === undefined ? "" : ` ${one.where.type} ${one.where.ref}`;
    const who = one.who === undefined ? "" : `, ${one.who}`;
    return [
      safeLine(`${one.at} ${one.kind}${where}${who}${one.url === undefined ? "" : ` ${one.url}`}`),
      ...quoted(one.excerpt),
    ];
  });
  return [...lines, ...(more ? ["(there is more: --limit)"] : [])].join("\n");
}

export function pullsText({ prs, more }: AgentPayload<"pr_list_result">): string {
  const rows = prs.map((one) => [
    one.ref,
    one.draft ? `${one.state}, draft` : one.state,
    `checks ${one.ci}`,
    one.mergeable,
    one.review ?? "",
    one.ticket ?? "",
    one.author,
    one.title,
  ]);
  const left = more > 0 ? [`(${more} more: --limit)`] : [];
  return rows.length === 0 ? "None." : [table(rows), ...left].join("\n");
}

export function ticketPullsText({ ticket, status, prs }: AgentPayload<"ticket_prs_result">): string {
  const head =
    ticket === undefined
      ? "It would be linked to no ticket."
      : safeLine(`${ticket} (${status ?? "unknown"})`);
  const rows = prs.map((one) => [one.ref, one.state, one.authorKind, one.title]);
  return rows.length === 0 ? head : [head, table(rows)].join("\n");
}

export function logText({ repo, steps }: AgentPayload<"ci_log_result">): string {
  if (steps.length === 0) return safeLine(`${repo}: no failed step in the log.`);
  return steps
    .flatMap(({ name, lines, omitted }) => [
      safeLine(`${name}${omitted > 0 ? ` (${omitted} earlier lines left out)` : ""}`),
      ...lines.flatMap(quoted),
    ])
    .join("\n");
}

export function usageText({ ticket, own, total, ...by }: AgentPayload<"ticket_usage_result">): string {
  const row = (name: string, one: typeof own): string[] => [
    name,
    `${one.tokens} tokens`,
    `$${one.costUsd.toFixed(2)}`,
    `${one.runs} runs`,
  ];
  return table([
    row(ticket, own),
    row("with its sub-tickets", total),
    ...by.subTickets.map((one) => row(`  ${one.ticket}`, one.total)),
    ...[...by.byPerson, ...by.byModel, ...by.byKind].map((one) => row(`  ${one.key}`, one.totals)),
  ]);
}

function quoted(text: string): string[] {
  return safeText(text)
    .split("\n")
    .map((line) => `> ${line}`);
}
