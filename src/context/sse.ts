/** Server-sent events, as far as models' endpoints use them: the data of each event, as it comes. */

/** Takes text in pieces of any size; each call hands back the data of the events that are whole by then. */
export class EventReader {
  #rest = "";
  #data: string[] = [];

  take(text: string): string[] {
    const whole: string[] = [];
    this.#rest += text;
    let from = 0;
    for (;;) {
      const end = this.#lineEnd(from);
      if (end === undefined) break;
      this.#line(this.#rest.slice(from, end.at), whole);
      from = end.next;
    }
    this.#rest = this.#rest.slice(from);
    return whole;
  }

  /** Where the line ends and the next begins; a carriage return at the very end may be half a line break. */
  #lineEnd(from: number): { at: number; next: number } | undefined {
    for (let at = from; at < this.#rest.length; at++) {
      const char = this.#rest[at];
      if (char === "\n") return { at, next: at + 1 };
      if (char === "\r") {
        if (at + 1 === this.#rest.length) return undefined;
        return { at, next: this.#rest[at + 1] === "\n" ? at + 2 : at + 1 };
      }
    }
    return undefined;
  }

  #line(line: string, whole: string[]): void {
    if (line === "") {
      if (this.#data.length > 0) whole.push(this.#data.join("\n"));
      this.#data = [];
    } else if (line.startsWith("data:")) this.#data.push(line.slice(line[5] === " " ? 6 : 5));
  }
}
