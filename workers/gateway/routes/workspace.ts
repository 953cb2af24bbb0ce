/** Workspaces, invites, sign-in links, harnesses, tokens, oneself (AUTH). */
import { Hono } from "hono";
import { ulid } from "ulid";
import { parseLinkSecret } from "../../../src/shared/token.ts";
import * as http from "../../../src/shared/wire/http.ts";
import { refuse } from "../../kit/result.ts";
import { checked } from "../../room/parse.ts";
import { endSession, mustBeAdmin, setSession, sha256Hex } from "../auth.ts";
import {
  bodyOf,
  type C,
  credentialOf,
  type GatewayEnv,
  jsonBody,
  must,
  originOf,
  roomOf,
} from "../context.ts";

export const workspace = new Hono<GatewayEnv>();

workspace.post("/workspaces", async (c) => {
  mustBeAdmin(c);
  const body = await jsonBody(c);
  if (typeof body === "object" && body !== null && "import" in body) {
    const { import: known } = checked(http.importWorkspace, body);
    return c.json(must(await roomOf(c.env, known).importBegin(known)), 201);
  }
  const asked = checked(http.createWorkspace, body);
  const id = `ws_${ulid()}`;
  return c.json(must(await roomOf(c.env, id).createWorkspace(id, asked)), 201);
});

workspace.post("/invites/redeem", async (c) => {
  const asked = await bodyOf(c, http.redeemInvite);
  const { room, proof } = linkOf(c, asked.secret);
  const redeemed = must(await room.redeemInvite(proof, asked));
  setSession(c, redeemed.token);
  return c.json(redeemed, 201);
});

workspace.post("/sign-in-links/redeem", async (c) => {
  const asked = await bodyOf(c, http.redeemSignInLink);
  const { room, proof } = linkOf(c, asked.secret);
  const redeemed = must(await room.redeemSignIn(proof, asked));
  setSession(c, redeemed.token);
  return c.json(redeemed, 201);
});

/** A link's secret says which workspace; one that cannot be ours is over like any other. */
function linkOf(c: C, secret: string) {
  const parts = parseLinkSecret(secret);
  if (!parts) refuse("gone", "This link was used, has expired or was withdrawn. Ask for a new one.");
  return {
    room: roomOf(c.env, parts.workspaceId),
    proof: { linkId: `inv_${parts.rowUlid}`, secretHash: sha256Hex(parts.secret), origin: originOf(c) },
  };
}

workspace.post("/invites", async (c) => {
  const asked = await bodyOf(c, http.createInvite);
  return c.json(must(await c.get("room").manage(credentialOf(c), "invite", asked)), 201);
});

workspace.delete("/invites/:id", async (c) => {
  must(await c.get("room").manage(credentialOf(c), "withdrawInvite", { invite_id: c.req.param("id") }));
  return c.body(null, 204);
});

workspace.post("/sign-in-links", async (c) => {
  const asked = await bodyOf(c, http.createSignInLink);
  return c.json(must(await c.get("room").manage(credentialOf(c), "signInLink", asked)), 201);
});

workspace.post("/harnesses", async (c) => {
  const asked = await bodyOf(c, http.createHarness);
  return c.json(must(await c.get("room").manage(credentialOf(c), "harness", asked)), 201);
});

workspace.post("/tokens", async (c) => {
  const asked = await bodyOf(c, http.createToken);
  return c.json(must(await c.get("room").manage(credentialOf(c), "token", asked)), 201);
});

workspace.delete("/tokens/:id", async (c) => {
  must(await c.get("room").manage(credentialOf(c), "revokeToken", { token_id: c.req.param("id") }));
  return c.body(null, 204);
});

workspace.post("/sign-out", async (c) => {
  must(await c.get("room").manage(credentialOf(c), "signOut", {}));
  endSession(c);
  return c.body(null, 204);
});

workspace.put("/me", async (c) => {
  const asked = await bodyOf(c, http.putMe);
  must(await c.get("room").manage(credentialOf(c), "timeZone", asked));
  return c.json(must(await c.get("room").read(credentialOf(c), "me", {})));
});
