/**
 * What an office does in rooms for its person, whom it runs itself (CHAT-2, CTX-8): the same writes, reads and files
 * as with the agent's own token, by the same rules. Only the workspace's own offices come here.
 */
import { createHash } from "node:crypto";
import type { Verb } from "../../../src/shared/wire/index.ts";
import { notFound, refuse } from "../../kit/result.ts";
import type { Core } from "../core.ts";
import type { ReadAnswer, ReadArgs } from "../reads/index.ts";
import { approval } from "../store/approvals.ts";
import { mayUse } from "../store/files.ts";
import { factAt, factById, writeByKey } from "../store/log.ts";
import { wordsOf } from "../store/messages.ts";
import { officeAgent, officeHarness, roomRun } from "../store/office.ts";
import { isGone } from "../store/participants.ts";
import { run } from "../store/runs.ts";
import { stay } from "../store/spaces.ts";
import type { Caller } from "../types.ts";
import * as uploads from "../uploads.ts";
import { request } from "../verbs/approvals.ts";
import { cancelAsk } from "../verbs/settle.ts";
import { write, writeAsOffice } from "../write.ts";
import { type Ledger, noneWritten, type Written } from "../writer.ts";
import { type AskStands, askStands } from "./stands.ts";

/** An ask for leave; asked again by the same id it is the same (APR-1). */
export interface AgentAsk
  extends Pick<Verb<"approval.request">, "approval_id" | "action" | "risk" | "expires_in"> {
  question: string;
  effect?: string | undefined;
  /** The office's turn in the room. */
  run: string;
  /** Comes back with the decision. */
  state: string;
}

/** The person's agent as the caller that its own token would be. */
export function agentCaller({ db }: Pick<Ledger, "db">, handle: string): Caller {
  const agent = officeAgent(db, handle);
  if (!agent || isGone(agent)) notFound("participant");
  return { participant: agent, tokenId: "", scopes: ["agent"], origin: "" };
}

export type AgentFile = Pick<uploads.Served, "key" | "filename" | "mime_type" | "byte_size">;

interface Did<T> {
  answer: T;
  written?: Written;
}
type Act<A, T> = (ledger: Ledger, handle: string, args: A, core: Core) => Did<T>;

/** Says, edits, deletes: the frames of an agent's token (HTTP-1, TEAM-2). */
const frames: Act<{ frames: unknown[] }, Written["receipts"]> = (ledger, handle, { frames: given }) => {
  const written = write(ledger, agentCaller(ledger, handle), given, { index: 0 });
  return { answer: written.receipts, written };
};

/** What the agent has said under a key, if anything: what goes along with a message is then not made anew. */
const said: Act<{ key: string }, { message_id: string; space_id: string } | undefined> = (
  ledger,
  handle,
  { key },
) => {
  const { db } = ledger;
  const before = writeByKey(db, agentCaller(ledger, handle).participant.id, key);
  const row = before && factById(db, before.id);
  const { message_id } = JSON.parse(before?.receipt ?? "{}") as { message_id?: string };
  if (!row?.space_id || message_id === undefined) return { answer: undefined };
  return { answer: { message_id, space_id: row.space_id } };
};

/** The space of a message that the agent may see, for an answer to it. */
const spaceOf: Act<{ message_id: string }, string> = ({ db }, handle, { message_id }) => {
  const agent = officeAgent(db, handle);
  const words = wordsOf(db, message_id);
  const spaceId = words && factAt(db, words.seq)?.space_id;
  if (!agent || !spaceId || !stay(db, spaceId, agent.id)) notFound("message");
  return { answer: spaceId };
};

const ask: Act<AgentAsk, AskStands> = (ledger, handle, { run: officeRun, state, ...asked }) => {
  const { db } = ledger;
  const { participant: agent } = agentCaller(ledger, handle);
  const harness = officeHarness(db);
  const turn = run(db, roomRun(db, officeRun));
  if (!harness || !turn || turn.agent_id !== agent.id)
    refuse("run_required", "Leave is asked for in a conversation of a room. Ask a human instead, with ask.");
  const actor = { kind: "agent", id: agent.id, harness_id: harness.id } as const;
  const key = createHash("sha256").update(asked.approval_id).digest("hex");
  const written = writeAsOffice(ledger, harness, actor, (w) => {
    request(w, {
      v: 1,
      type: "approval.request",
      id: w.clock.mint("evt"),
      idempotency_key: key,
      workspace_id: w.workspace.id,
      ts: new Date(w.now).toISOString(),
      actor,
      run_id: turn.id,
      resume_token: state,
      ...asked,
    });
  });
  return { answer: standsOf(ledger, asked.approval_id), written };
};

/** The agent wants no decision any more: it was interrupted. */
const unask: Act<{ approval_id: string }, AskStands | undefined> = (ledger, handle, { approval_id }) => {
  const { participant: agent } = agentCaller(ledger, handle);
  const harness = officeHarness(ledger.db);
  const row = approval(ledger.db, approval_id);
  if (!harness || !row || row.agent_id !== agent.id) return { answer: undefined };
  const actor = { kind: "agent", id: agent.id, harness_id: harness.id } as const;
  const written =
    row.state === "pending"
      ? writeAsOffice(ledger, harness, actor, (w) => cancelAsk(w, row, "harness", true))
      : noneWritten();
  return { answer: standsOf(ledger, approval_id), written };
};

function standsOf({ db }: Pick<Ledger, "db">, id: string): AskStands {
  const row = approval(db, id);
  if (!row) notFound("approval");
  return askStands(db, row);
}

const uploadBegin: Act<uploads.UploadAsked, uploads.UploadTicket> = (ledger, handle, asked) => {
  agentCaller(ledger, handle);
  const { ticket, written } = uploads.beginUpload(ledger, asked);
  return { answer: ticket, written };
};

const uploadFinish: Act<uploads.StoredFile, uploads.Finished> = (ledger, handle, file) => {
  const { finished, written } = uploads.finishUpload(ledger, agentCaller(ledger, handle), file);
  return { answer: finished, written };
};

/** Where the bytes of a file lie that the agent may see (ATT-5). */
const file: Act<{ attachment_id: string }, AgentFile> = (ledger, handle, { attachment_id }) => {
  const { db } = ledger;
  if (!mayUse(db, agentCaller(ledger, handle).participant, attachment_id)) notFound("attachment");
  const row = db.one<AgentFile>(
    `SELECT b.r2_key AS key, a.filename, b.mime_type, b.byte_size
     FROM attachments a JOIN blobs b ON b.sha256 = a.sha256 WHERE a.id = ? AND b.missing = 0`,
    attachment_id,
  );
  return { answer: row ?? notFound("attachment") };
};

const search: Act<ReadArgs<"search">, ReadAnswer<"search">> = (ledger, handle, args, core) => ({
  answer: core.read(agentCaller(ledger, handle), "search", args),
});
const files: Act<ReadArgs<"files">, ReadAnswer<"files">> = (ledger, handle, args, core) => ({
  answer: core.read(agentCaller(ledger, handle), "files", args),
});

const ACTS = { frames, said, spaceOf, ask, unask, uploadBegin, uploadFinish, file, files, search };
type Acts = typeof ACTS;
export type AgentAct = keyof Acts;
export type AgentActArgs<N extends AgentAct> = Parameters<Acts[N]>[2];
export type AgentActAnswer<N extends AgentAct> = ReturnType<Acts[N]>["answer"];

/** Does one of them, and what follows it. */
export function actAsAgent<N extends AgentAct>(
  core: Core,
  handle: string,
  name: N,
  args: AgentActArgs<N>,
): AgentActAnswer<N> {
  const act = ACTS[name] as unknown as Act<AgentActArgs<N>, AgentActAnswer<N>>;
  const { answer, written } = act(core.ledger(), handle, args, core);
  if (written) core.settled(written);
  return answer;
}
