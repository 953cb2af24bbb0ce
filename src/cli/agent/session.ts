/** A runtime's own account of its session, read beside its words: which it is, its model, its running totals. */
import type { SessionUsage } from "../../shared/wire/agent/index.ts";
import { isRecord, type Json, recordOf, textOf } from "../bridge/events.ts";
import { LineSplitter } from "../bridge/lines.ts";

export interface SessionHooks {
  session(id: string, model: string | undefined): void;
  used(session: string, models: SessionUsage["models"]): void;
}

/** Reads the event streams of Claude Code and of Codex; lines of anything else say nothing. */
export class SessionReader {
  readonly #hooks: SessionHooks;
  readonly #lines = new LineSplitter();
  readonly #fallback: string;
  #session = "";
  #model = "";

  /** `fallback` is the model's name where the stream does not say it. */
  constructor(hooks: SessionHooks, fallback: string) {
    this.#hooks = hooks;
    this.#fallback = fallback;
  }

  push(chunk: Uint8Array): void {
    for (const line of this.#lines.push(chunk)) this.#read(line);
  }

  end(): void {
    for (const line of this.#lines.end()) this.#read(line);
  }

  #read(line: string): void {
    const event = parsed(line);
    if (!event) return;
    const type = textOf(event, "type");
    if (type === "thread.started") this.#is(textOf(event, "thread_id"), "");
    else if (type === "system" && textOf(event, "subtype") === "init")
      this.#is(textOf(event, "session_id"), textOf(event, "model"));
    else if (type === "result") this.#claude(event);
    else if (type === "turn.completed") this.#codex(recordOf(event, "usage"));
  }

  #is(session: string, model: string): void {
    if (!isName(session, LONGEST_SESSION) || (session === this.#session && model === this.#model)) return;
    this.#session = session;
    this.#model = model;
    this.#hooks.session(session, isName(model, LONGEST_MODEL) ? model : undefined);
  }

  #claude(event: Json): void {
    const models = Object.entries(recordOf(event, "modelUsage")).map(([model, used]) => {
      const cost = isRecord(used) ? used["costUSD"] : undefined;
      const isCost = typeof cost === "number" && cost >= 0 && cost < Number.POSITIVE_INFINITY;
      return [
        model,
        {
          inputTokens: count(used, "inputTokens"),
          outputTokens: count(used, "outputTokens"),
          cacheReadTokens: count(used, "cacheReadInputTokens"),
          cacheCreationTokens: count(used, "cacheCreationInputTokens"),
          ...(isCost ? { costUsd: cost } : {}),
        },
      ] as const;
    });
    const session = textOf(event, "session_id") || this.#session;
    const named = models.filter(([model]) => isName(model, LONGEST_MODEL));
    if (isName(session, LONGEST_SESSION) && named.length > 0)
      this.#hooks.used(session, Object.fromEntries(named));
  }

  /** Its input counts what came from the cache as well. */
  #codex(used: Json): void {
    if (this.#session === "") return;
    const cached = count(used, "cached_input_tokens");
    const written = count(used, "cache_write_input_tokens");
    this.#hooks.used(this.#session, {
      [this.#fallback]: {
        inputTokens: Math.max(0, count(used, "input_tokens") - cached - written),
        outputTokens: count(used, "output_tokens"),
        cacheReadTokens: cached,
        cacheCreationTokens: written,
      },
    });
  }
}

/** What the office takes of a session's name and a model's (USE-1): with a longer one it would take nothing. */
const LONGEST_SESSION = 500;
const LONGEST_MODEL = 200;
const isName = (text: string, longest: number): boolean => text !== "" && text.length <= longest;

/** A count as the office takes it: whole, and exact. */
function count(from: unknown, field: string): number {
  const value = isRecord(from) && Object.hasOwn(from, field) ? from[field] : undefined;
  return typeof value === "number" && value >= 0 ? Math.round(Math.min(value, Number.MAX_SAFE_INTEGER)) : 0;
}

function parsed(line: string): Json | undefined {
  if (!line.trimStart().startsWith("{")) return undefined;
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
