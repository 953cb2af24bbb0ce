/** What the operator is told of an agent: lines for people, or an object a line. */
import { dim, note, print, safeJson, safeLine } from "../terminal.ts";
import { clockTime } from "../times.ts";

/** What happens to an agent. */
export type Happened =
  | { event: "connected"; person: string; workspace: string }
  | { event: "lost" | "back" | "leaving" }
  | { event: "took"; item: string; kind: string; title: string; again?: true }
  | { event: "ended"; item: string; how: string; text?: string }
  | { event: "stopped"; item: string; why: string }
  | { event: "error"; message: string };

/** Tells it: to people on standard error, so that a pipe gets what it asks for with --json alone. */
export function teller(json: boolean, now: () => number = Date.now): (happened: Happened) => void {
  return (happened) => {
    const at = new Date(now()).toISOString();
    if (json) print(safeJson({ at, ...happened }));
    else note(`${dim(clockTime(at))}  ${words(happened)}`);
  };
}

function words(happened: Happened): string {
  switch (happened.event) {
    case "connected":
      return `${happened.person} is connected to ${safeLine(happened.workspace)} and waits for work. Ctrl-C leaves.`;
    case "lost":
      return "Connection lost; trying again. What runs goes on.";
    case "back":
      return "Connected again.";
    case "leaving":
      return "Leaving: what runs is handed back. Ctrl-C again does not wait.";
    case "took":
      return `took ${safeLine(happened.title)} ${dim(`(${safeLine(happened.kind)}, ${safeLine(happened.item)}${happened.again ? ", again" : ""})`)}`;
    case "ended": {
      const text = happened.text === undefined ? "" : `: ${firstLine(happened.text)}`;
      return `${happened.how} ${dim(safeLine(happened.item))}${text}`;
    }
    case "stopped":
      return `stopped ${dim(safeLine(happened.item))}: ${safeLine(happened.why)}`;
    case "error":
      return `! ${safeLine(happened.message)}`;
  }
}

/** Of a summary so much stands in a line. */
const MOST = 100;

function firstLine(text: string): string {
  const line = safeLine(text.trim().split("\n")[0] ?? "");
  return line.length <= MOST ? line : `${line.slice(0, MOST - 1).replace(/[\uD800-\uDBFF]$/u, "")}…`;
}
