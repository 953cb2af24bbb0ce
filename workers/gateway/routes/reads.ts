/** The reads of a room (HTTP-2). */
import { Hono } from "hono";
import { id, isId } from "../../../src/shared/wire/ids.ts";
import { contextQuery, filesQuery, pageQuery, searchQuery } from "../../../src/shared/wire/query.ts";
import { notFound } from "../../kit/result.ts";
import { type C, credentialOf, type GatewayEnv, must } from "../context.ts";
import { queryOf } from "../query.ts";

export const reads = new Hono<GatewayEnv>();

/** A space's id from the path; what cannot be one is answered as one that is not there (ERR-3). */
function spaceId(c: C): string {
  const given = c.req.param("id") ?? "";
  if (!id("spc").safeParse(given).success) notFound("space");
  return given;
}

reads.get("/me", async (c) => c.json(must(await c.get("room").read(credentialOf(c), "me", {}))));
reads.get("/settings", async (c) => c.json(must(await c.get("room").read(credentialOf(c), "settings", {}))));
reads.get("/participants", async (c) =>
  c.json(must(await c.get("room").read(credentialOf(c), "participants", queryOf(c, pageQuery)))),
);
reads.get("/tokens", async (c) =>
  c.json(must(await c.get("room").read(credentialOf(c), "tokens", queryOf(c, pageQuery)))),
);

/** An event, or a message for the event that said it (WHY-1). */
reads.get("/why/:id", async (c) => {
  const given = c.req.param("id");
  if (!isId(given, "evt") && !isId(given, "msg")) notFound("event");
  return c.json(must(await c.get("room").read(credentialOf(c), "why", { id: given })));
});

/** The whole workspace, as it stands when the answer begins (LOG-6). */
reads.get("/export", async (c) => {
  const stream = must(await c.get("room").export(credentialOf(c)));
  const name = `bullpen-${c.get("workspaceId")}.ndjson`;
  return c.body(stream, 200, {
    "content-type": "application/x-ndjson",
    "content-disposition": `attachment; filename="${name}"`,
  });
});

reads.get("/export/files/:sha256", async (c) => {
  const file = must(await c.get("room").exportFile(credentialOf(c), c.req.param("sha256")));
  const object = await c.env.FILES.get(file.key);
  if (!object) notFound("attachment");
  return new Response(object.body, {
    headers: {
      "content-type": "application/octet-stream",
      "content-length": String(file.byte_size),
      "content-disposition": "attachment",
      "x-content-type-options": "nosniff",
      "cache-control": "private, no-store, no-transform",
    },
  });
});

reads.get("/search", async (c) =>
  c.json(must(await c.get("room").read(credentialOf(c), "search", queryOf(c, searchQuery)))),
);

reads.get("/spaces", async (c) =>
  c.json(must(await c.get("room").read(credentialOf(c), "spaces", queryOf(c, pageQuery)))),
);
reads.get("/spaces/:id", async (c) =>
  c.json(must(await c.get("room").read(credentialOf(c), "space", { space_id: spaceId(c) }))),
);
reads.get("/spaces/:id/members", async (c) =>
  c.json(must(await c.get("room").read(credentialOf(c), "members", { space_id: spaceId(c) }))),
);

reads.get("/spaces/:id/context", async (c) => {
  const args = { space_id: spaceId(c), ...queryOf(c, contextQuery) };
  return c.json(must(await c.get("room").read(credentialOf(c), "context", args)));
});

reads.get("/spaces/:id/files", async (c) => {
  const args = { space_id: spaceId(c), ...queryOf(c, filesQuery) };
  return c.json(must(await c.get("room").read(credentialOf(c), "files", args)));
});
reads.get("/spaces/:id/runs", async (c) => {
  const args = { space_id: spaceId(c), ...queryOf(c, pageQuery) };
  return c.json(must(await c.get("room").read(credentialOf(c), "runs", args)));
});
