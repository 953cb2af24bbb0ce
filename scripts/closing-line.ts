// A vitest reporter: the counts on one plain line, the last thing the run prints.
import { writeSync } from "node:fs";
import type { Reporter, TestModule } from "vitest/node";

export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: ReadonlyArray<TestModule>, unhandledErrors: ReadonlyArray<unknown>): void {
    const line = closingLine(modules, unhandledErrors.length);
    process.once("exit", () => writeSync(1, `${line}\n`));
  }
}

function closingLine(modules: ReadonlyArray<TestModule>, unhandled: number): string {
  const count = { passed: 0, failed: unhandled, skipped: 0 };
  for (const module of modules) {
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      count[state === "pending" ? "failed" : state] += 1;
    }
    // A file that does not load, or a hook that throws, fails without a test to blame.
    count.failed += module.errors().length;
    for (const suite of module.children.allSuites()) count.failed += suite.errors().length;
  }
  const skipped = count.skipped > 0 ? `, ${count.skipped} skipped` : "";
  return `${count.passed} passed, ${count.failed} failed${skipped}`;
}
