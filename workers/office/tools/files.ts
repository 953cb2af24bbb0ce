/** Files that an agent reads, sends along, and keeps for itself (CTX-8, CTX-9). */
import { createHash } from "node:crypto";
import type { ResultFile } from "../../../src/context/tools.ts";
import { pathOfFile } from "../../../src/shared/rules/context/file-paths.ts";
import { cleanFilename } from "../../../src/shared/rules/filenames.ts";
import type { AgentFile } from "../../room/office/agent.ts";
import { AgentRefused } from "../handler.ts";
import { type Called, type Calling, inRooms, roomOf } from "./calling.ts";
import type { Needs } from "./say.ts";

/** A text file that is read whole into a result; of a longer one so much. */
const MOST_TEXT = 256 * 1024;

export async function files({ need, item, input }: Calling<"files">): Promise<Called> {
  if (input.attachment_id !== undefined) return read(need, input.attachment_id);
  const spaceId = input.space_id ?? roomOf(item)?.spaceId;
  if (spaceId === undefined)
    throw new AgentRefused("invalid", "Say of which room: space_id. This turn came from no room.");
  const { items } = await inRooms(need, "files", { space_id: spaceId, limit: 100 });
  return {
    ok: true,
    output: items.map(({ attachment_id, name: filename, mime_type, byte_size, version, by, at }) => ({
      attachment_id,
      filename,
      mime_type,
      byte_size,
      version,
      by,
      at,
    })),
  };
}

async function read(need: Needs, attachmentId: string): Promise<Called> {
  const file = await inRooms(need, "file", { attachment_id: attachmentId });
  const { env, workspace } = need.look();
  const named = resultFile(workspace, attachmentId, file);
  const about = { filename: file.filename, mime_type: file.mime_type, byte_size: file.byte_size };
  if (!/^text\/|^application\/(?:json|xml)\b/.test(file.mime_type))
    return { ok: true, output: about, files: [named] };
  const object = await env.FILES.get(file.key, { range: { offset: 0, length: MOST_TEXT } });
  if (!object) return { ok: false, output: "This file is not there any more." };
  const text = new TextDecoder().decode(await object.arrayBuffer());
  const whole = file.byte_size <= MOST_TEXT ? {} : { files: [named] };
  return { ok: true, output: { ...about, text }, ...whole };
}

function resultFile(workspace: string, attachmentId: string, file: Omit<AgentFile, "key">): ResultFile {
  return {
    contentType: file.mime_type,
    filename: file.filename,
    path: pathOfFile(workspace, attachmentId),
    size: file.byte_size,
    url: `/v1/attachments/${attachmentId}`,
  };
}

/** Keeps a text as a file of the agent's. */
export async function keep(need: Needs, filename: string, text: string): Promise<ResultFile> {
  const stored = await keepFile(need, filename, new TextEncoder().encode(text));
  return resultFile(need.look().workspace, stored.attachment_id, stored);
}

/** Keeps bytes of text as an attachment that the agent uploaded, by the same steps as any upload (ATT-1). */
export async function keepFile(
  need: Needs,
  name: string,
  bytes: Uint8Array,
): Promise<Omit<AgentFile, "key"> & { attachment_id: string }> {
  const { env } = need.look();
  const { key, filename } = await inRooms(need, "uploadBegin", {
    filename: cleanFilename(name) ?? "text.txt",
    declared: bytes.byteLength,
  });
  await env.FILES.put(key, bytes);
  const { uploaded } = await inRooms(need, "uploadFinish", {
    key,
    filename,
    mime_type: "text/plain",
    byte_size: bytes.byteLength,
    sha256: createHash("sha256").update(bytes).digest("hex"),
  });
  return uploaded;
}
