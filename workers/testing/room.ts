/** Situations of a room for its tests, and looks behind the wire that only tests take. */
import { runInDurableObject } from "cloudflare:test";
import { type Any, call, connect, newId, type Party, refused, roomStub, type Socket } from "./client.ts";

/** `GET` as somebody; anything but 200 is thrown. */
export async function read(by: Party, path: string): Promise<Any> {
  const { status, body } = await call("GET", path, { token: by.token });
  if (status !== 200) throw new Error(`GET ${path}: ${status} ${JSON.stringify(body)}`);
  return body;
}

/** The code of the error that a GET is answered with. */
export async function readRefused(by: Party, path: string): Promise<string> {
  const { body } = await call("GET", path, { token: by.token });
  return body.type === "error" ? body.code : "none";
}

/** The code that a verb is refused with. */
export async function codeOf(by: Party, type: string, fields: object = {}): Promise<string> {
  return (await refused(by, type, fields)).code;
}

export async function hello(by: Party, fields: object = {}): Promise<Any> {
  const { body } = await call("POST", "/v1/hello", {
    token: by.token,
    body: { v: 1, type: "hello", id: newId("evt"), ...fields },
  });
  if (body.type !== "welcome") throw new Error(`not welcome: ${JSON.stringify(body)}`);
  return body;
}

/** Declares agents of a harness without a socket; their ids in the same order. */
export async function declare(harness: Party, ...names: string[]): Promise<string[]> {
  const { agents } = await hello(harness, { agents: names.map((name) => ({ name })) });
  return names.map((name) => agents.find((a: Any) => a.name === name).agent_id);
}

/** Acts as one of a harness's agents. */
export function as(agentId: string): { actor: { kind: "agent"; id: string } } {
  return { actor: { kind: "agent", id: agentId } };
}

/** Waits until everything that was sent to a socket so far has come. */
export async function settled(socket: Socket): Promise<Any[]> {
  const id = newId("evt");
  await socket.ask({ v: 1, type: "no.such.type", id });
  return socket.frames.filter((f) => f.of !== id);
}

/** The events, without the frames of the connection itself. */
export function eventsOf(frames: readonly Any[]): Any[] {
  return frames.filter((f) => typeof f.seq === "number" && typeof f.id === "string" && f.type !== "receipt");
}

/** What a fresh connection is sent after a seq, up to `caught_up`. */
export async function replay(by: Party, afterSeq = 0): Promise<Any[]> {
  const socket = await connect(by, { after_seq: afterSeq });
  const frames = eventsOf(socket.frames);
  socket.ws.close(1000, "done");
  return frames;
}

/** Every event that `GET /v1/events` hands out after a seq. */
export async function pulled(by: Party, afterSeq = 0, limit = 200): Promise<Any[]> {
  const all: Any[] = [];
  for (let after = afterSeq; ; ) {
    const page = await read(by, `/v1/events?after=${after}&limit=${limit}`);
    all.push(...page.events);
    if (page.next_after >= page.head_seq) return all;
    after = page.next_after;
  }
}

/** A frame without what is as of sending: minutes, who is at work now, times of day, and signed URLs. */
export function lasting(frame: Any): Any {
  return JSON.parse(
    JSON.stringify(frame, (key, value) =>
      key === "url" || key === "url_expires_at" || key === "working" || key === "idle" || key === "notes"
        ? undefined
        : value,
    ),
  );
}

/** Runs SQL inside a workspace's object, past the API. */
export async function sql<T = Any>(workspaceId: string, query: string, ...bindings: unknown[]): Promise<T[]> {
  return runInDurableObject(
    roomStub(workspaceId),
    (_, state) => state.storage.sql.exec(query, ...(bindings as SqlStorageValue[])).toArray() as T[],
  );
}

export interface FileFacts {
  filename: string;
  /** The bytes stand for themselves here: equal contents, equal hash. */
  content: string;
  mime_type?: string;
  transcript?: string;
  width?: number;
  height?: number;
  duration_ms?: number;
}

/** An upload as it stands in the tables once its bytes are in the bucket. */
export async function upload(workspaceId: string, by: string, facts: FileFacts): Promise<string> {
  const bytes = new TextEncoder().encode(facts.content);
  const digest = await crypto.subtle.digest("SHA-256", bytes);
  const sha256 = [...new Uint8Array(digest)].map((b) => b.toString(16).padStart(2, "0")).join("");
  const id = newId("att");
  await runInDurableObject(roomStub(workspaceId), (_, { storage }) => {
    storage.sql.exec(
      `INSERT OR IGNORE INTO blobs (sha256, r2_key, byte_size, mime_type, width, height, duration_ms)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
      sha256,
      `${workspaceId}/${sha256}`,
      bytes.length,
      facts.mime_type ?? "text/plain",
      facts.width ?? null,
      facts.height ?? null,
      facts.duration_ms ?? null,
    );
    storage.sql.exec(
      "INSERT INTO attachments (id, sha256, filename, uploaded_by, transcript, created_at) VALUES (?, ?, ?, ?, ?, ?)",
      id,
      sha256,
      facts.filename,
      by,
      facts.transcript ?? null,
      Date.now(),
    );
  });
  return id;
}

/** The newest seq of the workspace. */
export async function headOf(by: Party): Promise<number> {
  return (await read(by, "/v1/events?after=0&limit=1")).head_seq;
}

/** A connection that is at the head: what it is sent from here on is live. */
export async function live(by: Party, fields: object = {}): Promise<Socket> {
  return connect(by, { after_seq: await headOf(by), ...fields });
}
