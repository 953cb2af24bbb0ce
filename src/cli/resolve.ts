/** What people type for a space or a participant, as the one that is meant. */
import type * as z from "zod";
import type { BullpenHttp, Query } from "../sdk/http.ts";
import type { spaceItem } from "../shared/wire/http.ts";
import { isId } from "../shared/wire/ids.ts";
import { CliError, EXIT, usage } from "./failures.ts";
import { safeLine } from "./terminal.ts";

export type SpaceItem = z.infer<typeof spaceItem>;

export interface Participant {
  participant_id: string;
  kind: "person" | "harness" | "agent";
  name: string;
  role?: string;
  harness_id?: string;
}

/** Every item of a list, page by page. */
export async function all<T>(http: BullpenHttp, path: string, query: Query = {}): Promise<T[]> {
  const items: T[] = [];
  let cursor: string | undefined;
  do {
    const page = await http.get<{ items: T[]; next?: string }>(path, { ...query, limit: 200, cursor });
    items.push(...page.items);
    cursor = page.next;
  } while (cursor !== undefined);
  return items;
}

export async function findSpace(http: BullpenHttp, text: string): Promise<SpaceItem> {
  if (isId(text, "spc")) return await http.get<SpaceItem>(`/v1/spaces/${text}`);
  const spaces = await all<SpaceItem>(http, "/v1/spaces");
  return pick("space", text, spaces, ({ space_id, title, archived }) => ({
    id: space_id,
    name: title,
    more: archived ? "archived" : "",
  }));
}

export async function findParticipant(http: BullpenHttp, text: string): Promise<Participant> {
  const people = await all<Participant>(http, "/v1/participants");
  return pick("participant", text.replace(/^@/, ""), people, ({ participant_id, name, kind }) => ({
    id: participant_id,
    name,
    more: kind,
  }));
}

interface Candidate {
  id: string;
  name: string;
  more: string;
}

/** By id, by the name as it is, or by the name without case and spaces, as a handle is written. */
export function pick<T>(what: string, text: string, items: readonly T[], read: (item: T) => Candidate): T {
  const tests: ((c: Candidate) => boolean)[] = [
    (c) => c.id === text,
    (c) => c.name === text,
    (c) => folded(c.name) === folded(text),
  ];
  for (const test of tests) {
    const found = items.filter((item) => test(read(item)));
    if (found.length === 1) return found[0] as T;
    if (found.length > 1)
      throw usage(
        `There is more than one ${what} called ${safeLine(text)}: name it by its id.`,
        listed(found.map(read)),
      );
  }
  throw new CliError(
    EXIT.refused,
    `There is no ${what} ${safeLine(text)} that you can see. (not_found)`,
    items.length === 0 ? `You see no ${what} yet.` : `There are:\n${listed(items.slice(0, 20).map(read))}`,
  );
}

function folded(name: string): string {
  return name.normalize("NFKC").replace(/\s+/gu, "").toLowerCase();
}

function listed(candidates: readonly Candidate[]): string {
  return candidates
    .map(({ id, name, more }) => `  ${id}  ${safeLine(name)}${more ? ` (${more})` : ""}`)
    .join("\n");
}
