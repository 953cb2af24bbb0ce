/** A process's output as lines, whatever it writes: chunks that cut a character in two, lines without an end. */

/** A longer line is passed over: no event is that long, and it must not fill the memory. */
const LONGEST = 8 * 1024 * 1024;

/** Splits bytes into lines of text. Bytes that are no UTF-8 become U+FFFD. */
export class LineSplitter {
  readonly #decoder = new TextDecoder();
  readonly #longest: number;
  #line = "";
  #tooLong = false;

  constructor(longest: number = LONGEST) {
    this.#longest = longest;
  }

  /** The lines that end in this chunk. */
  push(chunk: Uint8Array): string[] {
    return this.#split(this.#decoder.decode(chunk, { stream: true }));
  }

  /** What is left when the output has ended: a last line without its break. */
  end(): string[] {
    const lines = this.#split(this.#decoder.decode());
    const last = this.#take();
    return last === undefined || last === "" ? lines : [...lines, last];
  }

  #split(text: string): string[] {
    const lines: string[] = [];
    let from = 0;
    for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", from)) {
      this.#add(text.slice(from, at));
      const line = this.#take();
      if (line !== undefined) lines.push(line);
      from = at + 1;
    }
    this.#add(text.slice(from));
    return lines;
  }

  #add(part: string): void {
    this.#tooLong ||= this.#line.length + part.length > this.#longest;
    this.#line = this.#tooLong ? "" : this.#line + part;
  }

  #take(): string | undefined {
    const line = this.#tooLong ? undefined : this.#line.replace(/\r$/, "");
    this.#line = "";
    this.#tooLong = false;
    return line;
  }
}
