/** The other end of `asks.ts`: `bullpen ask-approval`, inside a turn. */
import { request } from "node:http";
import { CliError, EXIT, usage } from "../failures.ts";
import { safeLine } from "../terminal.ts";
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
  const { status, body } = await post(url, token, JSON.stringify(asked));
  const answer = decided.safeParse(body);
  if (status === 200 && answer.success) return answer.data;
  const { error } = (body ?? {}) as { error?: unknown };
  const said = typeof error === "string" ? error : "The bridge's answer is not understood.";
  // What was wrong with the ask itself is the command line's fault.
  throw new CliError(
    status === 422 ? EXIT.usage : EXIT.unreachable,
    said.split("\n").map(safeLine).join("\n"),
  );
}

/** fetch would give up after five minutes without an answer; a person may take days. */
function post(url: string, token: string, body: string): Promise<{ status: number; body: unknown }> {
  return new Promise((resolve, reject) => {
    const failed = (): void =>
      reject(
        new CliError(EXIT.unreachable, "The bridge is gone before it was decided.", "Nothing is allowed."),
      );
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const sent = request(url, { method: "POST", headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", failed);
      response.on("end", () => {
        try {
          resolve({
            status: response.statusCode ?? 0,
            body: JSON.parse(Buffer.concat(chunks).toString("utf8")),
          });
        } catch {
          failed();
        }
      });
    });
    sent.on("error", failed);
    sent.end(body);
  });
}
