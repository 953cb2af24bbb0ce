/** Arbitrary events of work, for properties of the board (WORK-1, PIPE-3). */
import * as fc from "fast-check";
import type { WorkEvent } from "../../src/shared/wire/work.ts";
import { START } from "./ledger.ts";

const key = fc.constantFrom("BP-1", "bp-2");
const maybe = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined });
const sha = fc.constantFrom("a1", "b2", "m1");
const about: Record<string, fc.Arbitrary<object>> = {
  ticket: fc.record({
    type: fc.constantFrom(
      "ticket.created",
      "ticket.updated",
      "ticket.assigned",
      "ticket.unassigned",
      "ticket.closed",
    ),
    ticket: fc.record({
      key,
      title: maybe(fc.constantFrom("one", "two")),
      status: maybe(fc.constantFrom("ready", "active", "done")),
      assignee: maybe(fc.constantFrom("scout-bot", "bob-bot", null)),
      parent: maybe(fc.constantFrom("BP-9", null)),
    }),
  }),
  pr: fc.record({
    type: fc.constantFrom("pr.opened", "pr.ready", "pr.updated", "pr.closed", "pr.merged"),
    pr: fc.record({
      repo: fc.constant("acme/shop"),
      number: fc.constantFrom(1, 2),
      title: maybe(fc.constantFrom("BP-1 cart", "UTF-8", "bp-2")),
      body: maybe(fc.constantFrom("fixes BP-1", "see BP-1")),
      head: maybe(fc.constantFrom("x", "scout/bp-2")),
      head_sha: maybe(sha),
      merge_sha: maybe(sha),
      mergeable: maybe(fc.constantFrom("clean", "unknown")),
      draft: maybe(fc.boolean()),
    }),
  }),
  review: fc.record({
    type: fc.constant("pr.reviewed"),
    pr: fc.constantFrom({ repo: "acme/shop", number: 1 }, { repo: "acme/shop", number: 12 }),
    review: fc.record({
      id: fc.constantFrom("r1", "r2"),
      state: fc.constantFrom("approved", "changes_requested", "commented", "dismissed"),
      body: maybe(fc.constantFrom("a", "b")),
      sha: maybe(sha),
    }),
  }),
  comment: fc.record({
    type: fc.constantFrom("pr.commented", "pr.inline_commented", "pr.updated"),
    pr: fc.constantFrom({ repo: "acme/shop", number: 1 }, { repo: "acme/shop", number: 12 }),
    comment: fc.record({
      id: fc.constantFrom("c1", "c2"),
      body: fc.constantFrom("a", "b"),
      deleted: maybe(fc.constant(true)),
    }),
  }),
  thread: fc.record({
    type: fc.constantFrom("pr.thread_resolved", "pr.thread_unresolved"),
    pr: fc.constantFrom({ repo: "acme/shop", number: 1 }, { repo: "acme/shop", number: 12 }),
    thread: fc.record({ id: fc.constantFrom("c1", "c2"), resolved: fc.boolean() }),
  }),
  check: fc.record({
    type: fc.constant("check.updated"),
    check: fc.record({
      repo: fc.constant("acme/shop"),
      sha,
      app: fc.constantFrom("", "ci"),
      name: fc.constantFrom("lint", "test"),
      run: maybe(fc.constantFrom("9", "10")),
      status: fc.constantFrom("pending", "success", "failure"),
    }),
  }),
  doc: fc.record({
    type: fc.constantFrom("doc.linked", "doc.updated"),
    doc: fc.record({
      id: fc.constantFrom("d1", "d2"),
      title: maybe(fc.constantFrom("one", "two")),
      ticket: maybe(key),
    }),
  }),
};

const told = (of: object): object => JSON.parse(JSON.stringify(of)) as object;

/** Events at GitHub, each at a time of its own, by any of these. */
export const manyEvents = (actors: readonly string[], maxLength: number): fc.Arbitrary<WorkEvent[]> =>
  fc
    .array(fc.tuple(fc.oneof(...Object.values(about)), fc.constantFrom(...actors)), {
      minLength: 1,
      maxLength,
    })
    .map((list) =>
      list.map(([of, id], n) => {
        const at = new Date(START + n * 1000).toISOString();
        return told({ ...of, id: `many${n}`, source: "github", actor: { id }, at }) as WorkEvent;
      }),
    );
