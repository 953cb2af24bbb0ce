/** The direct space of a person and an agent of the team: where it reports and asks (ITEM-2, REPORT-3). */
import { sharesSpace } from "../deliver/frames.ts";
import { isGone, participant } from "../store/participants.ts";
import { space } from "../store/spaces.ts";
import type { ParticipantRow, SpaceRow } from "../types.ts";
import { join } from "../verbs/members.ts";
import { directKey, directTitle } from "../verbs/spaces.ts";
import type { Writer } from "../writer.ts";

/** A person whom an agent may speak to alone: of the workspace, and a guest only where they have met (SPACE-1). */
export function personFor(
  w: Pick<Writer, "db">,
  agentId: string,
  personId: string,
): ParticipantRow | undefined {
  const who = participant(w.db, personId);
  if (who?.kind !== "person" || isGone(who)) return undefined;
  return who.role !== "guest" || sharesSpace(w, agentId, who.id) ? who : undefined;
}

/** The space of the two as it is, made or brought back when need be; the person owns it. */
export function directWith(w: Writer, agent: ParticipantRow, person: ParticipantRow, main?: true): SpaceRow {
  const both = [agent, person].toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const key = directKey(both);
  const actor = { kind: "agent", id: agent.id, harness_id: agent.harness_id ?? "" } as const;
  const there = w.db.one<SpaceRow>("SELECT * FROM spaces WHERE direct = ?", key);
  if (there) return there.archived === 0 ? there : unarchived(w, there, actor);
  const spaceId = w.clock.mint("spc");
  const title = directTitle(both);
  const row = w.append("space.created", {
    spaceId,
    actor,
    body: { title, visibility: "private", direct: both.map((p) => p.id) },
    ...(main ? { main, receipt: { space_id: spaceId } } : {}),
  });
  w.db.run(
    "INSERT INTO spaces (id, title, visibility, direct, created_seq) VALUES (?, ?, 'private', ?, ?)",
    spaceId,
    title,
    key,
    row.seq,
  );
  join(w, spaceId, person, person.role === "guest" ? "guest" : "owner", { actor });
  join(w, spaceId, agent, "member", { actor });
  const made = space(w.db, spaceId);
  if (!made) throw new Error("a space just made is not there");
  return made;
}

/** Somebody archived it: what is said there must be found all the same. */
function unarchived(w: Writer, of: SpaceRow, actor: Writer["actor"]): SpaceRow {
  w.append("space.unarchived", { spaceId: of.id, actor, body: {}, line: true });
  w.db.run("UPDATE spaces SET archived = 0 WHERE id = ?", of.id);
  return { ...of, archived: 0 };
}
