/** Who may append what to a stream, and as whom (STREAM-4). What depends on the stream's state is in settle.ts. */
import type { AppendEvent } from "../../wire/context/http.ts";
import type { ContextItem, ItemActor } from "../../wire/context/item.ts";
import type { Refusal } from "../../wire/errors.ts";
import { canonicalJson } from "../canonical.ts";
import { isCallKey } from "./calls.ts";
import { isCompaction } from "./state.ts";

/** Whoever a token stands for. */
export type Writer =
  /** The office itself, and an admin's token, which writes as the platform. */
  | { kind: "office" }
  | { kind: "person"; userId: string; origin: "web" | "mcp"; owner: boolean }
  /** An agent, by its person's stream, `/people/<handle>`. */
  | { kind: "agent"; path: string }
  | { kind: "hook"; source: string };

/** How a writer is spelled in {@link StreamEvent.by}; undefined: the office. */
export function spelled(writer: Writer): string | undefined {
  switch (writer.kind) {
    case "office":
      return undefined;
    case "person":
      return `person ${writer.userId}`;
    case "agent":
      return `agent ${writer.path}`;
    case "hook":
      return `hook ${writer.source}`;
  }
}

export type Stamped = { ok: true; event: AppendEvent } | { ok: false; refusal: Refusal };

const no = (message: string): Stamped => ({ ok: false, refusal: { code: "forbidden", message } });

const OF_AGENTS = new Set<string>(["llm-request-succeeded", "llm-request-failed", "llm-request-cancelled"]);
const OF_PEOPLE = new Set<string>(["stream-paused", "stream-resumed"]);

/** The event as it is stored: with the actor of its writer, or why they may not append it (STREAM-4). */
export function stamp(event: AppendEvent, writer: Writer, stream: string): Stamped {
  if (writer.kind === "office") return { ok: true, event };
  if (writer.kind === "agent" && stream !== writer.path && !stream.startsWith(`${writer.path}/`))
    return no("An agent writes to its own streams only.");
  if (event.type === "context-item") return stampItem(event, writer);
  if (writer.kind === "agent" && OF_AGENTS.has(event.type)) return { ok: true, event };
  if (writer.kind === "person" && OF_PEOPLE.has(event.type)) return { ok: true, event };
  if (writer.kind === "person" && event.type === "context-item-redacted")
    return writer.owner ? { ok: true, event } : no("Only an owner of the workspace redacts an item.");
  return no(`${event.type} is not for ${NAMES[writer.kind]} to append. ${MAY[writer.kind]}`);
}

const NAMES = { person: "a person", agent: "an agent", hook: "a hook" } as const;
const MAY = {
  person: "People append user and developer items, and pause and resume a stream.",
  agent: "An agent appends assistant and developer items, and settles requests.",
  hook: "A hook appends user and developer items of its source.",
} as const;
const ROLES = {
  person: ["user", "developer"],
  agent: ["assistant", "developer"],
  hook: ["user", "developer"],
} as const;

type Outsider = Exclude<Writer, { kind: "office" }>;

function stampItem(event: AppendEvent & { type: "context-item" }, writer: Outsider): Stamped {
  const item = event.payload;
  const roles: readonly string[] = ROLES[writer.kind];
  if (!roles.includes(item.role)) return no(`${MAY[writer.kind]} This one has the role ${item.role}.`);
  if (isCompaction(item)) return no("Only the office itself appends a compaction.");
  const actor = actorOf(writer, item);
  if (actor === undefined)
    return no(`The actor is not yours: leave it out, and it is stamped from your token.`);
  if (item.key !== undefined && isCallKey(item.key) && actor.type !== "script")
    return no(`The key ${item.key} is that of a call's result. Choose another.`);
  return { ok: true, event: { ...event, payload: { ...withRef(item, writer), actor } } };
}

/** Who an item of a writer is from; undefined: it claims to be somebody else's. */
function actorOf(writer: Outsider, { role, actor: claimed }: ContextItem): ItemActor | undefined {
  if (writer.kind === "hook") return laneOf(writer.source, claimed);
  // The script is the agent's own: which call's result it is depends on the state (CTX-9).
  if (writer.kind === "agent" && claimed?.type === "script")
    return role === "developer" ? claimed : undefined;
  const own: ItemActor =
    writer.kind === "agent" ? { type: "agent", path: writer.path } : { type: "user", origin: writer.origin };
  return claimed === undefined || canonicalJson(claimed) === canonicalJson(own) ? own : undefined;
}

const LANES = new Set<string>(["slack", "telegram", "email", "github"]);

/** A hook's items are its source's: it says who wrote there, never that somebody else brought it. */
function laneOf(source: string, claimed: ItemActor | undefined): ItemActor | undefined {
  if (LANES.has(source)) {
    const own = { type: source } as ItemActor;
    return claimed === undefined ? own : claimed.type === source ? claimed : undefined;
  }
  const own: ItemActor = { type: "integration", name: source };
  return claimed === undefined || canonicalJson(claimed) === canonicalJson(own) ? own : undefined;
}

/** A person is known by the first ref of their item: whom else they refer to comes after. */
function withRef(item: ContextItem, writer: Outsider): ContextItem {
  if (writer.kind !== "person") return item;
  const others = (item.refs ?? []).filter((ref) => ref.type !== "user" || ref.userId !== writer.userId);
  return { ...item, refs: [{ type: "user", userId: writer.userId }, ...others] };
}
