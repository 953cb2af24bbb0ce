/** The demo's workspace: made on the first start, found again on the next ones. */
import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import * as z from "zod";
import { BullpenError, BullpenHttp, newId } from "../src/sdk/index.ts";
import { demoTeam, TEAMMATES, type Teammate } from "./teammates.ts";

const memory = z.object({
  workspace_id: z.string(),
  owner: z.object({ participant_id: z.string(), name: z.string(), token: z.string() }),
  space_id: z.string().optional(),
  scout: z.string().optional(),
  dispatch: z.string().optional(),
  /** The tokens of the teammates' agents, by handle. */
  agents: z.record(z.string(), z.string()).optional(),
});

/** What is remembered between starts. It holds tokens. */
type Memory = z.infer<typeof memory>;
/** A demo that is whole: `scout` and `dispatch` are their harnesses' tokens. */
export interface Demo extends Memory {
  space_id: string;
  scout: string;
  dispatch: string;
  agents: Partial<Record<Teammate, string>>;
}

export const WORKSPACE = "Demo";
export const SPACE = "Lobby";

export interface DemoPlace {
  url: string;
  adminToken: string;
  /** Where ids and tokens are remembered, for this user's eyes only. */
  file: string;
}

/** Finds the demo of this server, or makes it; a start that broke off in the middle is gone on with. */
export async function openDemo({
  url,
  adminToken,
  file,
}: DemoPlace): Promise<{ demo: Demo; isNew: boolean }> {
  const known = await recall(url, file);
  const keep = <M extends Memory>(now: M): M => {
    remember(file, now);
    return now;
  };
  const begun = known ?? keep(await makeWorkspace(url, adminToken));
  const http = new BullpenHttp({ url, token: begun.owner.token });
  const space_id = begun.space_id ?? (await write(http, "space.create", { title: SPACE })).space_id;
  const scout = begun.scout ?? (await makeHarness(http, "Scout's harness"));
  const dispatch = begun.dispatch ?? (await makeHarness(http, "Dispatch's harness"));
  if (space_id === undefined) throw new Error("The server made a space and did not name it.");
  const made = keep({ ...begun, space_id, scout, dispatch });
  const agents = await openTeam(http, made, space_id);
  return { demo: keep({ ...made, agents }), isNew: known === undefined };
}

/** The team's teammates and their agents' tokens. A team that is there stays as its owner has made it. */
async function openTeam(
  http: BullpenHttp,
  { owner, agents = {} }: Memory,
  spaceId: string,
): Promise<Record<string, string>> {
  const there = await teamOf(http);
  const team = demoTeam(spaceId, owner);
  const { people } = there ?? (await http.put<{ team: Team }>("/v1/team", team)).team;
  const tokens: Record<string, string> = {};
  for (const { handle } of TEAMMATES)
    if (people.some((one) => one.handle === handle)) {
      const asked = { person: handle, scopes: ["agent"], name: `demo agent of ${handle}` };
      tokens[handle] = agents[handle] ?? (await http.post<{ token: string }>("/v1/tokens", asked)).token;
    }
  return tokens;
}

interface Team {
  people: { handle: string }[];
}

async function teamOf(http: BullpenHttp): Promise<Team | undefined> {
  try {
    return (await http.get<{ team: Team }>("/v1/team")).team;
  } catch (error) {
    if (error instanceof BullpenError && error.code === "not_found") return undefined;
    throw error;
  }
}

/** The teammates' agents as participants, to be put into a space. */
export async function agentIds(http: BullpenHttp, names: readonly string[]): Promise<string[]> {
  const { items } = await http.get<{ items: { participant_id: string; kind: string; name: string }[] }>(
    "/v1/participants",
    { limit: 100 },
  );
  return items
    .filter(({ kind, name }) => kind === "agent" && names.includes(name))
    .map((one) => one.participant_id);
}

/** Puts agents into the space; whoever is there already stays. */
export async function bringIn(http: BullpenHttp, spaceId: string, agentIds: string[]): Promise<void> {
  const { items } = await http.get<{ items: { participant_id: string }[] }>(`/v1/spaces/${spaceId}/members`);
  const there = new Set(items.map((member) => member.participant_id));
  for (const participant_id of agentIds)
    if (!there.has(participant_id)) await write(http, "member.add", { space_id: spaceId, participant_id });
}

async function makeWorkspace(url: string, adminToken: string): Promise<Memory> {
  const http = new BullpenHttp({ url, token: adminToken });
  const made = await http.post<{
    workspace_id: string;
    owner: { participant_id: string; name: string };
    token: string;
  }>("/v1/workspaces", { name: WORKSPACE, owner_name: "Owner" });
  return { workspace_id: made.workspace_id, owner: { ...made.owner, token: made.token } };
}

async function makeHarness(http: BullpenHttp, name: string): Promise<string> {
  return (await http.post<{ token: string }>("/v1/harnesses", { name })).token;
}

async function write(http: BullpenHttp, type: string, fields: object): Promise<{ space_id?: string }> {
  const id = newId("evt");
  const event = { v: 1, type, id, idempotency_key: id, ...fields };
  const { receipts } = await http.post<{ receipts: [{ space_id?: string }] }>("/v1/events", event);
  return receipts[0];
}

/** The remembered demo, if this server still has it: its state may have been deleted. */
async function recall(url: string, file: string): Promise<Memory | undefined> {
  let known: Memory;
  try {
    known = memory.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    return undefined;
  }
  try {
    await new BullpenHttp({ url, token: known.owner.token }).get("/v1/me");
    return known;
  } catch (error) {
    if (error instanceof BullpenError && error.code === "unauthenticated") return undefined;
    throw error;
  }
}

function remember(file: string, now: Memory): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const beside = `${file}.${randomBytes(4).toString("hex")}`;
  writeFileSync(beside, `${JSON.stringify(now, null, 2)}\n`, { mode: 0o600 });
  chmodSync(beside, 0o600);
  renameSync(beside, file);
}
