/** Who runs the requests of a person's streams, as the team's config says it (CTX-8, REQ-7). */
import type { Team } from "../../wire/team.ts";

/** `resident`: the office itself. `stream`: whoever follows the stream with the person's token. */
export type Runner = "resident" | "stream";

/** Undefined: the person's agent speaks the agent protocol, and nothing feeds their streams. */
export function runnerOf(team: Pick<Team, "people">, handle: string): Runner | undefined {
  const runtime = team.people.find((one) => one.handle === handle)?.runtime;
  return runtime === "resident" || runtime === "stream" ? runtime : undefined;
}
