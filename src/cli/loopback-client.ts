/** The other end of `loopback.ts`: a command of ours, inside of what another of ours has started. */
import { request } from "node:http";
import { CliError, EXIT } from "./failures.ts";
import { safeLine } from "./terminal.ts";

export interface LoopbackPlace {
  url: string;
  token: string;
  /** What is said when the other end goes away before it has answered. */
  gone: CliError;
}

/** Posts and waits for the answer, however long that takes: fetch would give up after five minutes. */
export function postLoopback(place: LoopbackPlace, body: object): Promise<{ status: number; body: unknown }> {
  return new Promise((resolve, reject) => {
    const failed = (): void => reject(place.gone);
    const headers = { authorization: `Bearer ${place.token}`, "content-type": "application/json" };
    const sent = request(place.url, { method: "POST", headers }, (response) => {
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
    sent.end(JSON.stringify(body));
  });
}

/** A refusal as it is told: what was wrong with the request itself is the command line's fault. */
export function refusalOf(answer: { status: number; body: unknown }, unknown: string): CliError {
  const { error } = (answer.body ?? {}) as { error?: unknown };
  const said = typeof error === "string" ? error : unknown;
  const code = answer.status === 422 ? EXIT.usage : answer.status === 400 ? EXIT.refused : EXIT.unreachable;
  return new CliError(code, said.split("\n").map(safeLine).join("\n"));
}
