/** Asks, grants, the policy and the audit (APR, POL): what they change goes through the events. */
import { Hono } from "hono";
import { tryPolicy } from "../../../src/shared/wire/http.ts";
import { approvalsQuery, pageQuery, policyQuery } from "../../../src/shared/wire/query.ts";
import { bodyOf, credentialOf, type GatewayEnv, must } from "../context.ts";
import { queryOf } from "../query.ts";

export const approvals = new Hono<GatewayEnv>();

approvals.get("/approvals", async (c) =>
  c.json(must(await c.get("room").read(credentialOf(c), "approvals", queryOf(c, approvalsQuery)))),
);
approvals.get("/grants", async (c) =>
  c.json(must(await c.get("room").read(credentialOf(c), "grants", queryOf(c, pageQuery)))),
);
approvals.get("/policy", async (c) =>
  c.json(must(await c.get("room").read(credentialOf(c), "policy", queryOf(c, policyQuery)))),
);
approvals.post("/policy/try", async (c) => {
  const credential = credentialOf(c);
  const asked = await bodyOf(c, tryPolicy);
  return c.json(must(await c.get("room").read(credential, "policyTry", asked)));
});
approvals.get("/audit", async (c) =>
  c.json(must(await c.get("room").read(credentialOf(c), "audit", queryOf(c, pageQuery)))),
);
approvals.get("/audit/verify", async (c) =>
  c.json(must(await c.get("room").read(credentialOf(c), "auditVerify", {}))),
);
