/** The socket of a person's agent (OFF-2). Who asks is said in its first frame, so no bearer is looked for. */
import { Hono } from "hono";
import { ulid } from "ulid";
import { parseToken } from "../../../src/shared/token.ts";
import { id } from "../../../src/shared/wire/ids.ts";
import { handle } from "../../../src/shared/wire/team.ts";
import { refuse } from "../../kit/result.ts";
import { badToken, firstFrame, HELLO_MS, type NoWelcome, noHello } from "../../office/hello.ts";
import { addressOf, countFailure, sha256Hex } from "../auth.ts";
import { boardOf, type C, type GatewayEnv, officeOf, originOf, roomOf } from "../context.ts";

export const agentSocket = new Hono<GatewayEnv>();

agentSocket.get("/:ws/people/:handle/agent", async (c) => {
  if (c.req.header("upgrade")?.toLowerCase() !== "websocket")
    refuse(
      "unsupported",
      "This is the address of an agent's socket. Open it as a WebSocket and send hello first; see /schemas/agent/hello.json.",
    );
  const ws = id("ws").safeParse(c.req.param("ws"));
  const person = handle.safeParse(c.req.param("handle"));
  const known = ws.success && person.success && (await boardOf(c.env, ws.data).knows(person.data));
  if (!known) return answerAlone(c, ws.data, person.data ?? "this person");
  // The object is handed headers of ours only: what a client writes there proves nothing.
  const headers = { upgrade: "websocket", "bullpen-origin": originOf(c), "bullpen-address": addressOf(c) };
  return officeOf(c.env, ws.data, person.data).fetch("https://office/agent", { headers });
});

/**
 * Answers as the Office does to who may not come in, without making one for a person that nobody has. The token is
 * looked up all the same, so that an answer about nobody takes as long as one about somebody.
 */
function answerAlone(c: C, workspace: string | undefined, person: string): Response {
  const { 0: client, 1: server } = new WebSocketPair();
  server.accept();
  const end = ({ answer, replyTo, close, reason }: NoWelcome) => {
    clearTimeout(timer);
    server.send(JSON.stringify({ id: ulid(), ...(replyTo === undefined ? {} : { replyTo }), ...answer }));
    server.close(close, reason);
  };
  const timer = setTimeout(() => end(noHello()), HELLO_MS);
  const first = ({ data }: MessageEvent) => {
    server.removeEventListener("message", first);
    const frame = firstFrame(data as string | ArrayBuffer);
    if (!frame.ok) return end(frame);
    clearTimeout(timer);
    void refused(c, workspace, frame.hello.token).then(() => end(badToken(person, frame.id)));
  };
  server.addEventListener("message", first);
  server.addEventListener("close", () => clearTimeout(timer));
  return new Response(null, { status: 101, webSocket: client });
}

/** Looks a token up as for a person that is there, and counts the failure that it is (AUTH-7). */
async function refused(c: C, workspace: string | undefined, token: string): Promise<void> {
  const parts = parseToken(token);
  const credential = parts && {
    tokenId: `tok_${parts.rowUlid}`,
    secretHash: sha256Hex(parts.secret),
    origin: originOf(c),
  };
  if (credential && workspace !== undefined)
    await roomOf(c.env, workspace)
      .identify(credential)
      .catch(() => {});
  await countFailure(c).catch(() => {});
}
