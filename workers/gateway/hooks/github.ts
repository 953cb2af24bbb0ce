/** GitHub's webhooks: verified over the raw bytes, taken once, and answered before anything else follows (WORK-2). */
import { Hono } from "hono";
import { fromGithub } from "../../../src/shared/rules/github/index.ts";
import { refuse } from "../../kit/result.ts";
import { boardOf, type C, type GatewayEnv, must } from "../context.ts";
import { hashOf, isSigned } from "./signature.ts";

/** GitHub's own limit of a payload. */
export const MAX_DELIVERY_BYTES = 25 * 1024 * 1024;
const SECRET = "github_webhook_secret";
const WORKSPACE = /^ws_[0-9A-HJKMNP-TV-Z]{26}$/;

export const githubHook = new Hono<GatewayEnv>();

githubHook.post("/github/:ws", async (c) => {
  const workspace = c.req.param("ws");
  const board = boardOf(c.env, workspace);
  const [bytes, secrets] = await Promise.all([
    deliveryBytes(c),
    WORKSPACE.test(workspace) ? board.secretValues(SECRET) : [],
  ]);
  if (!isSigned(bytes, c.req.header("x-hub-signature-256"), secrets))
    refuse(
      "unauthenticated",
      `This delivery is not signed with the workspace's ${SECRET}. Give GitHub the same secret as PUT /v1/secrets/${SECRET}.`,
    );
  const event = c.req.header("x-github-event");
  if (!event) refuse("malformed", "A delivery names its event in x-github-event. Send it as GitHub does.");
  const hash = hashOf(event, bytes);
  const payload = payloadOf(c, bytes);
  const taken = must(
    await board.hooked({
      delivery: (c.req.header("x-github-delivery") ?? hash).slice(0, 200),
      hash,
      events: fromGithub(event, payload, hash.slice(0, 40), new Date().toISOString()),
    }),
  );
  return c.json({ event_ids: taken.events, ...(taken.taken ? {} : { duplicate: true as const }) }, 202);
});

/** The body as it came. Memory is taken as bytes come, whatever length was stated. */
async function deliveryBytes(c: C): Promise<Uint8Array> {
  const tooLarge = () =>
    refuse("too_large", `A delivery is at most ${MAX_DELIVERY_BYTES} bytes, as GitHub's are.`);
  if (Number(c.req.header("content-length") ?? 0) > MAX_DELIVERY_BYTES) tooLarge();
  let all = new Uint8Array(65_536);
  let size = 0;
  for await (const part of (c.req.raw.body ?? []) as AsyncIterable<Uint8Array>) {
    if (size + part.byteLength > MAX_DELIVERY_BYTES) tooLarge();
    if (size + part.byteLength > all.byteLength) {
      const larger = new Uint8Array(Math.max(size + part.byteLength, all.byteLength * 2));
      larger.set(all.subarray(0, size));
      all = larger;
    }
    all.set(part, size);
    size += part.byteLength;
  }
  return all.subarray(0, size);
}

/** What is in a delivery that was verified: JSON, or the form that GitHub offers beside it. */
function payloadOf(c: C, bytes: Uint8Array): unknown {
  try {
    const text = new TextDecoder().decode(bytes);
    const form = c.req.header("content-type")?.startsWith("application/x-www-form-urlencoded");
    return JSON.parse(form ? (new URLSearchParams(text).get("payload") ?? "") : text);
  } catch {
    refuse("malformed", "The delivery is not JSON. Choose application/json as the webhook's content type.");
  }
}
