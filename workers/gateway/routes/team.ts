/** The team's config: one document in its versions (TEAM-1). */
import { Hono } from "hono";
import { MAX_TEAM_BYTES, TEAM_FORMATS } from "../../../src/shared/wire/office.ts";
import { refuse } from "../../kit/result.ts";
import { identityOf } from "../auth.ts";
import { boardOf, type C, type GatewayEnv, must, textOf } from "../context.ts";

export const team = new Hono<GatewayEnv>();

team.get("/team", async (c) => {
  const by = await identityOf(c);
  return answered(c, must(await boardOf(c.env, c.get("workspaceId")).getTeam(by)));
});

team.put("/team", async (c) => {
  const by = await identityOf(c);
  const format = formatOf(c);
  const document = await textOf(c, MAX_TEAM_BYTES);
  const workspace = c.get("workspaceId");
  const ifMatch = versionOf(c.req.header("if-match"));
  const asked = { workspace, document, format, ...(ifMatch === undefined ? {} : { ifMatch }) };
  return answered(c, must(await boardOf(c.env, workspace).putTeam(by, asked)));
});

function answered(c: C, answer: { version: number }): Response {
  c.header("etag", `"${answer.version}"`);
  return c.json(answer);
}

/** In which form the document is, as its sender says it. */
function formatOf(c: C): "yaml" | "json" {
  const type = (c.req.header("content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
  if (Object.hasOwn(TEAM_FORMATS, type)) return TEAM_FORMATS[type as keyof typeof TEAM_FORMATS];
  refuse(
    "unsupported",
    `Send the team's config as YAML or JSON, and say so: Content-Type is one of ${Object.keys(TEAM_FORMATS).join(", ")}.`,
  );
}

/** The version that an entity tag names; what is no tag of ours stays as it is, and matches nothing. */
function versionOf(header: string | undefined): string | undefined {
  return header === undefined ? undefined : (/^\s*(?:W\/)?"([^"]*)"\s*$/.exec(header)?.[1] ?? header.trim());
}
