/** What a turn's process prints, as its answer: plain text, or the events of a known agent. */
import type { Usage } from "../../sdk/index.ts";
import { LineSplitter } from "./lines.ts";
import type { Mode } from "./prompt.ts";
import { StreamReader } from "./reader.ts";
import { answerWords, isText } from "./words.ts";

export interface Answer {
  text: string;
  /** Why there is no answer, where its output says so. */
  failure?: string | undefined;
  /** False when events were waited for and none came. */
  understood?: boolean;
}

export interface Output {
  push(chunk: Uint8Array): void;
  /** The answer, once the output has ended. */
  end(): Answer;
}

export interface OutputHooks {
  step(text: string, id?: string): void;
  usage(totals: Usage): void;
  /** It prints without end: nothing more is taken. */
  tooMuch(): void;
}

/** Plain output is an answer to be read; this is a book. */
const PLAIN_BYTES = 8 * 1024 * 1024;

export function outputOf(mode: Mode, hooks: OutputHooks): Output {
  return mode === "per-turn" ? new PlainOutput(hooks) : new EventOutput(hooks);
}

class PlainOutput implements Output {
  readonly #hooks: OutputHooks;
  readonly #decoder = new TextDecoder();
  #text = "";
  #bytes = 0;

  constructor(hooks: OutputHooks) {
    this.#hooks = hooks;
  }

  push(chunk: Uint8Array): void {
    if (this.#bytes > PLAIN_BYTES) return;
    this.#bytes += chunk.byteLength;
    if (this.#bytes > PLAIN_BYTES) this.#hooks.tooMuch();
    else this.#text += this.#decoder.decode(chunk, { stream: true });
  }

  end(): Answer {
    const text = this.#text + this.#decoder.decode();
    if (!isText(text)) return { text: "", failure: "what it printed is no text" };
    return { text: answerWords(text) };
  }
}

class EventOutput implements Output {
  readonly #hooks: OutputHooks;
  readonly #lines = new LineSplitter();
  readonly #reader = new StreamReader();

  constructor(hooks: OutputHooks) {
    this.#hooks = hooks;
  }

  push(chunk: Uint8Array): void {
    this.#read(this.#lines.push(chunk));
  }

  end(): Answer {
    this.#read(this.#lines.end());
    const { text, failure, understood } = this.#reader.end;
    return { text: answerWords(text), failure, understood };
  }

  #read(lines: readonly string[]): void {
    for (const line of lines)
      for (const told of this.#reader.line(line)) {
        if (told.kind === "step") this.#hooks.step(told.text, told.id);
        else this.#hooks.usage(told.usage);
      }
  }
}
