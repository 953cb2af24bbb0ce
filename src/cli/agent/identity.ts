/** As which person of the team an agent connects: by the token that is given, or by one that was made and is kept. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { BullpenError } from "../../sdk/errors.ts";
import { BullpenHttp } from "../../sdk/http.ts";
import type { me, tokenCreated } from "../../shared/wire/http.ts";
import { CliError, EXIT } from "../failures.ts";
import { configFolder, writePrivately } from "../profiles.ts";
import type { Session } from "../session.ts";
import { safeLine } from "../terminal.ts";

const kept = z.object({
  url: z.string(),
  token: z.string(),
  workspace_id: z.string(),
  person: z.string(),
});
type Kept = z.infer<typeof kept>;
const stored = z.object({ agents: z.array(kept) });

export interface AgentIdentity {
  url: string;
  token: string;
  workspaceId: string;
  workspaceName: string;
  /** Where its state is kept, unless another folder is named. */
  stateDir: string;
}

export function agentsFile(folder: string = configFolder()): string {
  return join(folder, "agents.json");
}

/** Finds the person's agent token, or has one made by whoever is signed in. */
export async function agentIdentity(
  session: Session,
  person: string,
  folder = configFolder(),
): Promise<AgentIdentity> {
  const who = await session.http.get<z.infer<typeof me>>("/v1/me");
  const { workspace_id, workspace_name: workspaceName, participant } = who;
  const stateDir = join(folder, "agents", `${workspace_id}-${person}`);
  const about = { url: session.url, workspaceId: workspace_id, workspaceName, stateDir };
  if (participant.kind === "agent") return { ...about, token: session.token };
  if (participant.kind !== "person")
    throw new CliError(
      EXIT.usage,
      "This token is a harness's.",
      `An agent of the team has its own: bullpen token create --person ${person}`,
    );
  const is = (one: Kept): boolean => one.workspace_id === workspace_id && one.person === person;
  const known = load(folder).find(is);
  if (known && (await isGood(known))) return { ...about, token: known.token };
  const token = await makeToken(session, person);
  writePrivately(
    agentsFile(folder),
    // Read again: another agent may have written since.
    {
      agents: [...load(folder).filter((one) => !is(one)), { url: session.url, token, workspace_id, person }],
    },
    folder,
  );
  return { ...about, token };
}

function load(folder: string): Kept[] {
  const file = agentsFile(folder);
  try {
    return stored.parse(JSON.parse(readFileSync(file, "utf8"))).agents;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw new CliError(EXIT.usage, `${file} cannot be read.`, "Move it out of the way and start again.");
  }
}

/** Whether its token still opens the door; it may have been revoked. */
async function isGood({ url, token }: Kept): Promise<boolean> {
  try {
    await new BullpenHttp({ url, token }).get("/v1/me");
    return true;
  } catch (error) {
    if (error instanceof BullpenError && error.code === "unauthenticated") return false;
    throw error;
  }
}

async function makeToken({ http }: Session, person: string): Promise<string> {
  try {
    const asked = { person, scopes: ["agent"], name: `agent of ${person}` };
    return (await http.post<z.infer<typeof tokenCreated>>("/v1/tokens", asked)).token;
  } catch (error) {
    if (!(error instanceof BullpenError && error.code === "forbidden")) throw error;
    throw new CliError(
      EXIT.refused,
      `${safeLine(error.message)} (forbidden)`,
      `Ask an owner or an admin for a token (bullpen token create --person ${person}), and set BULLPEN_TOKEN to it.`,
    );
  }
}
