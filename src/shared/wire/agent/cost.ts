import * as z from "zod";
import { frame } from "./frame.ts";
import { share, totals } from "./parts.ts";

export const ticketUsage = frame(
  "ticket_usage",
  { ticket: z.string() },
  "Asks for what a ticket's work used (USE-2).",
);

export const ticketUsageResult = frame(
  "ticket_usage_result",
  {
    ticket: z.string(),
    own: totals,
    total: totals,
    subTickets: z.array(z.object({ ticket: z.string(), total: totals })),
    byPerson: z.array(share),
    byModel: z.array(share),
    byKind: z.array(share),
  },
  "What a ticket's work used, with its sub-tickets (USE-2).",
);
