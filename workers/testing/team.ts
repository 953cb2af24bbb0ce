/** What the tests of the office's routes drive it with: a team over HTTP, and tokens of every kind. */
import { call, newWorkspace, type Workspace } from "./client.ts";

/** The least team of these people. */
export function teamConfig(people: readonly string[], more: object = {}): object {
  return {
    roles: { dev: { title: "Developer" } },
    people: people.map((handle) => ({ handle, name: handle, role: "dev", subscription: "max-1" })),
    ...more,
  };
}

/** A workspace whose owner has put a team. */
export async function newTeam(people = ["scout", "mason"], more: object = {}): Promise<Workspace> {
  const workspace = await newWorkspace();
  const body = teamConfig(people, more);
  const put = await call("PUT", "/v1/team", { token: workspace.owner.token, body });
  if (put.status !== 200) throw new Error(`no team: ${JSON.stringify(put.body)}`);
  return workspace;
}

async function tokenOf({ owner }: Workspace, body: object): Promise<string> {
  const made = await call("POST", "/v1/tokens", { token: owner.token, body });
  if (made.status !== 201) throw new Error(`no token: ${JSON.stringify(made.body)}`);
  return made.body.token;
}

/** A token for the agent of a person of the team (TEAM-2). */
export function agentToken(workspace: Workspace, person: string): Promise<string> {
  return tokenOf(workspace, { person, scopes: ["agent"] });
}

/** A token for a tool that tells of events (WORK-4). */
export function hookToken(workspace: Workspace, source: string, types: readonly string[]): Promise<string> {
  return tokenOf(workspace, { source, types, scopes: ["hook"] });
}

/** The tables of an object of ours: one that was never made has none (AUTH-4). */
export function tablesOf({ sql }: DurableObjectStorage): string[] {
  const named = sql.exec<{ name: string }>(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND substr(name, 1, 4) <> '_cf_'",
  );
  return [...named].map(({ name }) => name);
}
