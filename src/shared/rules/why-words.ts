import { quoted } from "./note-words.ts";

/** Names by id; an id that is not there is said as it is. */
export type Names = ReadonlyMap<string, string>;

const MOST_IN_NAME = 80;
const MOST_NAMED = 10;

/** Somebody by name, in quotes; the room itself is the room. */
export function nameIn(names: Names, id: string): string {
  if (id === "system") return "The room";
  const name = names.get(id);
  return name === undefined ? id : quoted(name, MOST_IN_NAME);
}

/** Several by name: `"Ann", "Bo" and "Cy"`. */
export function namesIn(names: Names, ids: readonly string[]): string {
  const said = ids.slice(0, MOST_NAMED).map((id) => nameIn(names, id));
  if (ids.length > MOST_NAMED) said.push(`${ids.length - MOST_NAMED} more`);
  return said.length < 2 ? (said[0] ?? "nobody") : `${said.slice(0, -1).join(", ")} and ${said.at(-1)}`;
}

/** Dollars as they are said: `$0.30`; small sums keep their digits. */
export function dollars(usd: number): string {
  const cents = usd.toFixed(2);
  return `$${Number(cents) === usd ? cents : String(Number(usd.toFixed(6)))}`;
}
