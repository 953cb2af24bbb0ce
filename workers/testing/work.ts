/** What happens in the tests of the pipeline: a ticket, a pull request of Scout's, its checks and reviews. */
import { ANNA, type TestLedger } from "./ledger.ts";

export const pr = { repo: "acme/shop", number: 12 };
export const opened = {
  ...pr,
  title: "Add a cart",
  url: "https://github.test/acme/shop/pull/12",
  author: "scout-bot",
  head: "scout/bp-1-cart",
  head_sha: "a1",
  base: "main",
  draft: false,
  mergeable: "clean" as const,
};
export const onBoard = { source: "board", actor: { id: ANNA } };
export const scoutBot = { id: "scout-bot" };

/** A ticket of the board's, assigned by Anna. */
export function ticket(t: TestLedger, key = "BP-1", assignee: string | null = "scout"): void {
  t.take({
    ...onBoard,
    type: "ticket.created",
    ticket: { key, title: "A cart", status: "ready", assignee: null },
  });
  if (assignee !== null) t.take({ ...onBoard, type: "ticket.assigned", ticket: { key, assignee } });
}
export const status = (t: TestLedger, key = "BP-1") =>
  t.db.one<{ status: string }>("SELECT status FROM tickets WHERE key = ?", key)?.status;
export const open = (t: TestLedger, more: object = {}) =>
  t.take({ type: "pr.opened", actor: scoutBot, pr: { ...opened, ...more } });
export const check = (
  t: TestLedger,
  name: string,
  state: "pending" | "success" | "failure",
  sha = "a1",
  more: object = {},
) =>
  t.take({
    type: "check.updated",
    actor: { id: "github-actions", kind: "bot" },
    check: { repo: "acme/shop", sha, app: "actions", name, status: state, ...more },
  });
export const approve = (t: TestLedger, id = "r1") =>
  t.take({ type: "pr.reviewed", pr, review: { id, state: "approved", sha: "a1", body: "Good" } });
export const item = (more: object = {}) => ({
  source: "office",
  actor: { id: "scout", kind: "agent" as const },
  item: { id: "itm_1", round: 1, person: "scout", kind: "assigned", tickets: ["BP-1"], ...more },
});
export const wakes = (t: TestLedger, to = "scout") =>
  t.letters("wake", to).map((w) => `${w.kind} ${w.subject?.ref ?? ""}`);
