/**
 * The Room: one object a workspace (SPEC: room.md). A thin shell: it authenticates, hands work to the write
 * path and the reads, and sends what follows. Nothing it keeps in memory is the only copy.
 */
import { DurableObject } from "cloudflare:workers";
import type * as z from "zod";
import type * as http from "../../src/shared/wire/http.ts";
import { errorOf, type Receipt, type Refusal, type Welcome } from "../../src/shared/wire/index.ts";
import type { RowCounts } from "../kit/db.ts";
import type { Letter } from "../kit/outbox.ts";
import { faultOf, type Result, refuse } from "../kit/result.ts";
import type { SignedUrl } from "../kit/sign.ts";
import { boardOf, officeOf } from "../objects.ts";
import type { Address, Identity, LiveChange, RoomMessage } from "../office/letters.ts";
import { mustAdminister } from "./access/authenticate.ts";
import { type Proof, type Redeemed, redeem, redeemSignIn } from "./access/links.ts";
import {
  type ManageAnswer,
  type ManageArgs,
  type ManageName,
  manage,
  openWorkspace,
} from "./access/manage.ts";
import { greet, parseHello } from "./connect/hello.ts";
import { type Core, openCore } from "./core.ts";
import { openExport } from "./export/export.ts";
import { exportStream } from "./export/stream.ts";
import { beginFile, type FileTicket, finishFile } from "./import/files.ts";
import { beginImport, type Imported, type Importing, takeLines } from "./import/import.ts";
import { type AgentAct, type AgentActAnswer, type AgentActArgs, actAsAgent } from "./office/agent.ts";
import { countWrite, identityOf, unknownOf } from "./office/identity.ts";
import { roomMessage } from "./office/look-up.ts";
import { hear } from "./office/runs.ts";
import { takeLetters } from "./office/take.ts";
import { idOf } from "./parse.ts";
import type { ReadAnswer, ReadArgs, ReadName } from "./reads/index.ts";
import { noteFollower } from "./store/followers.ts";
import type { Credential } from "./types.ts";
import * as uploads from "./uploads.ts";
import { write } from "./write.ts";
import type { Ledger, Written } from "./writer.ts";

/** The longest that `GET /v1/events?wait=` is held (HTTP-3). */
const MAX_WAIT_MS = 25_000;

export class Room extends DurableObject<Env> {
  /** Milliseconds as the world has them: tests put a clock of their own here. */
  wall: () => number = () => Date.now();
  /** Hands letters to the board or an office: tests put a post of their own here. */
  send = (workspaceId: string, target: string, letters: Letter[]): Promise<boolean> =>
    sendFromRoom(this.env, workspaceId, target as Address, letters);
  readonly #core: Core;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#core = openCore({
      ctx,
      env: () => this.env,
      wall: () => this.wall(),
      send: (workspaceId, target, letters) => this.send(workspaceId, target, letters),
      watched: (workspaceId) => boardOf(env, workspaceId).watched(),
    });
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair("ping", "pong"));
    if (!this.#core.made()) return;
    this.#core.migrate();
    this.#core.alarms.rearm();
    // Sockets that slept are at the head as it is now: looked at after a write they would miss it (CONN-9).
    this.#core.connections.all();
  }

  // ---- the workspace's beginning -------------------------------------------------------------------

  /** Makes the workspace, its owner and the owner's token (AUTH-5). Only the gateway's admin route calls it. */
  createWorkspace(
    id: string,
    asked: z.infer<typeof http.createWorkspace>,
  ): Result<z.infer<typeof http.workspaceCreated>> {
    return this.#core.settle(() => {
      this.#core.migrate();
      return this.ctx.storage.transactionSync(() => openWorkspace(this.#core.ledger(), id, asked));
    });
  }

  /** Makes an empty workspace that takes an export of itself (LOG-6). Only the gateway's admin routes call these. */
  importBegin(id: string): Result<Importing> {
    return this.#core.settle(() => {
      this.#core.migrate();
      return this.ctx.storage.transactionSync(() => beginImport(this.#core.db, id));
    });
  }

  importLines(from: number, text: string): Result<Importing | Imported> {
    return this.#core.settle(() => {
      const { answer, alarms } = takeLines(this.#importing(), from, text);
      // The log has times now, after which the clock must go on (ENV-1).
      if ("token" in answer) this.#core.forgetClock();
      for (const { name, at } of alarms) this.#core.alarms.by(name, at);
      return answer;
    });
  }

  importFile(sha256: string): Result<FileTicket> {
    return this.#core.settle(() => {
      const { ticket, effects } = beginFile(this.#importing(), sha256);
      this.#core.settled({ receipts: [], rows: [], effects });
      return ticket;
    });
  }

  importFileInParts(key: string, uploadId: string): Result<null> {
    return this.#core.settle(() => uploads.noteParts(this.#core.db, key, uploadId));
  }

  /** Whether the bytes were those of the hash. */
  importFileFinish(sha256: string, stored: { key: string; sha256: string }): Result<boolean> {
    return this.#core.settle(() => {
      const { taken, effects } = finishFile(this.#importing(), sha256, stored);
      this.#core.settled({ receipts: [], rows: [], effects });
      return taken;
    });
  }

  /** Letters from the board and the offices, each taken once (TEAM-2, CHAT-2). */
  take(source: Address, letters: Letter[]): boolean {
    if (!this.#core.made()) return true;
    const { written, all } = takeLetters(this.#core.ledger(), source, letters, (e) => this.#core.fault(e));
    this.#core.settled(written);
    return all;
  }

  /** Agents of these runs of the offices were heard: their turns go on (TURN-5). */
  runHeard(runIds: string[]): void {
    if (this.#core.made()) hear(this.#core.ledger(), runIds);
  }

  /** A message as the agent of a person of the team may see it (CHAT-1). */
  roomMessage(handle: string, spaceId: string, messageId: string): Result<RoomMessage> {
    return this.#core.settle(() => roomMessage(this.#core.ledger().db, handle, spaceId, messageId));
  }

  /** What an office does and reads for its person, as their agent's own token would (CHAT-2, CTX-8). */
  asAgent<N extends AgentAct>(
    handle: string,
    name: N,
    args: AgentActArgs<N>,
  ): Promise<Result<AgentActAnswer<N>>> {
    return this.#core.commits.run(() => this.#core.settle(() => actAsAgent(this.#core, handle, name, args)));
  }

  /** Something of the office changed: who watches is told (QUEUE-4). Answers how many do. */
  live(change: LiveChange): { watchers: number } {
    return { watchers: this.#core.made() ? this.#core.sockets.officeChanged(change) : 0 };
  }

  /** Who a credential is, for the routes of the board and the offices: they decide rights (AUTH-2, TEAM-2). */
  identify(credential: Credential, writes = false): Result<Identity> {
    return this.#core.settle(() => {
      const caller = this.#core.caller(credential);
      const found = identityOf(caller);
      if (writes) countWrite(this.#core.ledger(), caller);
      return found;
    });
  }

  /** The same of somebody who opens a socket at an office: when their way in ends, that office is told (AUTH-3). */
  identifyFollower(credential: Credential, handle: string): Result<Identity> {
    return this.#core.settle(() => {
      const by = identityOf(this.#core.caller(credential));
      if (by.kind === "person") noteFollower(this.#core.db, by.participantId, handle);
      return by;
    });
  }

  /** Which of these are no people or spaces of the workspace: a team's config names none of them (TEAM-1). */
  known(asked: { users: string[]; spaces: string[] }): { users: string[]; spaces: string[] } {
    return this.#core.made() ? unknownOf(this.#core.db, asked) : asked;
  }

  #importing(): Ledger {
    if (!this.#core.made())
      refuse("not_found", "Nothing is imported here. Begin with POST /v1/workspaces {import}.");
    return this.#core.ledger();
  }

  // ---- what the gateway calls ----------------------------------------------------------------------

  /** The same write path as a socket's frames (HTTP-1): all or nothing. */
  async write(credential: Credential, frames: unknown[]): Promise<Result<Receipt[]>> {
    return this.#core.commits.run(() => {
      const failedAt = { index: 0 };
      try {
        const written = write(this.#core.ledger(), this.#core.caller(credential), frames, failedAt);
        this.#core.settled(written);
        return { ok: true, value: written.receipts };
      } catch (error) {
        return { ...faultOf(error, (e) => this.#core.fault(e)), of: idOf(frames[failedAt.index]) };
      }
    });
  }

  /** ack, read and typing over HTTP (CONN-4). */
  signal(credential: Credential, frame: unknown): Result<null> {
    return this.#core.settle(() => {
      this.#core.sockets.signal(this.#core.connected(credential), frame);
      this.#core.connections.flush();
      return null;
    }, frame);
  }

  hello(credential: Credential, frame: unknown): Result<Welcome> {
    return this.#core.settle(() => {
      const caller = this.#core.connected(credential);
      const { welcome, written } = greet(this.#core.ledger(), caller, parseHello(frame));
      this.#core.settled(written);
      return welcome;
    }, frame);
  }

  read<N extends ReadName>(credential: Credential, name: N, args: ReadArgs<N>): Result<ReadAnswer<N>> {
    return this.#core.settle(() => this.#core.read(this.#core.caller(credential), name, args));
  }

  /** The whole workspace as it stands now, for its owners and admins, made as it is read (LOG-6). */
  export(credential: Credential): Result<ReadableStream> {
    return this.#core.settle(() => {
      mustAdminister(this.#core.caller(credential));
      const parts = openExport(this.#core.db, this.#core.ledger().clock.now());
      return exportStream(parts, (error) => this.#core.fault(error));
    });
  }

  /** A file of the workspace by its hash, for those who export it (LOG-6). */
  exportFile(credential: Credential, sha256: string): Result<{ key: string; byte_size: number }> {
    return this.#core.settle(() => {
      mustAdminister(this.#core.caller(credential));
      return uploads.fileByHash(this.#core.db, sha256);
    });
  }

  /** `GET /v1/events`, held until something comes or the time is up (HTTP-3). */
  async events(
    credential: Credential,
    args: ReadArgs<"events">,
    waitMs: number,
  ): Promise<Result<ReadAnswer<"events">>> {
    const until = this.wall() + Math.min(waitMs, MAX_WAIT_MS);
    let after = args.after;
    for (;;) {
      // Who is asking is looked at again after each wait: the token may have been revoked meanwhile.
      const found = this.read(credential, "events", { ...args, after });
      if (!found.ok || found.value.events.length > 0) return found;
      after = found.value.next_after;
      const left = until - this.wall();
      if (after < found.value.head_seq) continue;
      if (left <= 0) return found;
      await this.#core.waiting.next(left);
    }
  }

  manage<N extends ManageName>(
    credential: Credential,
    name: N,
    args: ManageArgs<N>,
  ): Result<ManageAnswer<N>> {
    return this.#core.settle(() => {
      const { answer, written } = this.ctx.storage.transactionSync(() =>
        manage(this.#core.ledger(), this.#core.caller(credential), name, args),
      );
      if (written) this.#core.settled(written);
      return answer;
    });
  }

  redeemInvite(proof: Proof, asked: z.infer<typeof http.redeemInvite>): Result<Redeemed> {
    return this.#redeem(() => redeem(this.#core.ledger(), proof, asked));
  }

  redeemSignIn(proof: Proof, asked: z.infer<typeof http.redeemSignInLink>): Result<Redeemed> {
    return this.#redeem(() => redeemSignIn(this.#core.ledger(), proof, asked));
  }

  /** Rows read and written since the object woke: for the tests of PERF-1. */
  rowCounts(): RowCounts {
    return { ...this.#core.db.counts };
  }

  // ---- attachments ---------------------------------------------------------------------------------

  /** Before the first byte of an upload is taken (ATT-1). */
  uploadBegin(credential: Credential, asked: uploads.UploadAsked): Result<uploads.UploadTicket> {
    return this.#core.settle(() => {
      this.#core.speaker(credential);
      const { ticket, written } = uploads.beginUpload(this.#core.ledger(), asked);
      this.#core.settled(written);
      return ticket;
    });
  }

  /** Before the first part of an upload in parts. */
  uploadInParts(credential: Credential, key: string, uploadId: string): Result<null> {
    return this.#core.settle(() => {
      this.#core.speaker(credential);
      return uploads.noteParts(this.#core.db, key, uploadId);
    });
  }

  uploadFinish(credential: Credential, file: uploads.StoredFile): Result<uploads.Finished> {
    return this.#core.settle(() => {
      const { finished, written } = uploads.finishUpload(
        this.#core.ledger(),
        this.#core.speaker(credential),
        file,
      );
      this.#core.settled(written);
      return finished;
    });
  }

  /** A file's transcript, from the gateway alone (ATT-7). */
  transcribed(attachmentId: string, transcript: string): Result<null> {
    return this.#core.settle(() => {
      this.#core.settled(uploads.takeTranscript(this.#core.ledger(), attachmentId, transcript));
      return null;
    });
  }

  file(credential: Credential, asked: uploads.FileAsked): Result<uploads.Served> {
    return this.#core.settle(() => {
      const caller = this.#core.caller(credential);
      return uploads.fileFor(this.#core.round(), caller, asked);
    });
  }

  fileUrl(credential: Credential, attachmentId: string): Result<SignedUrl> {
    return this.#core.settle(() => {
      const caller = this.#core.caller(credential);
      return uploads.freshUrl(this.#core.round(), caller, attachmentId);
    });
  }

  // ---- sockets -------------------------------------------------------------------------------------

  /** The upgrade, authenticated before it is accepted (CONN-1). The gateway has written these headers. */
  override fetch(request: Request): Response {
    const result = this.#core.settle(() =>
      this.#core.connected({
        tokenId: request.headers.get("bullpen-token-id") ?? "",
        secretHash: request.headers.get("bullpen-secret-hash") ?? "",
        origin: request.headers.get("bullpen-origin") ?? "",
      }),
    );
    if (!result.ok) return refusalResponse(result.error);
    const { 0: client, 1: server } = new WebSocketPair();
    this.#core.sockets.accept(server, result.value);
    this.#core.armSockets();
    const headers = new Headers();
    if (request.headers.get("bullpen-subprotocol")) headers.set("sec-websocket-protocol", "bullpen.v1");
    return new Response(null, { status: 101, webSocket: client, headers });
  }

  override webSocketMessage(ws: WebSocket, data: string | ArrayBuffer): void {
    void this.#core.commits.run(() => this.#core.sockets.message(ws, data));
  }

  override webSocketClose(ws: WebSocket, code: number, reason: string): void {
    this.#core.sockets.closed(ws);
    try {
      // 1005, 1006 and 1015 are never sent; unanswered, the client would wait ten seconds and see 1006.
      ws.close(code === 1005 || code === 1006 || code === 1015 ? 1000 : code, reason);
    } catch {
      // Both sides are closed already.
    }
    this.#core.connections.flush();
  }

  override webSocketError(ws: WebSocket): void {
    this.#core.sockets.closed(ws);
    this.#core.connections.flush();
  }

  override alarm(): Promise<void> {
    return this.#core.alarm();
  }

  #redeem(work: () => { answer: Redeemed; written?: Written }): Result<Redeemed> {
    return this.#core.settle(() => {
      if (!this.#core.made())
        refuse("gone", "This link was used, has expired or was withdrawn. Ask for a new one.");
      const { answer, written } = this.ctx.storage.transactionSync(work);
      if (written) this.#core.settled(written);
      return answer;
    });
  }
}

function refusalResponse(refusal: Refusal): Response {
  const body = errorOf(refusal);
  return Response.json(body, { status: refusal.code === "unauthenticated" ? 401 : 403 });
}

/** The room's letters go to the board and to the offices of its own workspace. */
async function sendFromRoom(
  env: Env,
  workspaceId: string,
  target: Address,
  letters: Letter[],
): Promise<boolean> {
  if (target === "board") return boardOf(env, workspaceId).take("room", letters);
  return officeOf(env, workspaceId, target.slice("office/".length)).take("room", letters);
}
