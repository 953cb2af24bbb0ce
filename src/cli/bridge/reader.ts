/** An agent's event stream, whichever agent it is of: found out line by line. */
import type { Usage } from "../../sdk/index.ts";
import { ClaudeReader } from "./claude.ts";
import { CodexReader } from "./codex.ts";
import { isRecord, type Told } from "./events.ts";

export interface StreamEnd {
  /** The reply; empty when it said nothing. */
  text: string;
  /** Why it failed, by its own account. */
  failure: string | undefined;
  /** Whether there was any line that is an event of a known agent. */
  understood: boolean;
}

/** Reads lines and keeps what counts at the end. Lines that are nothing it knows are passed over. */
export class StreamReader {
  readonly #readers = [new ClaudeReader(), new CodexReader()];
  #end: StreamEnd = { text: "", failure: undefined, understood: false };
  #usage: Usage = {};

  get end(): StreamEnd {
    return this.#end;
  }

  /** What a line says that is to be shown at once: steps, and totals that have grown. */
  line(text: string): Extract<Told, { kind: "step" | "usage" }>[] {
    const event = parsed(text);
    if (event === undefined) return [];
    for (const reader of this.#readers) {
      const told = reader.read(event);
      if (!told) continue;
      this.#end = { ...this.#end, understood: true };
      return told.flatMap((one) => this.#keep(one));
    }
    return [];
  }

  #keep(told: Told): Extract<Told, { kind: "step" | "usage" }>[] {
    switch (told.kind) {
      case "step":
        return told.text === "" ? [] : [told];
      case "usage":
        this.#usage = grown(this.#usage, told.usage);
        return [{ kind: "usage", usage: this.#usage }];
      case "said":
        this.#end = { ...this.#end, text: told.text };
        return [];
      case "failed":
        this.#end = { ...this.#end, failure: told.reason };
        return [];
      case "done":
        this.#end = { ...this.#end, failure: undefined };
        return [];
    }
  }
}

function parsed(line: string): Record<string, unknown> | undefined {
  if (!line.trimStart().startsWith("{")) return undefined;
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Totals never go down (SPEND-4), whatever a stream of several turns says. */
function grown(before: Usage, now: Usage): Usage {
  const most = { ...before };
  for (const [field, value] of Object.entries(now) as [keyof Usage, number][])
    most[field] = Math.max(most[field] ?? 0, value);
  return most;
}
