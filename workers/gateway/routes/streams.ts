/** Context streams over HTTP, and the upgrade of the socket that follows one (STREAM-1, STREAM-2). */
import { Hono } from "hono";
import { APPEND_LIMITS, appendBody } from "../../../src/shared/wire/context/http.ts";
import { errorFrame } from "../../../src/shared/wire/errors.ts";
import { isId } from "../../../src/shared/wire/ids.ts";
import { followQuery, historyQuery, promptQuery, streamQuery } from "../../../src/shared/wire/query.ts";
import { handle } from "../../../src/shared/wire/team.ts";
import { notFound, refuse } from "../../kit/result.ts";
import type { Identity } from "../../office/letters.ts";
import type { FollowAsk } from "../../office/streams/part.ts";
import { mustAppend, mustRead } from "../../office/streams/rights.ts";
import { checked, parseJson } from "../../room/parse.ts";
import { identityOf, subprotocols } from "../auth.ts";
import { boardOf, type C, credentialOf, type GatewayEnv, must, officeOf, textOf } from "../context.ts";
import { queryOf } from "../query.ts";

export const streams = new Hono<GatewayEnv>();

/**
 * The stream in the path: whose office answers, and the item that it is about, empty for the person's own. To who may
 * see nobody's that is said, whether there is somebody or not, and nobody's office is made (ERR-3, OFF-2).
 */
async function streamIn(c: C, by: Identity, may: (by: Identity, handle: string) => void) {
  const item = c.req.param("id") ?? "";
  const who = c.req.param("handle") ?? "";
  may(by, who);
  const named = handle.safeParse(who).success && (item === "" || isId(item, "itm"));
  if (!named || !(await boardOf(c.env, c.get("workspaceId")).knows(who))) notFound("stream");
  return { office: officeOf(c.env, c.get("workspaceId"), who), item };
}

/** JSON that its object has written already. */
const json = (c: C, body: string | ReadableStream) =>
  c.body(body, 200, { "content-type": "application/json" });

for (const path of ["/streams/people/:handle", "/streams/people/:handle/items/:id"] as const) {
  streams.post(path, async (c) => {
    const by = await identityOf(c);
    const { events } = checked(appendBody, parseJson(await textOf(c, APPEND_LIMITS.bytes)));
    const { office, item } = await streamIn(c, by, mustAppend);
    return c.json(must(await office.appendEvents(by, item, events)));
  });

  streams.get(path, async (c) => {
    const by = await identityOf(c);
    const asked = queryOf(c, streamQuery);
    const { office, item } = await streamIn(c, by, mustRead);
    return json(c, must(await office.readStream(by, item, asked)));
  });

  streams.get(`${path}/history`, async (c) => {
    const by = await identityOf(c);
    const { at } = queryOf(c, historyQuery);
    const { office, item } = await streamIn(c, by, mustRead);
    return json(c, must(await office.history(by, item, at)));
  });

  streams.get(`${path}/prompt`, async (c) => {
    const by = await identityOf(c);
    const { at, format } = queryOf(c, promptQuery);
    const { office, item } = await streamIn(c, by, mustRead);
    return json(c, must(await office.prompt(by, item, format, at)));
  });

  streams.get(`${path}/live`, async (c) => {
    const by = await identityOf(c);
    if (c.req.header("upgrade")?.toLowerCase() !== "websocket")
      refuse(
        "unsupported",
        "This is the address of a socket that follows the stream. Open it as a WebSocket, or read the stream page by page.",
      );
    const { after } = queryOf(c, followQuery);
    const { office, item } = await streamIn(c, by, mustRead);
    // From here on the room tells this office when their way in ends (AUTH-3).
    must(await c.get("room").identifyFollower(credentialOf(c), c.req.param("handle")));
    const asked: FollowAsk = { by, item, after, subprotocol: subprotocols(c).includes("bullpen.v1") };
    // The object is handed headers of ours only: what a client writes there proves nothing.
    const headers = { upgrade: "websocket", "bullpen-live": encodeURIComponent(JSON.stringify(asked)) };
    const answer = await office.fetch("https://office/live", { headers });
    if (answer.status === 101) return answer;
    // A refusal goes the way of all others: it is counted, and has their headers (AUTH-7, HTTP-5).
    const { code, message, retry_after_s } = errorFrame.parse(await answer.json());
    refuse(code, message, retry_after_s === undefined ? {} : { retry_after_s });
  });
}
