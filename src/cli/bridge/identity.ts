/** As which harness a bridge acts: the one whose token is given, or one that a person had made and that is kept. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { BullpenError } from "../../sdk/errors.ts";
import { BullpenHttp } from "../../sdk/http.ts";
import type { harnessCreated, me } from "../../shared/wire/http.ts";
import { CliError, EXIT } from "../failures.ts";
import { configFolder, writePrivately } from "../profiles.ts";
import type { Session } from "../session.ts";
import { safeLine } from "../terminal.ts";

const bridge = z.object({
  url: z.string(),
  token: z.string(),
  workspace_id: z.string(),
  harness_id: z.string(),
  name: z.string(),
  /** Known once it has connected: found again by it, also under another name. */
  agent_id: z.string().optional(),
});
type Bridge = z.infer<typeof bridge>;
const stored = z.object({ bridges: z.array(bridge) });

export interface Identity {
  url: string;
  token: string;
  agentId: string | undefined;
  workspaceName: string;
  /** The person behind it, who can put the agent into spaces; undefined with a harness's own token. */
  person: Session | undefined;
  /** Whether the harness was made just now. */
  isNew: boolean;
  /** Keeps which agent it is. */
  remember(agentId: string): void;
}

export function bridgesFile(folder: string = configFolder()): string {
  return join(folder, "bridges.json");
}

/** Finds or makes the harness of this agent. */
export async function identityOf(session: Session, name: string, folder = configFolder()): Promise<Identity> {
  const { url, token } = session;
  const who = await session.http.get<z.infer<typeof me>>("/v1/me");
  const { workspace_id, workspace_name: workspaceName, participant } = who;
  if (participant.kind !== "person")
    return { url, token, workspaceName, agentId: undefined, person: undefined, isNew: false, remember() {} };
  const is = (one: Bridge): boolean => one.workspace_id === workspace_id && one.name === name;
  const kept = load(folder).find(is);
  const known = kept && (await isGood(kept)) ? kept : undefined;
  const made = known ?? (await makeHarness(session, name, workspace_id));
  const keep = (now: Bridge): void =>
    writePrivately(
      bridgesFile(folder),
      // Read again: another bridge may have written since.
      { bridges: [...load(folder).filter((one) => !is(one)), now] },
      folder,
    );
  if (!known) keep(made);
  return {
    url: made.url,
    token: made.token,
    workspaceName,
    agentId: made.agent_id,
    person: session,
    isNew: !known,
    remember(agentId) {
      if (agentId !== made.agent_id) keep({ ...made, agent_id: agentId });
    },
  };
}

function load(folder: string): Bridge[] {
  const file = bridgesFile(folder);
  try {
    return stored.parse(JSON.parse(readFileSync(file, "utf8"))).bridges;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw new CliError(EXIT.usage, `${file} cannot be read.`, "Move it out of the way and start again.");
  }
}

/** Whether its token still opens the door; it may have been revoked. */
async function isGood({ url, token }: Bridge): Promise<boolean> {
  try {
    await new BullpenHttp({ url, token }).get("/v1/me");
    return true;
  } catch (error) {
    if (error instanceof BullpenError && error.code === "unauthenticated") return false;
    throw error;
  }
}

async function makeHarness({ http, url }: Session, name: string, workspace_id: string): Promise<Bridge> {
  try {
    const made = await http.post<z.infer<typeof harnessCreated>>("/v1/harnesses", { name });
    return { url, token: made.token, workspace_id, harness_id: made.participant_id, name };
  } catch (error) {
    if (!(error instanceof BullpenError && error.code === "forbidden")) throw error;
    throw new CliError(
      EXIT.refused,
      `${safeLine(error.message)} (forbidden)`,
      `Ask an owner or an admin for a token, as "bullpen harness create" prints it, and set BULLPEN_TOKEN to it.`,
    );
  }
}
