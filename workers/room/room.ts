/**
 * The Room: one object a workspace (SPEC: room.md). A thin shell: it authenticates, hands work to the write
 * path and the reads, and sends what follows. Nothing it keeps in memory is the only copy.
 */
import { DurableObject } from "cloudflare:workers";
import type * as z from "zod";
import type * as http from "../../src/shared/wire/http.ts";
import { errorOf, type Receipt, type Refusal, type Welcome } from "../../src/shared/wire/index.ts";
import { openAlarms } from "../kit/alarms.ts";
import { type Db, openDb, type RowCounts } from "../kit/db.ts";
import { openGroupCommit } from "../kit/group-commit.ts";
import { isMade, migrate } from "../kit/migrations.ts";
import type { Letter } from "../kit/outbox.ts";
import { faultOf, Refused, type Result } from "../kit/result.ts";
import type { SignedUrl } from "../kit/sign.ts";
import type { Identity } from "../office/letters.ts";
import { authenticate, mustAdminister, mustSpeak, unauthenticated } from "./access/authenticate.ts";
import { type Proof, type Redeemed, redeem, redeemSignIn } from "./access/links.ts";
import {
  type ManageAnswer,
  type ManageArgs,
  type ManageName,
  manage,
  openWorkspace,
} from "./access/manage.ts";
import { openConnections } from "./connect/connections.ts";
import { greet, parseHello } from "./connect/hello.ts";
import { openSockets } from "./connect/sockets.ts";
import { openRound, type Round, viewerOf } from "./deliver/viewer.ts";
import { openExport } from "./export/export.ts";
import { exportStream } from "./export/stream.ts";
import { type Clock, openClock } from "./ids.ts";
import { beginFile, type FileTicket, finishFile } from "./import/files.ts";
import { beginImport, type Imported, type Importing, takeLines } from "./import/import.ts";
import { passOnOverdue } from "./judge/pickups.ts";
import { handUnclaimed } from "./judge/stillness.ts";
import { endOverdueRuns } from "./judge/watch.ts";
import { openLimits } from "./limits.ts";
import { identityOf, unknownOf } from "./office/identity.ts";
import { idOf } from "./parse.ts";
import { type ReadAnswer, type ReadArgs, type ReadName, read } from "./reads/index.ts";
import { ROOM_MIGRATIONS } from "./schema.ts";
import { workspaceOf } from "./store/participants.ts";
import type { Caller, Credential } from "./types.ts";
import * as uploads from "./uploads.ts";
import { expireAsks } from "./verbs/settle.ts";
import { openWaiting } from "./waiting.ts";
import { write, writeAsRoom } from "./write.ts";
import type { Ledger, Writer, Written } from "./writer.ts";

/** The longest that `GET /v1/events?wait=` is held (HTTP-3). */
const MAX_WAIT_MS = 25_000;

export class Room extends DurableObject<Env> {
  /** Milliseconds as the world has them: tests put a clock of their own here. */
  wall: () => number = () => Date.now();
  readonly #db: Db;
  readonly #alarms;
  readonly #connections;
  readonly #sockets;
  readonly #limits = openLimits();
  #clock: Clock | undefined;
  readonly #waiting = openWaiting();
  readonly #commits = openGroupCommit({
    written: () => this.#db.counts.written,
    durable: () => this.ctx.storage.sync(),
    flush: () => this.#flush(),
    hold: (until) => this.ctx.waitUntil(until),
  });

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#db = openDb(ctx.storage.sql);
    this.#alarms = openAlarms(ctx.storage, this.#db);
    this.#connections = openConnections(ctx, this.#db, (error) => this.#fault(error));
    this.#sockets = openSockets({
      db: this.#db,
      connections: this.#connections,
      ledger: () => this.#ledger(),
      round: () => this.#round(),
      wall: () => this.wall(),
      settled: (written) => this.#settled(written),
      fault: (error) => this.#fault(error),
    });
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair("ping", "pong"));
    if (isMade(this.#db)) {
      migrate(ctx.storage, this.#db, ROOM_MIGRATIONS);
      this.#alarms.rearm();
      // Sockets that slept are at the head as it is now: looked at after a write they would miss it (CONN-9).
      this.#connections.all();
    }
  }

  // ---- the workspace's beginning -------------------------------------------------------------------

  /** Makes the workspace, its owner and the owner's token (AUTH-5). Only the gateway's admin route calls it. */
  createWorkspace(
    id: string,
    asked: z.infer<typeof http.createWorkspace>,
  ): Result<z.infer<typeof http.workspaceCreated>> {
    return this.#settle(() => {
      migrate(this.ctx.storage, this.#db, ROOM_MIGRATIONS);
      return this.ctx.storage.transactionSync(() => openWorkspace(this.#ledger(), id, asked));
    });
  }

  /** Makes an empty workspace that takes an export of itself (LOG-6). Only the gateway's admin routes call these. */
  importBegin(id: string): Result<Importing> {
    return this.#settle(() => {
      migrate(this.ctx.storage, this.#db, ROOM_MIGRATIONS);
      return this.ctx.storage.transactionSync(() => beginImport(this.#db, id));
    });
  }

  importLines(from: number, text: string): Result<Importing | Imported> {
    return this.#settle(() => {
      const { answer, alarms } = takeLines(this.#importing(), from, text);
      // The log has times now, after which the clock must go on (ENV-1).
      if ("token" in answer) this.#clock = undefined;
      for (const { name, at } of alarms) this.#alarms.by(name, at);
      return answer;
    });
  }

  importFile(sha256: string): Result<FileTicket> {
    return this.#settle(() => {
      const { ticket, effects } = beginFile(this.#importing(), sha256);
      this.#settled({ receipts: [], rows: [], effects });
      return ticket;
    });
  }

  importFileInParts(key: string, uploadId: string): Result<null> {
    return this.#settle(() => uploads.noteParts(this.#db, key, uploadId));
  }

  /** Whether the bytes were those of the hash. */
  importFileFinish(sha256: string, stored: { key: string; sha256: string }): Result<boolean> {
    return this.#settle(() => {
      const { taken, effects } = finishFile(this.#importing(), sha256, stored);
      this.#settled({ receipts: [], rows: [], effects });
      return taken;
    });
  }

  /** Letters from the board and the offices, each taken once (TEAM-2, CHAT-2). */
  take(_source: string, _letters: Letter[]): void {
    // Filled in with the office.
  }

  /** Who a credential is, for the routes of the board and the offices: they decide rights (AUTH-2, TEAM-2). */
  identify(credential: Credential): Result<Identity> {
    return this.#settle(() => identityOf(this.#caller(credential)));
  }

  /** Which of these are no people or spaces of the workspace: a team's config names none of them (TEAM-1). */
  known(asked: { users: string[]; spaces: string[] }): { users: string[]; spaces: string[] } {
    return isMade(this.#db) ? unknownOf(this.#db, asked) : asked;
  }

  #importing(): Ledger {
    if (!isMade(this.#db))
      throw new Refused({
        code: "not_found",
        message: "Nothing is imported here. Begin with POST /v1/workspaces {import}.",
      });
    return this.#ledger();
  }

  // ---- what the gateway calls ----------------------------------------------------------------------

  /** The same write path as a socket's frames (HTTP-1): all or nothing. */
  async write(credential: Credential, frames: unknown[]): Promise<Result<Receipt[]>> {
    return this.#commits.run(() => {
      const failedAt = { index: 0 };
      try {
        const written = write(this.#ledger(), this.#caller(credential), frames, failedAt);
        this.#settled(written);
        return { ok: true, value: written.receipts };
      } catch (error) {
        return { ...faultOf(error, (e) => this.#fault(e)), of: idOf(frames[failedAt.index]) };
      }
    });
  }

  /** ack, read and typing over HTTP (CONN-4). */
  signal(credential: Credential, frame: unknown): Result<null> {
    return this.#settle(() => {
      this.#sockets.signal(this.#speaker(credential), frame);
      this.#connections.flush();
      return null;
    }, frame);
  }

  hello(credential: Credential, frame: unknown): Result<Welcome> {
    return this.#settle(() => {
      const { welcome, written } = greet(this.#ledger(), this.#speaker(credential), parseHello(frame));
      this.#settled(written);
      return welcome;
    }, frame);
  }

  read<N extends ReadName>(credential: Credential, name: N, args: ReadArgs<N>): Result<ReadAnswer<N>> {
    return this.#settle(() => this.#read(this.#caller(credential), name, args));
  }

  /** The whole workspace as it stands now, for its owners and admins, made as it is read (LOG-6). */
  export(credential: Credential): Result<ReadableStream> {
    return this.#settle(() => {
      mustAdminister(this.#caller(credential));
      const parts = openExport(this.#db, this.#ledger().clock.now());
      return exportStream(parts, (error) => this.#fault(error));
    });
  }

  /** A file of the workspace by its hash, for those who export it (LOG-6). */
  exportFile(credential: Credential, sha256: string): Result<{ key: string; byte_size: number }> {
    return this.#settle(() => {
      mustAdminister(this.#caller(credential));
      return uploads.fileByHash(this.#db, sha256);
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
      await this.#waiting.next(left);
    }
  }

  manage<N extends ManageName>(
    credential: Credential,
    name: N,
    args: ManageArgs<N>,
  ): Result<ManageAnswer<N>> {
    return this.#settle(() =>
      this.ctx.storage.transactionSync(() => {
        const caller = this.#caller(credential);
        const { answer, written } = manage(this.#ledger(), caller, name, args);
        if (written) this.#settled(written);
        return answer;
      }),
    );
  }

  redeemInvite(proof: Proof, asked: z.infer<typeof http.redeemInvite>): Result<Redeemed> {
    return this.#redeem(() => redeem(this.#ledger(), proof, asked));
  }

  redeemSignIn(proof: Proof, asked: z.infer<typeof http.redeemSignInLink>): Result<Redeemed> {
    return this.#redeem(() => redeemSignIn(this.#ledger(), proof, asked));
  }

  /** Rows read and written since the object woke: for the tests of PERF-1. */
  rowCounts(): RowCounts {
    return { ...this.#db.counts };
  }

  // ---- attachments ---------------------------------------------------------------------------------

  /** Before the first byte of an upload is taken (ATT-1). */
  uploadBegin(credential: Credential, asked: uploads.UploadAsked): Result<uploads.UploadTicket> {
    return this.#settle(() => {
      this.#speaker(credential);
      const { ticket, written } = uploads.beginUpload(this.#ledger(), asked);
      this.#settled(written);
      return ticket;
    });
  }

  /** Before the first part of an upload in parts. */
  uploadInParts(credential: Credential, key: string, uploadId: string): Result<null> {
    return this.#settle(() => {
      this.#speaker(credential);
      return uploads.noteParts(this.#db, key, uploadId);
    });
  }

  uploadFinish(credential: Credential, file: uploads.StoredFile): Result<uploads.Finished> {
    return this.#settle(() => {
      const { finished, written } = uploads.finishUpload(this.#ledger(), this.#speaker(credential), file);
      this.#settled(written);
      return finished;
    });
  }

  /** A file's transcript, from the gateway alone (ATT-7). */
  transcribed(attachmentId: string, transcript: string): Result<null> {
    return this.#settle(() => {
      this.#settled(uploads.takeTranscript(this.#ledger(), attachmentId, transcript));
      return null;
    });
  }

  file(credential: Credential, asked: uploads.FileAsked): Result<uploads.Served> {
    return this.#settle(() => {
      const caller = this.#caller(credential);
      return uploads.fileFor(this.#round(), caller, asked);
    });
  }

  fileUrl(credential: Credential, attachmentId: string): Result<SignedUrl> {
    return this.#settle(() => {
      const caller = this.#caller(credential);
      return uploads.freshUrl(this.#round(), caller, attachmentId);
    });
  }

  #sweepBucket(): Promise<void> {
    const { clock } = this.#ledger();
    return uploads.sweepBucket({ db: this.#db, clock, bucket: this.env.FILES, alarms: this.#alarms });
  }

  // ---- sockets -------------------------------------------------------------------------------------

  /** The upgrade, authenticated before it is accepted (CONN-1). The gateway has written these headers. */
  override fetch(request: Request): Response {
    const result = this.#settle(() =>
      this.#speaker({
        tokenId: request.headers.get("bullpen-token-id") ?? "",
        secretHash: request.headers.get("bullpen-secret-hash") ?? "",
        origin: request.headers.get("bullpen-origin") ?? "",
      }),
    );
    if (!result.ok) return refusalResponse(result.error);
    const { 0: client, 1: server } = new WebSocketPair();
    this.#sockets.accept(server, result.value);
    this.#armSockets();
    const headers = new Headers();
    if (request.headers.get("bullpen-subprotocol")) headers.set("sec-websocket-protocol", "bullpen.v1");
    return new Response(null, { status: 101, webSocket: client, headers });
  }

  override webSocketMessage(ws: WebSocket, data: string | ArrayBuffer): void {
    void this.#commits.run(() => this.#sockets.message(ws, data));
  }

  override webSocketClose(ws: WebSocket, code: number, reason: string): void {
    this.#sockets.closed(ws);
    try {
      // 1005, 1006 and 1015 are never sent; unanswered, the client would wait ten seconds and see 1006.
      ws.close(code === 1005 || code === 1006 || code === 1015 ? 1000 : code, reason);
    } catch {
      // Both sides are closed already.
    }
    this.#connections.flush();
  }

  override webSocketError(ws: WebSocket): void {
    this.#sockets.closed(ws);
    this.#connections.flush();
  }

  // ---- time ----------------------------------------------------------------------------------------

  override async alarm(): Promise<void> {
    if (!isMade(this.#db)) return;
    await this.#alarms.fire(this.wall(), async (name) => {
      if (name === "sockets") return this.#closeOverdue();
      if (name === "bucket") return this.#sweepBucket();
      const work = this.#timed[name];
      if (work) this.#settled(writeAsRoom(this.#ledger(), work));
    });
  }

  /** What the room does of its own accord, by the name of its alarm. */
  readonly #timed: Record<string, (w: Writer) => void> = {
    runs: (w) => endOverdueRuns(w),
    pickups: (w) => passOnOverdue(w, (harnessId) => this.#connections.of(harnessId).length > 0),
    approvals: (w) => expireAsks(w),
    still: (w) => handUnclaimed(w, (spaceId) => this.#sockets.typingAt(spaceId)),
  };

  /** Closes who was too slow to say hello or to read (CONN-2, CONN-10). */
  #closeOverdue(): void {
    const now = this.wall();
    const { late, next } = this.#connections.overdue(now);
    for (const conn of late)
      this.#sockets.end(conn, 4408, conn.state.open ? "too slow to read" : "said no hello in time");
    if (next !== undefined) this.#alarms.by("sockets", Math.max(next, now + 1));
    this.#connections.flush();
  }

  #armSockets(): void {
    if (!this.#connections.dueChanged()) return;
    const { next, late } = this.#connections.overdue(this.wall());
    const due = late.length > 0 ? this.wall() : next;
    if (due !== undefined) this.#alarms.by("sockets", due);
  }

  // ---- inside --------------------------------------------------------------------------------------

  /** What follows a committed write: effects, deliveries, and those who wait (NEW-1, CONN-5). */
  #settled({ rows, effects }: Written): void {
    for (const effect of effects) {
      if (effect.kind === "alarm") this.#alarms.by(effect.name, effect.at);
      else this.#sockets.apply(effect);
    }
    if (rows.length === 0) return;
    if (rows.some((r) => /^(participant|agent|settings|space)\./.test(r.type)))
      this.#connections.forgetViewers();
    this.#connections.deliver(this.#round(), rows);
    // Inside a group everything leaves at its end, batched (BATCH-2).
    if (!this.#commits.running) this.#flush();
    this.#waiting.wake();
  }

  #flush(): void {
    this.#connections.flush();
    this.#armSockets();
  }

  #read<N extends ReadName>(caller: Caller, name: N, args: ReadArgs<N>): ReadAnswer<N> {
    const viewer = viewerOf(this.#db, caller.participant, caller.tokenId, caller.origin);
    return read(
      {
        db: this.#db,
        ledger: this.#ledger(),
        caller,
        viewer,
        round: this.#round(),
        online: (id) => this.#connections.of(id).length > 0,
      },
      name,
      args,
    );
  }

  #redeem(work: () => { answer: Redeemed; written?: Written }): Result<Redeemed> {
    return this.#settle(() => {
      if (!isMade(this.#db))
        throw new Refused({
          code: "gone",
          message: "This link was used, has expired or was withdrawn. Ask for a new one.",
        });
      const { answer, written } = this.ctx.storage.transactionSync(work);
      if (written) this.#settled(written);
      return answer;
    });
  }

  #caller(credential: Credential): Caller {
    if (!isMade(this.#db)) unauthenticated();
    return authenticate(this.#db, credential, this.wall());
  }

  #speaker(credential: Credential): Caller {
    const caller = this.#caller(credential);
    mustSpeak(caller);
    return caller;
  }

  #ledger(): Ledger {
    // Where no workspace was made there is no log to look at, and no token is of it (AUTH-4).
    if (!this.#clock && !isMade(this.#db)) unauthenticated();
    this.#clock ??= openClock(
      this.#db.one<{ at: number }>("SELECT at FROM log ORDER BY seq DESC LIMIT 1")?.at ?? 0,
      () => this.wall(),
    );
    return { storage: this.ctx.storage, db: this.#db, clock: this.#clock, limits: this.#limits };
  }

  #round(): Round {
    const workspace = workspaceOf(this.#db);
    const keys = { current: this.env.SIGNING_KEY, previous: this.env.SIGNING_KEY_PREVIOUS };
    return openRound(
      this.#db,
      this.#ledger().clock.now(),
      workspace.id,
      keys,
      uploads.urlTtlS(workspace.settings.attachments.url_ttl_s, this.env.ATTACHMENT_URL_TTL_S),
    );
  }

  /** Answers with what the work made, or with its refusal, which names the frame that it was about (ERR-1). */
  #settle<T>(work: () => T, frame?: unknown): Result<T> {
    try {
      return { ok: true, value: work() };
    } catch (error) {
      return { ...faultOf(error, (e) => this.#fault(e)), of: idOf(frame) };
    }
  }

  /** A fault of ours: logged with its kind, never with words, and never shown (ERR-1, OPS-3). */
  #fault(error: unknown): void {
    const { name, stack } = error instanceof Error ? error : { name: "unknown", stack: undefined };
    console.error(
      JSON.stringify({
        at: new Date().toISOString(),
        event: "fault",
        name,
        stack: stack?.split("\n").slice(1, 5),
      }),
    );
  }
}

function refusalResponse(refusal: Refusal): Response {
  const body = errorOf(refusal);
  return Response.json(body, { status: refusal.code === "unauthenticated" ? 401 : 403 });
}
