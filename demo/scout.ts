/** Scout: a harness that answers by a script. It shows steps, replies and files; it knows nothing. */
import { setTimeout as pause } from "node:timers/promises";
import { connectHarness, type Harness, type Turn } from "../src/sdk/index.ts";

export interface DemoOptions {
  url: string;
  token: string;
  /** Told what went wrong in passing. */
  onError?: (error: Error) => void;
}

/** What Scout does with a message, in order. */
export interface Script {
  steps: string[];
  reply: string;
  file?: { filename: string; content: string };
}

const WEEK = "day,weather,°C\nMonday,rain until noon,14\nTuesday,dry,17\nWednesday,fog,11\n";

/** The whole of Scout's mind. */
export function scriptFor(text: string): Script {
  if (/\b(file|report|table|csv|attach)/i.test(text))
    return {
      steps: ["looking out of the window", "drawing a table"],
      reply: "Here is the week as a table.",
      file: { filename: "weather.csv", content: WEEK },
    };
  if (/\b(weather|forecast|rain)/i.test(text))
    return {
      steps: ["looking out of the window", "tapping the barometer"],
      reply: "Rain until noon, then dry, 14 °C.",
    };
  return {
    steps: ["leafing through the script"],
    reply: "I am a demo and answer by a script. Ask me for the weather, or for a weather report as a file.",
  };
}

/** Connects Scout. How long a step takes is only for the eye. */
export function connectScout(options: DemoOptions, stepMs = 400): Harness {
  return connectHarness({
    ...options,
    agents: [{ name: "Scout" }],
    async onTurn(turn) {
      const { steps, reply, file } = scriptFor(turn.message.text);
      for (const step of steps) {
        await turn.step(step);
        await pause(stepMs, undefined, { signal: turn.signal });
      }
      if (file) await turn.attach(file.content, { filename: file.filename });
      return `${addressOf(turn)}${reply}`;
    },
  });
}

/** An agent hears only those that name it; a person reads anyway (ADDR-4). */
export function addressOf({ message }: Pick<Turn, "message">): string {
  const { participant_id, kind } = message.from;
  const handle = message.room?.members.find((member) => member.participant_id === participant_id)?.handle;
  return kind === "person" || handle === undefined ? "" : `@${handle} `;
}
