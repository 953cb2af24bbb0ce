/**
 * Claude Code's `--output-format stream-json`: `system`, `assistant` with blocks of text and tool uses, `user`
 * with the tools' results, and `result` at the end, with the words, the cost and the tokens.
 */
import { isRecord, type Json, listOf, recordOf, sumOf, type Told, textOf, usageOf } from "./events.ts";
import { lastPart, shortLine } from "./words.ts";

const TYPES = new Set(["system", "assistant", "user", "result", "stream_event", "rate_limit_event"]);

/** Endings that a `result` names by its subtype, where it has no words of its own. */
const SUBTYPES: Record<string, string> = {
  error_max_turns: "it reached its limit of turns",
  error_max_budget_usd: "it reached its limit of cost",
  error_during_execution: "an error while it worked",
};

/** Steps are remembered by the tool use's id, so that a failure is shown on the step itself. */
const REMEMBERED = 500;

export class ClaudeReader {
  readonly #steps = new Map<string, string>();

  /** What an event says; undefined when it is none of Claude Code's. */
  read(event: Json): Told[] | undefined {
    const type = textOf(event, "type");
    if (!TYPES.has(type)) return undefined;
    if (type === "assistant") return this.#assistant(event);
    if (type === "user") return this.#results(event);
    return type === "result" ? result(event) : [];
  }

  #assistant(event: Json): Told[] {
    const blocks = listOf(recordOf(event, "message"), "content");
    const told: Told[] = [];
    // A subagent's words are for the agent that sent it, not for the room.
    const own = textOf(event, "parent_tool_use_id") === "";
    const words = blocks
      .filter((block) => textOf(block, "type") === "text")
      .map((block) => textOf(block, "text"));
    if (own && words.join("").trim() !== "") told.push({ kind: "said", text: words.join("\n\n") });
    for (const block of blocks) {
      if (textOf(block, "type") !== "tool_use") continue;
      const text = toolStep(textOf(block, "name"), recordOf(block, "input"));
      const id = textOf(block, "id");
      if (id !== "") this.#remember(id, text);
      told.push({ kind: "step", text, id: id === "" ? undefined : id });
    }
    return told;
  }

  #results(event: Json): Told[] {
    return listOf(recordOf(event, "message"), "content").flatMap((block): Told[] => {
      const id = textOf(block, "tool_use_id");
      const step = this.#steps.get(id);
      this.#steps.delete(id);
      const failed = isRecord(block) && block["is_error"] === true;
      return failed && step !== undefined ? [{ kind: "step", text: shortLine(`${step} (failed)`), id }] : [];
    });
  }

  #remember(id: string, text: string): void {
    this.#steps.set(id, text);
    const oldest = this.#steps.keys().next();
    if (this.#steps.size > REMEMBERED && !oldest.done) this.#steps.delete(oldest.value);
  }
}

function result(event: Json): Told[] {
  const tokens = recordOf(event, "usage");
  const usage = usageOf(
    sumOf(event, ["total_cost_usd"]),
    sumOf(tokens, ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"]),
    sumOf(tokens, ["output_tokens"]),
  );
  const told: Told[] = usage ? [{ kind: "usage", usage }] : [];
  const text = textOf(event, "result");
  const subtype = textOf(event, "subtype");
  // "success" alone does not say so: not being signed in ends with it as well.
  if (event["is_error"] !== true && !subtype.startsWith("error")) {
    if (text.trim() !== "") told.push({ kind: "said", text });
    return [...told, { kind: "done" }];
  }
  const [error] = listOf(event, "errors");
  const reason =
    text || (typeof error === "string" ? error : "") || (SUBTYPES[subtype] ?? "an error of the agent");
  return [...told, { kind: "failed", reason: shortLine(reason) }];
}

/** A tool use in a few words: what is done, and to what; never the whole of its input. */
function toolStep(name: string, input: Json): string {
  const of = (field: string): string => textOf(input, field);
  switch (name) {
    case "Bash":
      return shortLine(`Bash: ${of("description") || of("command")}`);
    case "Read":
    case "Edit":
    case "MultiEdit":
    case "Write":
    case "NotebookEdit":
      return shortLine(`${name} ${lastPart(of("file_path") || of("notebook_path"))}`);
    case "Glob":
    case "Grep":
      return shortLine(`${name} ${of("pattern")}`);
    case "WebSearch":
      return shortLine(`Web search: ${of("query")}`);
    case "WebFetch":
      return shortLine(`Web page: ${URL.canParse(of("url")) ? new URL(of("url")).host : ""}`);
    case "Task":
    case "Agent":
      return shortLine(`Subagent: ${of("description")}`);
    case "TodoWrite": {
      const now = listOf(input, "todos").find((todo) => textOf(todo, "status") === "in_progress");
      return shortLine(textOf(now, "activeForm") || textOf(now, "content") || "Planning");
    }
    default: {
      const [, server, tool] = /^mcp__(.+?)__(.+)$/u.exec(name) ?? [];
      return shortLine(server === undefined ? name || "A tool" : `${server}: ${tool}`, 80);
    }
  }
}
