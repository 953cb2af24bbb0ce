import * as z from "zod";
import { frame } from "./frame.ts";

export const act = frame(
  "act",
  { id: z.string(), ops: z.array(z.unknown()) },
  "Changes to make as oneself, in order (ACT-1).",
);

export const actResult = frame(
  "act_result",
  { id: z.string(), ok: z.boolean(), results: z.array(z.string()), error: z.string().optional() },
  "What came of an act (ACT-2).",
);
