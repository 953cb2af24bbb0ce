/** A real `wrangler dev` with a state of its own, for the tests that want everything as it is. */
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startDevServer } from "../../scripts/dev-server.ts";
import type { VerbFields } from "../../src/sdk/client.ts";
import { BullpenHttp } from "../../src/sdk/http.ts";
import { newId } from "../../src/sdk/ids.ts";
import type { Receipt, VerbType } from "../../src/shared/wire/index.ts";

export interface ServerOptions {
  /** A folder to keep the state in; a server started on it again finds its data. Default: a fresh one. */
  persistTo?: string;
  /** Variables and secrets beside those of tests. */
  vars?: Record<string, string>;
  /** A port to come back on; a free one otherwise. */
  port?: number;
}

export interface TestServer {
  readonly url: string;
  readonly adminToken: string;
  readonly persistTo: string;
  /** Everything that the server printed so far. */
  output(): string;
  /** Ends the server in good order; a fresh state goes with it. */
  stop(): Promise<void>;
  /** Ends the server as a crash would (SIGKILL) and keeps its state. */
  kill(): Promise<void>;
}

export const ADMIN_TOKEN = "test-admin-token";
const SECRETS = { ADMIN_TOKEN, SIGNING_KEY: "test-signing-key", SECRETS_KEY: "test-secrets-key" };

/** Starts a server on a free port and resolves when it answers. */
export async function startServer(options: ServerOptions = {}): Promise<TestServer> {
  const persistTo = options.persistTo ?? mkdtempSync(join(tmpdir(), "bullpen-state-"));
  const forget = () => {
    if (options.persistTo === undefined) rmSync(persistTo, { recursive: true, force: true });
  };
  const vars = { ...SECRETS, ...options.vars };
  const server = await startDevServer({ persistTo, vars, port: options.port ?? 0 }).catch(
    (error: unknown) => {
      forget();
      throw error;
    },
  );
  return {
    url: server.url,
    adminToken: vars.ADMIN_TOKEN,
    persistTo,
    output: () => server.output(),
    kill: () => server.kill(),
    async stop() {
      await server.stop();
      forget();
    },
  };
}

export interface TestWorkspace {
  readonly url: string;
  readonly workspaceId: string;
  readonly ownerId: string;
  /** The owner's token. */
  readonly token: string;
  /** Requests as the owner. */
  readonly http: BullpenHttp;
  /** A person who comes in by an invite. */
  addPerson(name: string, role?: "admin" | "member" | "guest"): Promise<TestParticipant>;
  addHarness(name: string): Promise<TestParticipant>;
  /** Makes a space as the owner and adds the participants to it. */
  addSpace(title: string, members?: readonly string[]): Promise<string>;
}

export interface TestParticipant {
  readonly participantId: string;
  readonly token: string;
  readonly http: BullpenHttp;
}

/** A fresh workspace with its owner: what one test does is nothing to another. */
export async function createWorkspace(
  server: Pick<TestServer, "url" | "adminToken">,
  { name = "Test", ownerName = "Olive" }: { name?: string; ownerName?: string } = {},
): Promise<TestWorkspace> {
  const { url } = server;
  const made = await new BullpenHttp({ url, token: server.adminToken }).post<{
    workspace_id: string;
    owner: { participant_id: string };
    token: string;
  }>("/v1/workspaces", { name, owner_name: ownerName });
  const http = new BullpenHttp({ url, token: made.token });
  const participant = (participantId: string, token: string): TestParticipant => ({
    participantId,
    token,
    http: new BullpenHttp({ url, token }),
  });
  return {
    url,
    workspaceId: made.workspace_id,
    ownerId: made.owner.participant_id,
    token: made.token,
    http,
    async addPerson(display_name, role = "member") {
      const { link } = await http.post<{ link: string }>("/v1/invites", { role });
      const redeemed = await new BullpenHttp({ url }).post<{
        participant: { participant_id: string };
        token: string;
      }>("/v1/invites/redeem", {
        secret: new URL(link).hash.slice("#invite=".length),
        display_name,
        idempotency_key: randomUUID(),
      });
      return participant(redeemed.participant.participant_id, redeemed.token);
    },
    async addHarness(harnessName) {
      const harness = await http.post<{ participant_id: string; token: string }>("/v1/harnesses", {
        name: harnessName,
      });
      return participant(harness.participant_id, harness.token);
    },
    async addSpace(title, members = []) {
      const space_id = (await write(http, "space.create", { title })).space_id ?? "";
      for (const participant_id of members) await write(http, "member.add", { space_id, participant_id });
      return space_id;
    },
  };
}

/** Writes one event over HTTP and answers its receipt. */
export async function write<T extends VerbType>(
  http: BullpenHttp,
  type: T,
  fields: VerbFields<T>,
): Promise<Receipt> {
  const { receipts } = await http.post<{ receipts: [Receipt] }>("/v1/events", {
    v: 1,
    type,
    id: newId("evt"),
    idempotency_key: randomUUID(),
    ...fields,
  });
  return receipts[0];
}
