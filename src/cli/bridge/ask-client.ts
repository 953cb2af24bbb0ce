/** The other end of `asks.ts`: `bullpen ask-approval`, inside a turn. */
import { CliError, EXIT, usage } from "../failures.ts";
import { postLoopback, refusalOf } from "../loopback-client.ts";
import { type Ask, type Decided, decided } from "./asks.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** Asks and waits until it is decided, however long that takes. */
export async function askBridge(asked: Partial<Ask>, env: Env = process.env): Promise<Decided> {
  const { BULLPEN_ASK_URL: url, BULLPEN_ASK_TOKEN: token } = env;
  if (!url || !token)
    throw usage(
      "This is no turn of a bridge: BULLPEN_ASK_URL and BULLPEN_ASK_TOKEN are not set.",
      "Run it from the command that bullpen bridge wraps.",
    );
  const gone = new CliError(
    EXIT.unreachable,
    "The bridge is gone before it was decided.",
    "Nothing is allowed.",
  );
  const reply = await postLoopback({ url, token, gone }, asked);
  const answer = decided.safeParse(reply.body);
  if (reply.status === 200 && answer.success) return answer.data;
  throw refusalOf(reply, "The bridge's answer is not understood.");
}
