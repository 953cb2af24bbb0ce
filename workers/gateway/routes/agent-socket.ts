/** The socket of a person's agent (OFF-2). Who asks is said in its first frame, so no bearer is looked for. */
import { Hono } from "hono";
import { ulid } from "ulid";
import {
  BAD_TOKEN,
  HELLO_WITHIN_MS,
  NO_HELLO,
  readFirstFrame,
} from "../../../src/shared/rules/agent-hello.ts";
import { parseToken } from "../../../src/shared/token.ts";
import { type AgentErrorCode, CLOSE } from "../../../src/shared/wire/agent/frame.ts";
import { id } from "../../../src/shared/wire/ids.ts";
import { handle } from "../../../src/shared/wire/team.ts";
import { refuse } from "../../kit/result.ts";
import { addressOf, countFailure, sha256Hex } from "../auth.ts";
import { type C, type GatewayEnv, originOf, roomOf } from "../context.ts";
import { boardOf, officeOf } from "../rpc.ts";

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
  if (!known) return answerAlone(c, ws.data);
  // The object is handed headers of ours only: what a client writes there proves nothing.
  const headers = { upgrade: "websocket", "bullpen-origin": originOf(c), "bullpen-address": addressOf(c) };
  return officeOf(c.env, ws.data, person.data).fetch("https://office/agent", { headers });
});

/**
 * Answers as the Office does to who may not come in, without making one for a person that nobody has. The token is
 * looked up all the same, so that an answer about nobody takes as long as one about somebody.
 */
function answerAlone(c: C, workspace: string | undefined): Response {
  const { 0: client, 1: server } = new WebSocketPair();
  server.accept();
  const end = (code: AgentErrorCode, message: string, replyTo?: string) => {
    clearTimeout(timer);
    server.removeEventListener("message", first);
    const payload = { code, message };
    const frame = { id: ulid(), ...(replyTo === undefined ? {} : { replyTo }), type: "error", payload };
    server.send(JSON.stringify(frame));
    server.close(CLOSE.auth_failed, code);
  };
  const timer = setTimeout(() => end("unauthenticated", NO_HELLO), HELLO_WITHIN_MS);
  const first = ({ data }: MessageEvent) => {
    const frame = readFirstFrame(data as string | ArrayBuffer);
    clearTimeout(timer);
    server.removeEventListener("message", first);
    if (!frame.ok) return end("unauthenticated", frame.message, frame.replyTo);
    void refused(c, workspace, frame.hello.token).then(() => end("auth_failed", BAD_TOKEN, frame.id));
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
