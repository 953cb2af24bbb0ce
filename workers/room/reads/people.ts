/** Reads of oneself, of the workspace's people and agents, of its settings. */
import type * as z from "zod";
import type * as http from "../../../src/shared/wire/http.ts";
import { refuse } from "../../kit/result.ts";
import { ownAgents, selfOf } from "../connect/hello.ts";
import { sharesSpace } from "../deliver/frames.ts";
import { kindFor } from "../deliver/viewer.ts";
import { participant, workspaceOf } from "../store/participants.ts";
import type { ParticipantRow } from "../types.ts";
import { type PageArgs, pageOf, type Reader } from "./index.ts";

export function me(r: Reader, _args: object): z.infer<typeof http.me> {
  const who = participant(r.db, r.caller.participant.id) ?? r.caller.participant;
  const workspace = workspaceOf(r.db);
  return {
    participant: selfOf(who),
    workspace_id: workspace.id,
    workspace_name: workspace.name,
    scopes: r.caller.scopes,
    ...(who.kind === "harness" && r.viewer.declared ? { agents: ownAgents(r.db, who.id) } : {}),
  };
}

/** Everybody of the workspace who was not removed. A guest is told of those they share a space with (SPACE-1). */
export function participants(r: Reader, { cursor, limit }: PageArgs) {
  const rows = r.db
    .all<ParticipantRow>(
      "SELECT * FROM participants WHERE id > ? AND removed_at IS NULL AND withdrawn = 0 ORDER BY id LIMIT ?",
      cursor ?? "",
      limit + 1,
    )
    .filter((p) => !r.viewer.guest || p.id === r.viewer.id || sharesSpace(r.round, r.viewer.id, p.id));
  return pageOf(
    rows.map((p) => ({
      ...selfOf(p),
      kind: kindFor(r.viewer, p.kind),
      ...(p.harness_id === null ? {} : { harness_id: p.harness_id }),
      ...(p.office_handle === null ? {} : { person: p.office_handle }),
    })),
    limit,
    (p) => p.participant_id,
  );
}

export function settings(r: Reader, _args: object) {
  if (r.viewer.guest) refuse("forbidden", "A guest does not see the workspace's settings.");
  return workspaceOf(r.db).settings;
}
