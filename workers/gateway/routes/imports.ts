/** A workspace's export taken in, for the deployment's admin: lines first, then files by hash (LOG-6). */
import { Hono } from "hono";
import { id } from "../../../src/shared/wire/ids.ts";
import { importQuery } from "../../../src/shared/wire/query.ts";
import { refuse } from "../../kit/result.ts";
import { refuseEmpty } from "../../room/uploads.ts";
import { mustBeAdmin } from "../auth.ts";
import { type C, type GatewayEnv, must, roomOf } from "../context.ts";
import { store } from "../files/store.ts";
import { queryOf } from "../query.ts";
import { wholeLines } from "./lines.ts";

export const imports = new Hono<GatewayEnv>();

/** The room of the id in the path; one that cannot be ours is asked for nothing. */
function roomIn(c: C) {
  mustBeAdmin(c);
  const known = id("ws").safeParse(c.req.param("id"));
  if (!known.success)
    refuse("not_found", "Nothing is imported here. Begin with POST /v1/workspaces {import}.");
  return roomOf(c.env, known.data);
}

imports.post("/:id/import", async (c) => {
  const room = roomIn(c);
  let { from } = queryOf(c, importQuery);
  const { body } = c.req.raw;
  if (!body) refuse("invalid", "The body is empty. Send the export's lines.");
  let answer: unknown;
  for await (const { text, count } of wholeLines(body)) {
    answer = must(await room.importLines(from, text));
    from += count;
  }
  if (answer === undefined) refuse("invalid", "There is no whole line in the body. Send the export's lines.");
  return c.json(answer as object);
});

imports.put("/:id/files/:sha256", async (c) => {
  const room = roomIn(c);
  const wanted = c.req.param("sha256");
  const { key, byte_size } = must(await room.importFile(wanted));
  const { body } = c.req.raw;
  if (key === undefined) {
    await body?.cancel();
    return c.body(null, 204);
  }
  if (!body) refuseEmpty();
  const { sha256 } = await store(c.env.FILES, body, {
    key,
    maxBytes: byte_size,
    async look() {},
    async inParts(uploadId) {
      must(await room.importFileInParts(key, uploadId));
    },
  });
  if (!must(await room.importFileFinish(wanted, { key, sha256 })))
    refuse("invalid", "These bytes have another hash than the file that was named. Nothing was kept.");
  return c.body(null, 204);
});
