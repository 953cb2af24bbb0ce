/** Events in and out over HTTP, and the socket's upgrade (HTTP-1, HTTP-3, CONN-1). */
import { Hono } from "hono";
import { errorFrame } from "../../../src/shared/wire/errors.ts";
import { eventsQuery } from "../../../src/shared/wire/query.ts";
import { refuse } from "../../kit/result.ts";
import { isSignal, MAX_BATCH } from "../../room/parse.ts";
import { subprotocols } from "../auth.ts";
import { credentialOf, type GatewayEnv, jsonBody, must } from "../context.ts";
import { queryOf } from "../query.ts";

export const events = new Hono<GatewayEnv>();

events.post("/events", async (c) => {
  const credential = credentialOf(c);
  const body = await jsonBody(c);
  const frames = Array.isArray(body) ? body : [body];
  if (frames.length === 0 || frames.length > MAX_BATCH)
    refuse("invalid", `Send one event or an array of 1 to ${MAX_BATCH}.`);
  // An ack, a read mark or typing is answered by no receipt, here as on the socket (CONN-4).
  const [only] = frames;
  if (frames.length === 1 && isSignal(only)) {
    must(await c.get("room").signal(credential, only));
    return c.json({ receipts: [] });
  }
  return c.json({ receipts: must(await c.get("room").write(credential, frames)) });
});

events.get("/events", async (c) => {
  const { wait, after = 0, ...args } = queryOf(c, eventsQuery);
  return c.json(must(await c.get("room").events(credentialOf(c), { after, ...args }, wait * 1000)));
});

events.post("/hello", async (c) =>
  c.json(must(await c.get("room").hello(credentialOf(c), await jsonBody(c)))),
);

events.get("/connect", async (c) => {
  const credential = credentialOf(c);
  if (c.req.header("upgrade")?.toLowerCase() !== "websocket")
    refuse(
      "unsupported",
      "This is the socket's address. Open it as a WebSocket, or use GET /v1/events?wait=25.",
    );
  // The object is handed headers of ours only: what a client writes there proves nothing.
  const headers = new Headers({
    upgrade: "websocket",
    "bullpen-token-id": credential.tokenId,
    "bullpen-secret-hash": credential.secretHash,
    "bullpen-origin": credential.origin,
    ...(subprotocols(c).includes("bullpen.v1") ? { "bullpen-subprotocol": "bullpen.v1" } : {}),
  });
  const answer = await c.get("room").fetch("https://room/connect", { headers });
  if (answer.status === 101) return answer;
  // A refusal goes the way of all others: it is counted, and has their headers (AUTH-7, HTTP-5).
  const { code, message } = errorFrame.parse(await answer.json());
  refuse(code, message);
});
