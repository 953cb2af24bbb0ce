/** A code host for the tests of a Board: answers by path, and what it was asked. */
import { runInDurableObject } from "cloudflare:test";
import type { Fetch } from "../office/board/host/api.ts";
import type { TestBoard } from "./board.ts";

export interface Asked {
  url: string;
  path: string;
  token: string | null;
}
type Answer = (asked: Asked) => Response | Promise<Response>;

/** An answer of JSON. */
export const json = (body: unknown, init?: ResponseInit): Response => Response.json(body, init);

export class FakeHost {
  /** The first route whose path begins so answers. */
  readonly routes: [prefix: string, answer: Answer][] = [];
  readonly asked: Asked[] = [];

  on(prefix: string, answer: Answer): this {
    this.routes.unshift([prefix, answer]);
    return this;
  }

  readonly fetch: Fetch = async (url, init) => {
    const { pathname, search, host } = new URL(url);
    const path = host === "api.github.com" ? `${pathname}${search}` : url;
    const asked = { url, path, token: new Headers(init.headers).get("authorization") };
    this.asked.push(asked);
    const route = this.routes.find(([prefix]) => path.startsWith(prefix));
    return route ? route[1](asked) : json({ message: "Not Found" }, { status: 404 });
  };

  paths(): string[] {
    return this.asked.map(({ path }) => path);
  }
}

/** Puts a host in the place of GitHub, and a token for it. */
export async function aHost(
  board: TestBoard,
  token: string | null = "ghp_thetokenofthisworkspace",
): Promise<FakeHost> {
  const host = new FakeHost();
  await runInDurableObject(board.stub, (object) => {
    object.hostFetch = host.fetch;
  });
  if (token !== null) await board.calls.putSecret(board.owner, "github_token", token);
  return host;
}

/** Waits until nothing that is due by the board's clock is left to read; what failed waits for its next time. */
export async function allRead(board: TestBoard, now = Date.now()): Promise<void> {
  await board.ring(now);
  while (
    (
      await board.sql(
        "SELECT 1 FROM host_reads WHERE due_at <= ? AND NOT EXISTS (SELECT 1 FROM host_held WHERE until > ?)",
        now,
        now,
      )
    ).length > 0
  )
    await runInDurableObject(board.stub, async () => undefined);
}
