import * as fc from "fast-check";
import { expect, test } from "vitest";
import { EventReader } from "./sse.ts";

function read(...pieces: string[]): string[] {
  const reader = new EventReader();
  return pieces.flatMap((piece) => reader.take(piece));
}

test("CTX-8: events are the same wherever the network cuts them, and whichever line ends they have", () => {
  const line = fc.string({ unit: "grapheme" }).map((text) => text.replaceAll(/[\r\n]/g, ""));
  const event = fc.array(line, { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(
      fc.array(event),
      fc.constantFrom("\n", "\r\n", "\r"),
      fc.array(fc.nat()),
      (events, end, cuts) => {
        // A carriage return alone may be the first half of a line break: the next event shows that it is none.
        const text = `${events.map((lines) => lines.map((one) => `data: ${one}${end}`).join("") + end).join("")}: on`;
        const at = [...new Set([0, ...cuts.map((cut) => cut % (text.length + 1)), text.length])].toSorted(
          (a, b) => a - b,
        );
        const pieces = at.map((from, n) => text.slice(from, at[n + 1]));
        expect(read(...pieces)).toEqual(events.map((lines) => lines.join("\n")));
      },
    ),
  );
});

test("CTX-8: comments, names and ids of events are passed over, and half an event is none", () => {
  expect(read(": hello\n\nevent: x\nid: 1\ndata:one\nretry: 5\n\ndata: two\n")).toEqual(["one"]);
});
