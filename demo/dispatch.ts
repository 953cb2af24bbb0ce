/**
 * Dispatch: a harness that hands work to another agent by naming it, and reports what came of it. Before it
 * sends an e-mail it asks a person, and waits for the answer over its own restarts.
 */
import { connectHarness, type Harness, type MessageNew } from "../src/sdk/index.ts";
import { askFor, mailIn, outcomeOf } from "./mail.ts";
import type { DemoOptions } from "./scout.ts";

/** Who is to be asked, and what for: `ask Scout for the weather`. */
export function orderIn(text: string): { whom: string; what: string } | undefined {
  const match = /\bask\s+@?([\p{L}\p{N}_-]+)\s+(?:for|about|to)?\s*(.+)/isu.exec(text);
  return match?.[1] && match[2] ? { whom: match[1], what: match[2].trim().replace(/[.!]+$/, "") } : undefined;
}

/** What Dispatch says: to a person's order, or to what another agent answered. */
export function answerTo(message: MessageNew, asker: string | undefined): string {
  if (message.from.kind !== "person") {
    const words = message.text.replace(/^@\S+\s*/, "");
    const files = (message.attachments ?? []).map(({ filename }) => filename);
    const sent = files.length > 0 ? ` (with ${files.join(", ")}, above)` : "";
    return `${asker === undefined ? "" : `@${asker} `}${message.from.display_name} says: ${words}${sent}`;
  }
  const order = orderIn(message.text);
  if (!order) return "Tell me whom to ask for what, as in: @Dispatch ask Scout for the weather";
  const found = message.room?.members.find(
    ({ kind, handle }) => kind === "agent" && handle?.toLowerCase() === order.whom.toLowerCase(),
  );
  return found ? `@${found.handle}, please: ${order.what}?` : `There is no agent ${order.whom} here.`;
}

/** Connects Dispatch. It remembers who asked last in each space, for the report. */
export function connectDispatch(options: DemoOptions): Harness {
  const askers = new Map<string, string>();
  return connectHarness({
    ...options,
    agents: [{ name: "Dispatch" }],
    async onTurn(turn) {
      const { message, spaceId } = turn;
      const { participant_id, kind } = message.from;
      const mail = kind === "person" ? mailIn(message) : undefined;
      if (mail) {
        void turn.step("asking before it goes out");
        return outcomeOf(await turn.approve(askFor(mail)));
      }
      const handle = message.room?.members.find((m) => m.participant_id === participant_id)?.handle;
      const asker = askers.get(spaceId);
      if (kind === "person" && handle !== undefined) askers.set(spaceId, handle);
      return answerTo(message, asker);
    },
    resume: (decision) => outcomeOf(decision),
  });
}
