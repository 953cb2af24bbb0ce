/**
 * The one write path (HTTP-1): parse, authorise, decide facts, append them in one transaction, receipt.
 * Socket frames and requests run this same code; deliveries are worked out afterwards from the log.
 */
import { createHash } from "node:crypto";
import type { Actor, Receipt, Verb, VerbType } from "../../src/shared/wire/index.ts";
import { canonicalJson } from "../kit/canonical.ts";
import type { Db } from "../kit/db.ts";
import { refuse } from "../kit/result.ts";
import { mustSpeak } from "./access/authenticate.ts";
import { isRecord, type Json, parseVerb, ROUTED, typeOf } from "./parse.ts";
import { addLine, append, factById, headSeq, writeByKey } from "./store/log.ts";
import { isGone, participant, workspaceOf } from "./store/participants.ts";
import { run } from "./store/runs.ts";
import type { Caller, LogRow, ParticipantRow, Workspace } from "./types.ts";
import { handlerOf } from "./verbs/index.ts";
import type { Extras, Ledger, Writer, Written } from "./writer.ts";

/**
 * Takes one or more verbs in one transaction: all or nothing.
 * @throws Refused, with `index` of the frame at fault in `failedAt`
 */
export function write(
  ledger: Ledger,
  caller: Caller,
  frames: readonly unknown[],
  failedAt: { index: number },
): Written {
  const out: Written = { receipts: [], rows: [], effects: [] };
  const { limits } = workspaceOf(ledger.db).settings;
  ledger.limits.take(caller.participant.id, frames.length, limits, ledger.clock.now());
  ledger.storage.transactionSync(() => {
    for (const [index, frame] of frames.entries()) {
      failedAt.index = index;
      writeOne(ledger, caller, frame, out);
    }
  });
  return out;
}

/** What the token of a person of the team starts in rooms (TEAM-2). */
const AGENT_VERBS: ReadonlySet<VerbType> = new Set([
  "message.post",
  "message.edit",
  "message.delete",
  "space.create",
]);

function writeOne(ledger: Ledger, caller: Caller, frame: unknown, out: Written): void {
  const type = typeOf(frame);
  if (!("verb" in type) || !isRecord(frame))
    refuse("invalid", "Acks, read marks and typing go one by one, not in an array with verbs.");
  if (frame.type === ROUTED && caller.participant.kind !== "person")
    refuse("forbidden", `Only the server sends ${ROUTED} to others than people. Send approval.route.`);
  mustSpeak(caller);
  if (caller.participant.kind === "agent" && !AGENT_VERBS.has(type.verb))
    refuse(
      "forbidden",
      "An agent's token says, edits and deletes the agent's own messages and opens a direct space with a person. The rest is its office's.",
    );
  const { db, clock } = ledger;
  const now = clock.now();
  const workspace = workspaceOf(db);
  const event = parseVerb(type.verb, frame, { workspaceId: workspace.id, ts: new Date(now).toISOString() });
  const sender = caller.participant.id;
  const hash = bodyHash(event);

  const earlier = writeByKey(db, sender, event.idempotency_key);
  if (earlier) {
    if (earlier.hash !== hash)
      refuse("conflict", "This idempotency_key was used for something else. Use a new key for a new event.");
    out.receipts.push({
      ...receiptOf(event.id, earlier.id, earlier.seq, JSON.parse(earlier.receipt)),
      duplicate: true,
    });
    return;
  }
  if (factById(db, event.id))
    refuse("conflict", "An event with this id is in the log already, under another key. Mint a new id.");

  const actor = actorOf(db, caller, frame, event);
  const mark = { id: event.id, sender, key: event.idempotency_key, hash };
  const opened = openWriter(ledger, { caller, actor, workspace, now, mark }, out);
  const unlogged = handlerOf(event.type)(opened.writer, event);
  const { main } = opened;
  out.receipts.push(
    main.row
      ? receiptOf(event.id, main.row.id, main.row.seq, main.receipt)
      : receiptOf(event.id, event.id, undefined, unlogged ?? {}),
  );
}

interface Opening {
  caller: Caller;
  actor: Actor;
  workspace: Workspace;
  now: number;
  /** The frame's own id and key, for the main fact. */
  mark?: { id: string; sender: string; key: string; hash: string };
}

/** A writer over the current head; what it appends goes to `out`. The caller holds the transaction. */
function openWriter({ db, clock, post }: Ledger, of: Opening, out: Written) {
  const main: { row?: LogRow; receipt: Extras } = { receipt: {} };
  let head = headSeq(db);
  const writer: Writer = {
    caller: of.caller,
    db,
    clock,
    now: of.now,
    workspace: of.workspace,
    actor: of.actor,
    toBoard: (kind, body) => post("board", kind, body),
    toOffice: (handle, kind, body) => post(`office/${handle}`, kind, body),
    afterwards: (effect) => void out.effects.push(effect),
    append(type, decided) {
      head += 1;
      const { mark } = of;
      const isMain = decided.main === true && mark !== undefined;
      const row = append(db, head, {
        id: isMain ? mark.id : clock.mint("evt"),
        type,
        at: of.now,
        spaceId: decided.spaceId,
        runId: decided.runId,
        actor: decided.actor ?? of.actor,
        body: decided.body,
        mark: isMain ? { ...mark, receipt: JSON.stringify(decided.receipt ?? {}) } : undefined,
      });
      if (isMain) {
        main.row = row;
        main.receipt = decided.receipt ?? {};
      }
      if (decided.line && decided.spaceId) addLine(db, decided.spaceId, head);
      out.rows.push(row);
      return row;
    },
  };
  return { writer, main };
}

/** What a caller causes without a verb of its own, such as a hello that declares agents: no key, no receipt. */
export function writeAside(ledger: Ledger, caller: Caller, work: (w: Writer) => void): Written {
  const { kind, id } = caller.participant;
  return writeAs(ledger, caller, { kind, id }, work);
}

/** The room itself, for what it does of its own accord: it is nobody, has no token and no standing. */
const ROOM_ITSELF: Caller = {
  participant: {
    id: "system",
    // The only kind without any right of people; no row and no run names this id.
    kind: "agent",
    name: "system",
    role: null,
    harness_id: null,
    time_zone: null,
    context_lines: null,
    context_chars: null,
    can: null,
    gone_at: null,
    cursor: 0,
    created_at: 0,
    withdrawn: 0,
    removed_at: null,
    office_handle: null,
    office_paused: 0,
    office_hears: 0,
  },
  tokenId: "",
  scopes: [],
  origin: "",
};

/** What the room does without a caller, such as an alarm's work: the actor of its facts is the system. */
export function writeAsRoom(ledger: Ledger, work: (w: Writer) => void): Written {
  return writeAs(ledger, ROOM_ITSELF, { kind: "system", id: "system" }, work);
}

/** What a person's agent says through its office: as with its own token, but no pace holds it (REPORT-3). */
export function writeAsAgent(ledger: Ledger, agent: ParticipantRow, frame: object): Written {
  const caller: Caller = { participant: agent, tokenId: "", scopes: ["agent"], origin: "" };
  const out: Written = { receipts: [], rows: [], effects: [] };
  ledger.storage.transactionSync(() => writeOne(ledger, caller, frame, out));
  return out;
}

/**
 * What the office's harness tells of one of its agents, or of itself (CHAT-2): its main fact has a key, as the
 * frame of any harness would, so that a replay reads it alike.
 */
export function writeAsOffice(
  ledger: Ledger,
  harness: ParticipantRow,
  actor: Actor,
  work: (w: Writer) => void,
): Written {
  const caller: Caller = { participant: harness, tokenId: "", scopes: ["harness"], origin: "" };
  const id = ledger.clock.mint("evt");
  return writeAs(ledger, caller, actor, work, { id, sender: harness.id, key: id, hash: "" });
}

function writeAs(
  ledger: Ledger,
  caller: Caller,
  actor: Actor,
  work: (w: Writer) => void,
  mark?: Opening["mark"],
): Written {
  const out: Written = { receipts: [], rows: [], effects: [] };
  ledger.storage.transactionSync(() => {
    const opening = { caller, actor, workspace: workspaceOf(ledger.db), now: ledger.clock.now() };
    work(openWriter(ledger, { ...opening, ...(mark ? { mark } : {}) }, out).writer);
  });
  return out;
}

export function receiptOf(of: string, id: string, seq: number | undefined, extras: Extras): Receipt {
  return { v: 1, type: "receipt", of, id, ...(seq === undefined ? {} : { seq }), ...extras };
}

/** The hash of what a sender asked for: the parsed event without what is stamped (ENV-4). */
function bodyHash(event: Verb): string {
  const {
    id: _id,
    ts: _ts,
    v: _v,
    workspace_id: _ws,
    seq: _seq,
    actor: _actor,
    idempotency_key: _key,
    // The hash is in exports, and a harness's own token must not be guessed from it (APR-10).
    resume_token: _token,
    ...body
  }: Verb & { resume_token?: string | undefined } = event;
  return createHash("sha256").update(canonicalJson(body)).digest("base64");
}

/** Who acts: the caller, or one of its agents that it claims to be or whose run it names (ENV-5). */
function actorOf(db: Db, caller: Caller, frame: Json, event: Verb): Actor {
  const me = caller.participant;
  const self: Actor = {
    kind: me.kind,
    id: me.id,
    ...(me.kind === "agent" && me.harness_id !== null ? { harness_id: me.harness_id } : {}),
  };
  const claim = isRecord(frame.actor) ? frame.actor : undefined;
  if (claim?.kind === "agent" && claim.id !== me.id) {
    const agent = typeof claim.id === "string" ? participant(db, claim.id) : undefined;
    if (me.kind !== "harness" || agent?.harness_id !== me.id || agent.withdrawn || agent.removed_at !== null)
      refuse(
        "forbidden",
        "You may act as yourself or as an agent that you declared. Declare it first, with agent.declare.",
      );
    return { kind: "agent", id: agent.id, harness_id: me.id };
  }
  if (me.kind !== "harness" || event.run_id === undefined) return self;
  const named = run(db, event.run_id);
  if (named?.harness_id !== me.id || named.agent_id === me.id) return self;
  // A run outlives its agent: naming an old one does not bring a withdrawn agent back.
  const runs = participant(db, named.agent_id);
  if (!runs || isGone(runs)) return self;
  return { kind: "agent", id: named.agent_id, harness_id: me.id };
}
