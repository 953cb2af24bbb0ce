/** What an agent says and looks for in rooms, and whom it asks (CTX-8). */
import { newId } from "../../../src/sdk/ids.ts";
import { AgentRefused } from "../handler.ts";
import { type Called, type Calling, inRooms, roomOf } from "./calling.ts";
import { keepFile } from "./files.ts";
import { say } from "./say.ts";

const NOWHERE = "Say where: space_id, or reply_to with a message's id. This turn came from no room.";

export async function post({ need, item, key, input }: Calling<"post">): Promise<Called> {
  // A try before this one may have come as far as the room: its files are not made anew.
  const before = await inRooms(need, "said", { key });
  if (before) return { ok: true, output: before };
  const { space_id, reply_to } = await placeOf({ need, item, input });
  const attachments = [...(input.attachments ?? [])];
  for (const { filename, text } of input.attach ?? [])
    attachments.push((await keepFile(need, filename, new TextEncoder().encode(text))).attachment_id);
  const frame = {
    v: 1,
    type: "message.post",
    id: newId("evt"),
    idempotency_key: key,
    space_id,
    text: input.text,
    ...(reply_to !== undefined && { reply_to }),
    ...(attachments.length > 0 && { attachments: attachments.map((id) => ({ attachment_id: id })) }),
  };
  const [receipt] = await inRooms(need, "frames", { frames: [frame] });
  return { ok: true, output: { message_id: receipt?.message_id ?? null, space_id } };
}

/** Where it is said: as asked, else where the turn came from. */
async function placeOf({
  need,
  item,
  input,
}: Pick<Calling<"post">, "need" | "item" | "input">): Promise<{ space_id: string; reply_to?: string }> {
  if (input.reply_to !== undefined) {
    const space_id = await inRooms(need, "spaceOf", { message_id: input.reply_to });
    return { space_id, reply_to: input.reply_to };
  }
  if (input.space_id !== undefined) return { space_id: input.space_id };
  const here = roomOf(item);
  if (!here) throw new AgentRefused("invalid", NOWHERE);
  return { space_id: here.spaceId, reply_to: here.thread };
}

export async function ask({ need, id, item, input }: Calling<"ask">): Promise<Called> {
  const about = item && item.state !== "done" && item.state !== "canceled" ? { workItemId: item.id } : {};
  const output = await say(need, "ask", { ...input, ...about }, id);
  return { ok: true, output };
}

export async function search({ need, id, input }: Calling<"search">): Promise<Called> {
  if (input.in === "work") {
    const found = await say(need, "recall", { query: input.query, limit: input.limit }, id);
    return { ok: true, output: found };
  }
  const { items } = await inRooms(need, "search", { q: input.query, limit: input.limit });
  return {
    ok: true,
    output: items.map(({ message_id, space_id, at, from, excerpt }) => ({
      message_id,
      space_id,
      at,
      from: from.display_name,
      excerpt,
    })),
  };
}
