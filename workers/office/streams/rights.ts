/** Who reads a stream and who may append to it at all; what they may append the rules say (STREAM-4). */
import { isCompaction } from "../../../src/shared/rules/context/state.ts";
import type { AppendEvent } from "../../../src/shared/wire/context/http.ts";
import { notFound, refuse } from "../../kit/result.ts";
import { isMember } from "../board/rights.ts";
import type { Desk } from "../desk.ts";
import type { Identity } from "../letters.ts";
import { appendAll, type Given, OFFICE } from "./append.ts";
import { pathOf } from "./paths.ts";
import { PLATFORM } from "./states.ts";

/** People but guests, what has the deployment's rights, and an agent on its own streams: to it there are no others. */
export function mustRead(by: Identity, handle: string): void {
  if (isMember(by) || isPlatform(by)) return;
  if (by.handle === handle && !by.hook) return;
  if (by.handle !== undefined && !by.hook) notFound("stream");
  refuse(
    "forbidden",
    "People of the workspace read streams, guests do not, and an agent its own. Ask one of them.",
  );
}

/** A hook's token brings what happened at its source, and reads nothing (STREAM-4). */
export function mustAppend(by: Identity, handle: string): void {
  if (!by.hook) mustRead(by, handle);
}

/** A token that writes as the platform: of an owner or admin, with the scope `admin` (STREAM-4). */
export function isPlatform(by: Identity): boolean {
  return by.kind === "person" && by.scopes.includes("admin") && (by.role === "owner" || by.role === "admin");
}

/**
 * In whose name a token appends an event. One with both rights writes as its person what a person may, and as the
 * platform what no person could. What comes by a token never meets the keys of the office's own events.
 */
export function givenBy(by: Identity, event: AppendEvent): Given {
  if (by.hook) return { event, writer: { kind: "hook", source: by.hook.source } };
  if (by.handle !== undefined)
    return { event, writer: { kind: "agent", path: pathOf({ handle: by.handle }) } };
  if (isPlatform(by) && (!isMember(by) || !isOfPeople(event)))
    return { event, writer: OFFICE, sender: `${PLATFORM}${by.participantId}` };
  const owner = by.role === "owner";
  return { event, writer: { kind: "person", userId: by.participantId, origin: "web", owner } };
}

const OF_PEOPLE = new Set(["stream-paused", "stream-resumed", "context-item-redacted"]);
function isOfPeople({ type, payload }: AppendEvent): boolean {
  if (type !== "context-item") return OF_PEOPLE.has(type);
  return (payload.role === "user" || payload.role === "developer") && !isCompaction(payload);
}

/** What a token appends (STREAM-4). */
export function appendAs(desk: Desk, by: Identity, item: string, events: readonly AppendEvent[]): number[] {
  mustAppend(by, desk.handle);
  const path = pathOf(item === "" ? { handle: desk.handle } : { handle: desk.handle, item });
  return appendAll(
    desk,
    path,
    events.map((event) => givenBy(by, event)),
  );
}
