/** What the office knows about the work, as the sections of an item's prompt (OFFER-8). */
import { moment, named, QUOTE, words } from "../sdk/quote.ts";
import type { Wake } from "../shared/wire/agent/index.ts";
import { list, more, section, token } from "./prompt-words.ts";

type Why = Wake["tickets"][number]["why"];
type Merge = NonNullable<Wake["merge"]>;

/** The wake's sections: tickets, pull requests, documents, conversations, the merge, checks that failed. */
export function wakeSections(wake: Wake): string[] {
  const { tickets, prs, docs, chats, merge, failedChecks = [], omitted = 0 } = wake;
  return [
    section("Tickets:", tickets.flatMap(ticket)),
    section("Pull requests:", prs.flatMap(pull)),
    section(
      "Documents:",
      docs.map(
        (one) =>
          `${QUOTE}${token(one.id)} ${named(one.title)} (${list([one.ticket === undefined ? undefined : `for ${token(one.ticket)}`, because(one.why)])})${more(one.url)}`,
      ),
    ),
    section("Conversations:", chats.flatMap(chat)),
    ...(merge ? mergeSections(merge) : []),
    section("Checks that failed after the merge:", failedChecks.flatMap(failed)),
    omitted > 0 ? `${omitted} more linked things are left out.` : "",
  ];
}

function because({ role, source }: Why): string {
  return `${token(role)}, by ${token(source)}`;
}

function ticket(one: Wake["tickets"][number]): string[] {
  const facts = list([
    one.status === undefined ? undefined : token(one.status),
    one.assignee === undefined ? undefined : `assigned to ${named(one.assignee)}`,
    because(one.why),
  ]);
  return [
    `${QUOTE}${token(one.key)} ${named(one.title)} (${facts})${more(one.url)}`,
    ...(one.description === undefined ? [] : [`${QUOTE}Its description:`, ...words(one.description)]),
    ...left(one.moreComments, "earlier comments"),
    ...one.comments.flatMap(({ author, at, url, body }) => [
      `${QUOTE}${named(author)}, ${moment(at)}, commented${more(url)}:`,
      ...words(body),
    ]),
    ...(one.reviews ?? []).flatMap((review) => [
      `${QUOTE}${named(review.author)}, ${moment(review.at)}, in a review of ${token(review.pr)} (${list([
        review.ticket === undefined ? undefined : `for ${token(review.ticket)}`,
        place(review),
        review.resolved ? "resolved" : "not resolved",
      ])})${more(review.url)}:`,
      ...words(review.body),
    ]),
    ...left(one.moreReviews, "older review comments"),
  ];
}

function pull(one: Wake["prs"][number]): string[] {
  const facts = list([
    one.draft ? "draft" : undefined,
    one.state,
    `checks ${one.ci}`,
    one.mergeable === "unknown" ? undefined : one.mergeable,
    one.review === undefined ? undefined : `latest review ${token(one.review)}`,
    one.unresolvedThreads > 0 && `${one.unresolvedThreads} threads not resolved`,
    one.ticket === undefined ? undefined : `for ${token(one.ticket)}`,
    one.stackedOn === undefined ? undefined : `stacked on ${token(one.stackedOn)}`,
    one.stackedBy.length > 0 && `under ${one.stackedBy.map(token).join(" and ")}`,
    because(one.why),
  ]);
  return [
    `${QUOTE}${token(one.ref)} ${named(one.title)} (${facts})${more(one.url)}`,
    ...one.failing.map((name) => `${QUOTE}The check ${named(name)} fails.`),
    ...one.threads.flatMap((thread) => [
      `${QUOTE}${named(thread.author)} asks${before(place(thread))}${more(thread.url)}:`,
      ...words(thread.body),
    ]),
  ];
}

function chat(one: Wake["chats"][number]): string[] {
  return [
    `${QUOTE}In the channel ${token(one.channel)}, thread ${token(one.thread)} (${because(one.why)}):`,
    ...left(one.moreMessages, "earlier messages"),
    ...one.messages.flatMap(({ author, at, text }) => [
      `${QUOTE}${named(author)}, ${moment(at)}:`,
      ...words(text),
    ]),
  ];
}

function mergeSections({ pr, base, others, moreOthers, recentMerges }: Merge): string[] {
  return [
    section("To decide: whether this pull request is merged now.", [
      `${QUOTE}${token(pr.ref)} ${named(pr.title)} from ${token(pr.head)} into ${token(pr.base)}${pr.draft ? " (draft)" : ""}${more(pr.url)}`,
      `${QUOTE}Approved by ${names(pr.approvedBy)}; changes requested by ${names(pr.changesRequestedBy)}.`,
      `${QUOTE}Checks: ${pr.ci}; ${pr.mergeable}; ${pr.unresolvedThreads} threads not resolved.`,
      ...failing(pr.failing),
      `${QUOTE}The base ${token(base.ref)}: checks ${base.ci}.`,
      ...failing(base.failing),
    ]),
    section("Other open pull requests of the repository:", [
      ...others.map((one) => {
        const facts = list([
          `by ${named(one.author)}`,
          one.draft && "draft",
          one.approved ? "approved" : "not approved",
          `checks ${one.ci}`,
          one.mergeable,
          ...one.relation.map((relation) => relation.replaceAll("_", " ")),
          one.files.length > 0 && `both change ${one.files.map(named).join(", ")}`,
        ]);
        return `${QUOTE}${token(one.ref)} ${named(one.title)} (${facts})${more(one.url)}`;
      }),
      ...left(moreOthers, "more"),
    ]),
    section(
      "Merged into the base lately, latest first:",
      recentMerges.map(
        ({ ref, title, url, author, at }) =>
          `${QUOTE}${token(ref)} ${named(title)} by ${named(author)}, ${moment(at)}${more(url)}`,
      ),
    ),
  ];
}

function names(all: readonly string[]): string {
  return all.map(named).join(", ") || "nobody";
}

function failing(checks: readonly { name: string; url?: string | undefined }[]): string[] {
  return checks.map(({ name, url }) => `${QUOTE}Fails: ${named(name)}${more(url)}`);
}

function failed(one: NonNullable<Wake["failedChecks"]>[number]): string[] {
  const { pr, sha, name, url, timedOut, steps, note } = one;
  return [
    `${QUOTE}${named(name)} on ${token(pr)}${sha === undefined ? "" : `, commit ${token(sha)}`}${timedOut ? ", still running when its time was up" : ""}${more(url)}`,
    ...(note === undefined ? [] : [`${QUOTE}No log: ${named(note)}`]),
    ...steps.flatMap((step) => [
      `${QUOTE}The step ${named(step.name)}:`,
      ...left(step.omitted, "earlier lines"),
      ...step.lines.flatMap(words),
    ]),
  ];
}

function left(count: number | undefined, of: string): string[] {
  return count !== undefined && count > 0 ? [`${QUOTE}(${count} ${of} left out)`] : [];
}

function place({ path, line }: { path?: string | undefined; line?: number | undefined }): string | undefined {
  return path === undefined ? undefined : `on ${named(path)}${line === undefined ? "" : ` line ${line}`}`;
}

function before(text: string | undefined): string {
  return text === undefined ? "" : ` ${text}`;
}
