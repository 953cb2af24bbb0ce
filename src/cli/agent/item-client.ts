/** The other end of `desk.ts`: `bullpen item …`, inside an item of `bullpen agent`. */
import type { AgentPayload, AnswerTo } from "../../shared/wire/agent/index.ts";
import { CliError, EXIT, usage } from "../failures.ts";
import { postLoopback, refusalOf } from "../loopback-client.ts";
import type { OWN, Said, Verb } from "./verbs.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** Says it for the item that this program was started for; answers what the office does. */
export async function sayForItem<T extends Verb>(
  verb: T,
  payload: Said<T>,
  env?: Env,
): Promise<AgentPayload<AnswerTo<T>> & { kept?: boolean }>;
export async function sayForItem(
  verb: (typeof OWN)[number],
  payload: object,
  env?: Env,
): Promise<Record<string, unknown>>;
export async function sayForItem(verb: string, payload: object, env: Env = process.env): Promise<object> {
  const { BULLPEN_ITEM_URL: url, BULLPEN_ITEM_TOKEN: token } = env;
  if (!url || !token)
    throw usage(
      "This is no item of an agent: BULLPEN_ITEM_URL and BULLPEN_ITEM_TOKEN are not set.",
      "Run it from the command that bullpen agent starts for each item.",
    );
  const gone = new CliError(EXIT.unreachable, "The agent is gone, and this item with it.");
  const reply = await postLoopback({ url, token, gone }, { verb, payload });
  if (reply.status === 200 && typeof reply.body === "object" && reply.body !== null) return reply.body;
  throw refusalOf(reply, "The agent's answer is not understood.");
}
