import { expect, test } from "vitest";
import type { ExportedLine } from "../../../src/shared/wire/index.ts";
import { exportStream } from "./stream.ts";

const LINE_BYTES = 10_000;

function* lines(made: { count: number }, upTo: number): Generator<ExportedLine> {
  for (let i = 0; i < upTo; i++) {
    made.count += 1;
    yield { type: "mark", space_id: "x".repeat(LINE_BYTES), participant_id: "usr_1", read_seq: i };
  }
}

function* broken(): Generator<ExportedLine> {
  yield* lines({ count: 0 }, 20);
  throw new Error("disk");
}

test("LOG-6 OPS-4 an export is made no faster than it is read", async () => {
  const made = { count: 0 };
  const stream = exportStream({ structure: [], rest: lines(made, 10_000) }, () => {});
  const reader = stream.getReader();
  for (let i = 0; i < 3; i++) await reader.read();
  // A few chunks of 64 KiB ahead at the most, of 100 MB.
  expect(made.count).toBeLessThan(60);
  await reader.cancel();
  expect(made.count).toBeLessThan(60);
});

test("LOG-6 what fails on the way ends the stream without its last line, and is told", async () => {
  const faults: unknown[] = [];
  const stream = exportStream({ structure: [], rest: broken() }, (error) => void faults.push(error));
  await expect(new Response(stream).text()).rejects.toThrow("disk");
  expect(faults).toMatchObject([{ message: "disk" }]);
});
