/** Who watches the office, and what they are told: names only, never logged, never sent again (QUEUE-4, CONN-11). */
import type { Db } from "../../kit/db.ts";
import { refuse } from "../../kit/result.ts";
import type { LiveChange } from "../../office/letters.ts";
import { participant } from "../store/participants.ts";
import type { Caller } from "../types.ts";
import type { Connection, Connections } from "./connections.ts";

/** Names of one kind in one frame; whoever has more reads the list anew anyway. */
const MAX_NAMES = 200;

/** Asks for changes of the office on this connection, or for no more of them: people but guests. */
export function watchOffice(connections: Connections, conn: Connection, caller: Caller, on: boolean): void {
  if (caller.participant.kind !== "person" || caller.participant.role === "guest")
    refuse("forbidden", "The people of the workspace but guests watch its office.");
  connections.watch(conn, on);
}

/** Tells every watcher who may still be one; answers how many they are, with those who are not caught up yet. */
export function tellWatchers(connections: Connections, db: Db, change: LiveChange): number {
  let watchers = 0;
  let text: string | undefined;
  for (const conn of connections.all()) {
    if (!conn.state.watching) continue;
    if (participant(db, conn.state.participantId)?.role === "guest") continue;
    watchers += 1;
    if (!conn.state.open || !conn.state.caughtUp) continue;
    text ??= JSON.stringify({ v: 1, type: "office.changed", ...bounded(change) });
    connections.push(conn, text);
  }
  return watchers;
}

function bounded({ people, items, tickets, events, team }: LiveChange): LiveChange {
  return {
    ...first("people", people),
    ...first("items", items),
    ...first("tickets", tickets),
    ...first("events", events),
    ...(team ? { team } : {}),
  };
}

function first(key: string, names: readonly string[] | undefined): Record<string, string[]> {
  return names && names.length > 0 ? { [key]: names.slice(0, MAX_NAMES) } : {};
}
