/**
 * A harness as a process of its own, for tests that kill it: `node clerk.ts` with BULLPEN_URL and BULLPEN_TOKEN.
 * Its agent asks before it mails, asks people which, and else works until it is stopped. It prints what befalls it.
 */
import { connectHarness, type Turn } from "../../src/sdk/index.ts";

const harness = connectHarness({
  url: process.env["BULLPEN_URL"] ?? "",
  token: process.env["BULLPEN_TOKEN"] ?? "",
  agents: [{ name: "Clerk" }],
  can: ["pause"],
  onStatus: ({ state }) => console.log(`connection ${state}`),
  async onTurn(turn) {
    const { text } = turn.message;
    if (text.includes("mail")) {
      const { decision } = await turn.approve({
        action: { kind: "email.send", input: { to: "dana" } },
        question: "Mail Dana?",
        effect: "An e-mail leaves.",
        expires_in: 3600,
        editable: true,
        lasts: "standing",
        state: "draft 3",
      });
      return `${decision} in the same life`;
    }
    if (text.includes("which")) {
      const { text: said, option } = await turn.ask("Which one?", { options: ["red", "blue"] });
      return `${said} it is, the ${option}`;
    }
    return await work(turn);
  },
  resume: ({ decision, input }, turn) =>
    `${decision} in a later life: ${JSON.stringify(input)}, ${turn.state}`,
});

/** Works until it is stopped. */
function work(turn: Turn): Promise<string> {
  turn.onPause = (paused) => console.log(paused ? "paused" : "goes on");
  console.log(`works ${turn.runId}`);
  return new Promise((_, reject) =>
    turn.signal.addEventListener("abort", () => {
      console.log("stopped");
      reject(turn.signal.reason as Error);
    }),
  );
}

process.once("SIGTERM", () => void harness.close());
const reason = await harness.closed;
if (reason) throw reason;
