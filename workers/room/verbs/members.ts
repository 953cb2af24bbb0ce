/** member.add, member.remove, member.role. */
import type { Actor, SpaceRole, Verb } from "../../../src/shared/wire/index.ts";
import { notFound, refuse } from "../../kit/result.ts";
import { forgetViewer } from "../store/approvals.ts";
import { isGone, participant } from "../store/participants.ts";
import {
  closeStay,
  isOpen,
  members,
  openStay,
  releaseHandle,
  space,
  stay,
  takeHandle,
} from "../store/spaces.ts";
import type { ParticipantRow } from "../types.ts";
import type { Writer } from "../writer.ts";
import { endRunsOf } from "./runs.ts";
import { approverLost } from "./settle.ts";
import { mustBeAddable } from "./spaces.ts";
import { administers, asRegular, asSpaceOwner, inSpace, mustBePerson } from "./standing.ts";

const MAX_MEMBERS = 200;
const MAX_AGENTS = 50;

/** Makes somebody a member: the fact, the stay, the handle. */
export function join(
  w: Writer,
  spaceId: string,
  who: ParticipantRow,
  role: SpaceRole,
  how: { main?: true; actor?: Actor } = {},
): void {
  const handle = takeHandle(w.db, spaceId, who, w.now);
  const row = w.append("member.joined", {
    spaceId,
    body: {
      participant_id: who.id,
      kind: who.kind,
      name: who.name,
      role,
      ...(handle === undefined ? {} : { handle }),
    },
    line: true,
    ...(how.main ? { main: true, receipt: { space_id: spaceId } } : {}),
    ...(how.actor ? { actor: how.actor } : {}),
  });
  openStay(w.db, {
    space_id: spaceId,
    participant_id: who.id,
    joined_seq: row.seq,
    role,
    handle: handle ?? null,
  });
}

/** Takes somebody out of a space: what they have going there ends, and their handle rests. */
export function leave(w: Writer, spaceId: string, who: ParticipantRow, main?: true): void {
  endRunsOf(w, who.id, spaceId);
  const row = w.append("member.left", {
    spaceId,
    body: { participant_id: who.id },
    line: true,
    ...(main ? { main } : {}),
  });
  closeStay(w.db, spaceId, who.id, row.seq);
  releaseHandle(w.db, spaceId, who.id, w.now);
  if (who.kind !== "harness") forgetViewer(w.db, who.id, spaceId);
  approverLost(w, who.id, spaceId);
}

export function add(w: Writer, event: Verb<"member.add">): void {
  const joiningOpen =
    event.participant_id === w.caller.participant.id &&
    w.caller.participant.kind === "person" &&
    w.caller.participant.role !== "guest" &&
    !stay(w.db, event.space_id, event.participant_id) &&
    isOpen(w.db, event.space_id);
  if (!joiningOpen) asRegular(w, event.space_id);
  const found = space(w.db, event.space_id);
  if (!found) notFound("space");
  const who = participant(w.db, event.participant_id);
  if (!who || isGone(who)) notFound("participant");
  if (found.direct !== null) refuse("conflict", "Nobody can be added to a direct space. Make a new space.");
  if (stay(w.db, found.id, who.id)) refuse("conflict", `${who.name} is in this space already.`);
  mustBeAddable(w, who);
  mustHaveRoom(w, found.id, who);
  join(w, found.id, who, roleFor(w, found.id, who, event.role), { main: true });
}

/** By whatever door somebody comes in, a space is full at its limit (LIMIT-1). */
export function mustHaveRoom(w: Writer, spaceId: string, who: ParticipantRow): void {
  const here = members(w.db, spaceId);
  if (here.length >= MAX_MEMBERS) refuse("invalid", `A space has at most ${MAX_MEMBERS} members.`);
  if (who.kind !== "person" && here.filter((m) => m.kind !== "person").length >= MAX_AGENTS)
    refuse("invalid", `A space has at most ${MAX_AGENTS} agents.`);
}

/** The role somebody gets: a guest of the workspace is a guest everywhere, only owners make owners. */
function roleFor(w: Writer, spaceId: string, who: ParticipantRow, wanted: SpaceRole | undefined): SpaceRole {
  if (who.role === "guest") {
    if (wanted !== undefined && wanted !== "guest")
      refuse("invalid", `${who.name} is a guest of the workspace and can only be a guest here.`);
    return "guest";
  }
  if (wanted === "owner") {
    if (who.kind !== "person") refuse("invalid", "Only a person owns a space.");
    asSpaceOwner(w, spaceId);
  }
  return wanted ?? "member";
}

export function remove(w: Writer, event: Verb<"member.remove">): void {
  const { space: of } = inSpaceAsAny(w, event.space_id);
  const who = participant(w.db, event.participant_id);
  const there = who && stay(w.db, of.id, who.id);
  if (!who || !there) notFound("participant");
  const own = who.id === w.caller.participant.id || who.harness_id === w.caller.participant.id;
  if (!own) {
    mustBePerson(w);
    const mine = stay(w.db, of.id, w.caller.participant.id);
    if (mine?.role !== "owner" && !administers(w))
      refuse(
        "forbidden",
        "Only the space's owner, or an owner or admin of the workspace in it, removes others.",
      );
  }
  if (of.direct !== null) refuse("conflict", "Nobody leaves a direct space. Archive it instead.");
  leave(w, of.id, who, true);
}

/** In the space as oneself or through the agent that is to leave. */
function inSpaceAsAny(w: Writer, spaceId: string) {
  const agent = w.caller.participant.kind === "harness";
  if (!agent) return inSpace(w, spaceId);
  const through = members(w.db, spaceId).find(
    (m) => m.id === w.caller.participant.id || m.harness_id === w.caller.participant.id,
  );
  if (!through) notFound("space");
  return inSpace({ ...w, actor: { kind: "agent", id: through.id } }, spaceId);
}

export function role(w: Writer, event: Verb<"member.role">): void {
  const { space: of } = asSpaceOwner(w, event.space_id);
  const who = participant(w.db, event.participant_id);
  const there = who && stay(w.db, of.id, who.id);
  if (!who || !there) notFound("participant");
  const next = roleFor(w, of.id, who, event.role);
  const otherOwners = members(w.db, of.id).filter((m) => m.space_role === "owner" && m.id !== who.id);
  if (there.role === "owner" && next !== "owner" && otherOwners.length === 0)
    refuse("conflict", "A space keeps its last owner. Make somebody else owner first.");
  w.append("member.role_changed", {
    spaceId: of.id,
    body: { participant_id: who.id, role: next },
    main: true,
  });
  w.db.run(
    "UPDATE stays SET role = ? WHERE space_id = ? AND participant_id = ? AND left_seq IS NULL",
    next,
    of.id,
    who.id,
  );
  if (next === "guest") approverLost(w, who.id, of.id);
}
