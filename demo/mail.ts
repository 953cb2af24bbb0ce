/** The e-mail that Dispatch asks about before it "sends" it. Nothing ever leaves this machine. */
import type { ApproveOptions, Decision, MessageNew } from "../src/sdk/index.ts";

export interface Mail {
  to: string;
  subject: string;
  body: string;
}

/** What of the talk a summary has. */
const LINES = 5;

/** The mail that somebody wants sent: `send Dana the summary`. */
export function mailIn({ text, context }: Pick<MessageNew, "text" | "context">): Mail | undefined {
  const match = /\bsend\s+@?([\p{L}\p{N}_-]+)\s+(.+)/isu.exec(text);
  if (!match?.[1] || !match[2]) return undefined;
  const said = (context?.lines ?? []).filter((line) => line.kind === "said").slice(-LINES);
  return {
    to: `${match[1].toLowerCase()}@example.com`,
    subject: match[2].trim().replace(/[.!?]+$/, ""),
    body: said.map(({ from, text: words = "" }) => `${from.name}: ${words}`).join("\n") || "All quiet.",
  };
}

/** The ask: the question, what comes of a yes, and the mail as it would go out. */
export function askFor(mail: Mail): ApproveOptions {
  return {
    action: { kind: "email.send", input: mail, external: true, irreversible: true },
    risk: ["external_communication"],
    question: `Send "${mail.subject}" to ${mail.to}?`,
    effect: "An e-mail leaves the workspace. (In this demo it does not.)",
    preview: { format: "plain", title: `To ${mail.to}: ${mail.subject}`, body: mail.body },
    editable: true,
    expires_in: 86_400,
  };
}

/** What Dispatch says once it is decided. The approver may have changed the mail. */
export function outcomeOf({ allowed, input, via }: Decision): string {
  if (!allowed)
    return via === "expiry" ? "Nobody said yes in time, so it stays here." : "Understood, it stays here.";
  const { to, subject } = input as Mail;
  return `Sent "${subject}" to ${to}. (This is a demo: nothing has left.)`;
}
