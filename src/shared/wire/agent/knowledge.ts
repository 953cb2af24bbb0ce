import * as z from "zod";
import { frame } from "./frame.ts";
import { docRef } from "./parts.ts";

export const docLink = frame(
  "doc_link",
  { workItemId: z.string(), doc: docRef, ticket: z.string().optional() },
  "A document was written for a ticket (ITEM-5).",
);

export const notesChanged = frame(
  "notes_changed",
  {
    change: z.enum(["added", "updated", "removed", "migrated", "edit_ignored"]),
    note: z.string().optional(),
    count: z.int().optional(),
    doc: docRef.optional(),
    edit: z.object({ author: z.string(), at: z.string(), version: z.string() }).optional(),
    workItemId: z.string().optional(),
  },
  "The agent's notes changed (ITEM-5).",
);

export const doctorReport = frame(
  "doctor_report",
  {
    checks: z.array(
      z.object({
        name: z.string(),
        status: z.enum(["ok", "warn", "fail"]),
        detail: z.string(),
        fix: z.string().optional(),
        key: z.string().optional(),
        adapter: z.string().optional(),
      }),
    ),
  },
  "What the agent checked of its own surroundings at its start (ITEM-5).",
);
