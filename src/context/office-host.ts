/** The tools of the office, for an agent that runs elsewhere (CTX-8): the office carries each call out. */
import type * as z from "zod";
import { BullpenError } from "../sdk/errors.ts";
import { upload } from "../sdk/files.ts";
import { pathOfFile } from "../shared/rules/context/file-paths.ts";
import type { officeCalled } from "../shared/wire/context/call.ts";
import type { ContextStream } from "./stream.ts";
import { officeTools, type ToolHost } from "./tools.ts";

export function officeHostOf({ http, workspace, person, item }: ContextStream): ToolHost {
  const route = `/v1/people/${person}/calls`;
  return {
    tools: officeTools,
    async call({ id, tool, input }, signal) {
      try {
        const body = { id, tool, input, ...(item !== undefined && { item }) };
        const called = await http.post<z.infer<typeof officeCalled>>(route, body, { signal });
        return "later" in called ? "later" : called;
      } catch (error) {
        // What would be refused again is a result, for the model to read.
        if (error instanceof BullpenError && !error.retryable) return { ok: false, output: error.message };
        throw error;
      }
    },
    withdraw: ({ id }) => http.delete(`${route}/${id}`, { query: { item } }),
    async keep(text, filename) {
      const { attachment_id, mime_type, byte_size } = await upload(http, text, { filename });
      return {
        contentType: mime_type,
        filename,
        path: pathOfFile(workspace, attachment_id),
        size: byte_size,
        url: `/v1/attachments/${attachment_id}`,
      };
    },
  };
}
