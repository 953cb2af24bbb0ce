/** How the agents' talk stands, as a turn is told of it (GUARD-2). */
import { exchangeNote } from "../../../src/shared/rules/guard.ts";
import type { Exchange } from "../../../src/shared/wire/index.ts";
import { attachment } from "../store/messages.ts";
import type { StoredExchange } from "../types.ts";
import type { Round } from "./viewer.ts";

/** A message this old that somebody has not read says that they are not looking (NOTE-5). */
const LOOKING_MS = 60_000;

export function exchangeFor(
  round: Round,
  spaceId: string,
  stored: StoredExchange,
  addressedTo: readonly string[],
  takers: readonly string[],
): Exchange {
  const facts = {
    ...stored,
    since: named(round, stored.since),
    repeats: stored.repeats.map((repeat) => named(round, repeat)),
    person_looking: personLooking(round, spaceId),
    also_for: addressedTo.filter((id) => !takers.includes(id)),
  };
  const ids = [stored.person, stored.since.by, ...stored.repeats.map((r) => r.by), ...facts.also_for];
  const names = new Map(
    ids.flatMap((id) => (id === undefined ? [] : [[id, round.who(id)?.name ?? id] as const])),
  );
  return { ...facts, note: exchangeNote({ ...facts, names }) };
}

/** The log names a file by its attachment (LOG-4): here it has its name, while it has one. */
function named<T extends { file?: string | undefined }>(round: Round, { file, ...rest }: T) {
  const name = file === undefined ? undefined : attachment(round.db, file)?.filename;
  return { ...rest, ...(name === undefined ? {} : { file: name }) };
}

/** Whether some person of the space is not behind it by a message older than a minute; null: nobody ever said. */
function personLooking(round: Round, spaceId: string): boolean | null {
  return round.once(`looking ${spaceId}`, () => {
    const marks = round.db.all<{ read_seq: number; participant_id: string }>(
      "SELECT read_seq, participant_id FROM marks WHERE space_id = ?",
      spaceId,
    );
    const people = marks.filter((m) => round.present(spaceId).has(m.participant_id));
    if (people.length === 0) return null;
    return people.some(({ read_seq }) => {
      const first = round.db.one<{ at: number }>(
        `SELECT log.at FROM lines JOIN log ON log.seq = lines.seq
         WHERE lines.space_id = ? AND lines.seq > ? AND log.type = 'message.posted' ORDER BY lines.seq LIMIT 1`,
        spaceId,
        read_seq,
      );
      return !first || round.now - first.at <= LOOKING_MS;
    });
  });
}
