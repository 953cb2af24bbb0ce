/** Who is in a room, who is at work there, and the note that each taker gets (NOTE-1 to NOTE-3). */
import { type NoteMember, orderMembers, roomNote, roomRules } from "../../../src/shared/rules/notes.ts";
import type { Room, RoomMember } from "../../../src/shared/wire/index.ts";
import { lastTurns, workingRuns } from "../store/runs.ts";
import { leadOf, type MemberRow } from "../store/spaces.ts";
import type { SpaceRow, StoredSpend } from "../types.ts";
import { kindFor, type Round, shownName, type Viewer } from "./viewer.ts";

/** People first, then agents, each by name, the removed left out (NOTE-1). */
export function rosterOf(
  round: Round,
  viewer: Viewer,
  space: SpaceRow,
  here: readonly MemberRow[],
): RoomMember[] {
  const lead = leadOf(space, here);
  const shown = here
    .filter((m) => m.removed_at === null)
    .map((m): RoomMember => {
      const harness = harnessName(round, space, m);
      return {
        participant_id: m.id,
        kind: kindFor(viewer, m.kind),
        name: shownName(m, space),
        ...(harness === undefined ? {} : { harness }),
        ...(m.handle === null ? {} : { handle: m.handle }),
        ...(m.id === lead ? { lead: true as const } : {}),
        ...(m.kind === "person" && m.time_zone !== null ? { time_zone: m.time_zone } : {}),
      };
    });
  return orderMembers(shown);
}

/** The name of the harness behind an agent, where it tells more than the agent's own. */
function harnessName(round: Round, space: SpaceRow, m: MemberRow): string | undefined {
  if (m.kind === "agent") {
    const name = m.harness_id === null ? undefined : round.who(m.harness_id)?.name;
    return name === m.name ? undefined : name;
  }
  // A harness waiting in a room that was asked of it stands there under its agent's name (SPACE-3).
  return m.id === space.harness_id && shownName(m, space) !== m.name ? m.name : undefined;
}

export interface RoomFor {
  space: SpaceRow;
  here: readonly MemberRow[];
  takers: readonly string[];
  truncated: boolean;
  handedAsLead: boolean;
  spend: StoredSpend | undefined;
}

/** The room as a turn is told of it. */
export function roomFor(round: Round, viewer: Viewer, of: RoomFor): Room {
  const { space, here, takers } = of;
  const members = rosterOf(round, viewer, space, here);
  const minutes = (from: number) => Math.max(0, Math.floor((round.now - from) / 60_000));
  const working = round
    .once(`working ${space.id}`, () => workingRuns(round.db, space.id, round.now))
    .map((run) => ({
      participant_id: run.agent_id,
      minutes: minutes(run.started_at),
      ...(run.step === null ? {} : { step: run.step }),
    }));
  const busy = new Set(working.map((w) => w.participant_id));
  const idle = round
    .once(`idle ${space.id}`, () => lastTurns(round.db, space.id))
    .filter(({ agent_id }) => !busy.has(agent_id) && here.some((m) => m.id === agent_id))
    .map(({ agent_id, ended_at }) => ({ participant_id: agent_id, minutes: minutes(ended_at) }));
  const noted = members.map((m): NoteMember => {
    const row = here.find((h) => h.id === m.participant_id);
    return {
      ...m,
      guest: row?.role === "guest" || row?.space_role === "guest",
      reachable: row !== undefined && row.withdrawn === 0 && row.office_paused === 0,
    };
  });
  const notes: Record<string, string> = {};
  const rules: Record<string, string> = {};
  for (const taker of takers) {
    const self = members.find((m) => m.participant_id === taker);
    const input = {
      taker: { id: taker, name: self?.name ?? taker, handle: self?.handle, lead: self?.lead },
      members: noted,
      working,
      idle: idle.filter((i) => i.participant_id !== taker),
      truncated: of.truncated,
      handedAsLead: of.handedAsLead,
      spend: of.spend,
      now: new Date(round.now),
    };
    notes[taker] = roomNote(input);
    rules[taker] = roomRules(input);
  }
  const others = idle.filter((i) => !takers.includes(i.participant_id));
  return {
    members,
    notes,
    rules,
    ...(working.length > 0 ? { working } : {}),
    ...(others.length > 0 ? { idle: others } : {}),
  };
}
