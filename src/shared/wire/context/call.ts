/** Calls of an answer that an office carries out (CTX-9). */
import * as z from "zod";
import { id } from "../ids.ts";
import { itemFile } from "./item.ts";

/** `exe_<request offset>_<n>`. */
export const callId = z.string().regex(/^exe_[1-9]\d{0,15}_[1-9]\d{0,5}$/, {
  error: "must be exe_<request offset>_<n>",
});

/** The stream's item, when it is not the person's own stream. */
const item = id("itm").optional().describe("The item of whose stream it is; left out for the person's own.");

/** `POST /v1/people/:handle/calls` */
export const officeCall = z.object({
  id: callId.describe("Of the call: carried out again, it makes one thing."),
  item,
  tool: z.string().min(1).max(64),
  input: z.unknown().describe("As the model wrote it. What is wrong in it the result says."),
});
export const officeCallQuery = z.object({ item });

/** What came of it. `later`: it waits for somebody, as for leave; ask again with the same call. */
export const officeCalled = z.union([
  z.object({ later: z.literal(true) }),
  z.object({
    ok: z.boolean(),
    output: z.unknown().describe("JSON. Of a call that is not ok one sentence that says what to do."),
    files: z.array(itemFile).optional(),
  }),
]);
