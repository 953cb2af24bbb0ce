/** The beginning and the end of a connection, in rows (OFF-3, OFF-5). */
import { byteLength } from "../../src/shared/rules/text.ts";
import { type AgentPayload, MAX_FRAME_BYTES, PROTOCOL_VERSION } from "../../src/shared/wire/agent/index.ts";
import type { Connection, Desk } from "./desk.ts";
import { activeItems, change, heldItems } from "./store/items.ts";
import { changePerson, personRow } from "./store/person.ts";
import { parts } from "./turns.ts";

/** How often an agent is to be heard (OFF-5), and what silence ends its connection (OFF-6). */
export const HEARTBEAT_MS = 30_000;
export const SILENT_MS = 3 * HEARTBEAT_MS;
/** The frame around a welcome's payload. */
const AROUND = 1000;

/** Takes a connection as the one that counts, and says what its agent starts from. */
export function welcomeOf(desk: Desk, connection: Connection): AgentPayload<"welcome"> {
  const { connection: old } = personRow(desk.db);
  if (old !== null) connectionEnded(desk, old);
  changePerson(desk.db, { connection: connection.id });
  desk.alarm("silent", desk.now + SILENT_MS);
  // Whatever it was on before, it starts from `resume` now (OFFER-7).
  for (const { id } of heldItems(desk.db)) change(desk.db, id, { held: 0 }, { quietly: true });
  const welcome = {
    protocolVersion: PROTOCOL_VERSION,
    heartbeatMs: HEARTBEAT_MS,
    team: desk.team,
    resume: activeItems(desk.db).map(({ id }) => id),
  };
  const room = MAX_FRAME_BYTES - AROUND - byteLength(JSON.stringify(welcome));
  return { ...welcome, ...parts.welcomed(desk, room) };
}

/** What a connection had for itself goes with it: its answers, and that nothing more was offered on it. */
export function connectionEnded(desk: Desk, id: string): void {
  desk.db.run("DELETE FROM answers WHERE connection = ?", id);
  changePerson(desk.db, { connection: null, quiet: null });
  parts.ended(desk, id);
}
