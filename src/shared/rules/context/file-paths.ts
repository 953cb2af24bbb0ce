/** What an item's file is called in its workspace's storage (RENDER-3). */
import { isId, ULID_PATTERN } from "../../wire/ids.ts";

const PATH = new RegExp(`^(ws_${ULID_PATTERN})/(${ULID_PATTERN})$`);

/** The `path` of an attachment. */
export function pathOfFile(workspace: string, attachmentId: string): string {
  return `${workspace}/${attachmentId.slice("att_".length)}`;
}

/** The attachment that a path names; undefined where it is none of this workspace's. */
export function fileOfPath(workspace: string, path: string): string | undefined {
  const [, of, ulid] = PATH.exec(path) ?? [];
  const id = `att_${ulid}`;
  return of === workspace && isId(id, "att") ? id : undefined;
}
