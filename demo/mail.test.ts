import { expect, it } from "vitest";
import type { Decision, MessageNew } from "../src/sdk/index.ts";
import { askFor, mailIn, outcomeOf } from "./mail.ts";

const lines = [
  { kind: "joined", from: { name: "Ann" } },
  { kind: "said", from: { name: "Scout" }, text: "Rain until noon." },
];
const message = (text: string): MessageNew => ({ text, context: { lines } }) as unknown as MessageNew;

it("reads whom to send what, and takes the summary from what was said", () => {
  expect(mailIn(message("@Dispatch please send Dana the summary."))).toEqual({
    to: "dana@example.com",
    subject: "the summary",
    body: "Scout: Rain until noon.",
  });
  expect(mailIn({ text: "send Dana news" })?.body).toBe("All quiet.");
  expect(mailIn(message("ask Scout for the weather"))).toBeUndefined();
});

it("APR-4: asks as something that leaves, with the mail to look at", () => {
  const mail = { to: "dana@example.com", subject: "the summary", body: "Rain." };
  expect(askFor(mail)).toMatchObject({
    question: 'Send "the summary" to dana@example.com?',
    action: { kind: "email.send", input: mail, external: true },
    risk: ["external_communication"],
    preview: { body: "Rain." },
    editable: true,
  });
});

it("APR-5: says what was sent as the approver left it, and what was not", () => {
  const input = { to: "dan@example.com", subject: "it", body: "" };
  expect(outcomeOf({ allowed: true, input, via: "person" } as Decision)).toContain('"it" to dan@example.com');
  expect(outcomeOf({ allowed: false, via: "person" } as Decision)).toContain("stays here");
  expect(outcomeOf({ allowed: false, via: "expiry" } as Decision)).toContain("in time");
});
