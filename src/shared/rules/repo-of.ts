/** Which repository something happened in: rules and bots are about one (PIPE-1, PIPE-5). */
import type { WorkEvent } from "../wire/work.ts";

/** The repository of an issue, by its ticket's key `owner/repo#n` (WORK-2). */
export const issueRepo = (key: string): string | undefined => /^([\w.-]+\/[\w.-]+)#\d+$/.exec(key)?.[1];

/** An issue's only where GitHub tells of it: what another tracker's key looks like says nothing. */
export function repoOf({ source, pr, check, push, ticket }: WorkEvent): string | undefined {
  const issue = source === "github" && ticket ? issueRepo(ticket.key) : undefined;
  return pr?.repo ?? check?.repo ?? push?.repo ?? issue;
}
