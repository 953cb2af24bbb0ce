/**
 * Codex's `codex exec --json`: `thread.started`, `turn.started`, items that start, change and complete, and
 * `turn.completed` with the tokens, or `turn.failed`. It reports no cost.
 */
import { type Json, listOf, recordOf, sumOf, type Told, textOf, usageOf } from "./events.ts";
import { lastPart, shortLine } from "./words.ts";

const TYPE =
  /^(?:thread\.started|turn\.(?:started|completed|failed)|item\.(?:started|updated|completed)|error)$/u;
const REMEMBERED = 500;

export class CodexReader {
  /** The steps told, by item: an item that starts and completes is one. */
  readonly #steps = new Map<string, string>();

  /** What an event says; undefined when it is none of Codex's. */
  read(event: Json): Told[] | undefined {
    const type = textOf(event, "type");
    if (!TYPE.test(type)) return undefined;
    if (type.startsWith("item.")) return this.#item(recordOf(event, "item"), type === "item.completed");
    if (type === "turn.completed") {
      const tokens = recordOf(event, "usage");
      // The cached tokens are among the input's.
      const usage = usageOf(undefined, sumOf(tokens, ["input_tokens"]), sumOf(tokens, ["output_tokens"]));
      return [...(usage ? [{ kind: "usage" as const, usage }] : []), { kind: "done" }];
    }
    if (type === "turn.failed")
      return [{ kind: "failed", reason: reasonOf(textOf(recordOf(event, "error"), "message")) }];
    // It may be a lost connection that comes back: only the turn's own end decides.
    if (type === "error")
      return [
        {
          kind: "failed",
          reason: reasonOf(textOf(event, "message") || textOf(recordOf(event, "error"), "message")),
        },
      ];
    return [];
  }

  #item(item: Json, completed: boolean): Told[] {
    const type = textOf(item, "type");
    if (type === "agent_message") {
      const text = textOf(item, "text");
      return completed && text.trim() !== "" ? [{ kind: "said", text }] : [];
    }
    const text = itemStep(type, item);
    if (text === undefined) return [];
    const id = textOf(item, "id") || text;
    const shown = completed && hasFailed(item) ? shortLine(`${text} (failed)`) : text;
    if (this.#steps.get(id) === shown) return [];
    this.#steps.set(id, shown);
    const oldest = this.#steps.keys().next();
    if (this.#steps.size > REMEMBERED && !oldest.done) this.#steps.delete(oldest.value);
    return [{ kind: "step", text: shown, id }];
  }
}

function hasFailed(item: Json): boolean {
  const code = item["exit_code"];
  const status = textOf(item, "status");
  return (typeof code === "number" && code !== 0) || status === "failed" || status === "declined";
}

/** An item in a few words; undefined for what is no doing, such as its thoughts. */
function itemStep(type: string, item: Json): string | undefined {
  switch (type) {
    case "command_execution":
      return shortLine(`Command: ${unwrapped(textOf(item, "command"))}`);
    case "file_change": {
      const changes = listOf(item, "changes");
      const names = changes.map((change) =>
        `${textOf(change, "kind")} ${lastPart(textOf(change, "path"))}`.trim(),
      );
      return shortLine(`Files: ${names.join(", ")}`);
    }
    case "mcp_tool_call":
      return shortLine(`${textOf(item, "server")}: ${textOf(item, "tool")}`, 80);
    case "web_search": {
      const query = textOf(item, "query");
      const first = listOf(recordOf(item, "action"), "queries")[0];
      const what = query || (typeof first === "string" ? first : "");
      return shortLine(what === "" ? "Web search" : `Web search: ${what}`);
    }
    case "todo_list": {
      const now = listOf(item, "items").find((todo) => (todo as Json | null)?.["completed"] === false);
      return now === undefined ? undefined : shortLine(textOf(now, "text"));
    }
    default:
      return undefined;
  }
}

/** The command without the shell that runs it. */
function unwrapped(command: string): string {
  const [, inner] = /^(?:\S*\/)?(?:ba|z|da|k)?sh -l?c (.*)$/su.exec(command) ?? [];
  return (inner ?? command).replace(/^(['"])(.*)\1$/su, "$2");
}

/** The provider's error may come as JSON within the text. */
function reasonOf(message: string): string {
  let reason = message;
  try {
    const parsed: unknown = JSON.parse(message);
    reason = textOf(recordOf(parsed, "error"), "message") || textOf(parsed, "message") || message;
  } catch {
    // It is plain words, as it mostly is.
  }
  return shortLine(reason) || "an error of the agent";
}
