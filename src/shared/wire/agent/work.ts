import * as z from "zod";
import { frame } from "./frame.ts";
import { workBrief } from "./parts.ts";

export const workList = frame(
  "work_list",
  { workItemId: z.string().optional() },
  "Asks for the caller's items (ITEM-4).",
);

export const workListResult = frame(
  "work_list_result",
  { items: z.array(workBrief) },
  "The open items in the order they run, then the last finished (ITEM-4).",
);

export const workStatus = frame(
  "work_status",
  { workItemIds: z.array(z.string()) },
  "Asks how a list of items stands (ITEM-4).",
);

export const workStatusResult = frame(
  "work_status_result",
  {
    items: z.array(
      z.object({
        workItemId: z.string(),
        state: z.enum(["queued", "active", "waiting", "blocked", "done", "canceled", "not_yours", "unknown"]),
      }),
    ),
  },
  "The state of each item, in the order asked (ITEM-4).",
);

export const workMove = frame(
  "work_move",
  { workItemId: z.string(), status: z.enum(["queued", "blocked", "canceled"]) },
  "Moves an own item to another state (OFFER-7).",
);

export const workMoveResult = frame("work_move_result", { item: workBrief }, "The item as it stands now.");

export const workPlace = frame(
  "work_place",
  {
    workItemId: z.string(),
    position: z.enum(["next", "last", "before", "after"]),
    relativeTo: z.string().optional(),
  },
  "Moves an own queued item to another place (QUEUE-2).",
);
