/** The names of an office's streams: the person's own and one for each of their items (STREAM-1, STREAM-2). */
import { isId } from "../../../src/shared/wire/ids.ts";
import { handle } from "../../../src/shared/wire/team.ts";

/** What a path names: a person's own stream, or that of one of their items. */
export interface StreamName {
  handle: string;
  /** The item's id; absent for the person's own stream. */
  item?: string;
}

export function pathOf({ handle, item }: StreamName): string {
  return item === undefined ? `/people/${handle}` : `/people/${handle}/items/${item}`;
}

/** What a path names; undefined for what can be no stream's name. */
export function nameOf(path: string): StreamName | undefined {
  const [empty, people, who, items, item, ...more] = path.split("/");
  if (empty !== "" || people !== "people" || !handle.safeParse(who).success || more.length > 0)
    return undefined;
  if (items === undefined) return { handle: who as string };
  return items === "items" && isId(item, "itm") ? { handle: who as string, item } : undefined;
}
