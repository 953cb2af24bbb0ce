/** GitHub whole: signed webhooks into a real server, which reads a host of ours with all that hosts do wrong. */

import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { sign } from "@octokit/webhooks-methods";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AgentPayload } from "../src/shared/wire/agent/index.ts";
import { createWorkspace, startServer, type TestServer, type TestWorkspace } from "./support/server.ts";

const TOKEN = "ghp_atokenthatnobodyelsemaysee";
const SECRET = "what GitHub signs with";
const STARTED = "2026-01-01T10:00:00Z";

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A host on a port of its own, which notes who asked it for what. */
class Host {
  readonly asked: { path: string; token: string | undefined }[] = [];
  readonly routes = new Map<string, Answer>();
  readonly #server: Server = createServer((request, response) => {
    const path = request.url ?? "";
    this.asked.push({ path, token: request.headers.authorization });
    const answer = this.routes.get(path.split("?")[0] ?? "");
    if (answer) answer(request, response);
    else response.writeHead(404).end("{}");
  });

  async open(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return this;
  }
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }
  json(path: string, body: unknown): void {
    this.routes.set(path, (_, response) => response.writeHead(200).end(JSON.stringify(body)));
  }
  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

interface Frame {
  type: string;
  replyTo?: string;
  payload: unknown;
}
type Offer = AgentPayload<"offer">;

/** An agent's socket: frames as they come, and one answer for one request. */
class Agent {
  readonly frames: Frame[] = [];
  readonly #ws: WebSocket;
  readonly #waiting = new Set<() => void>();

  constructor(url: string) {
    this.#ws = new WebSocket(url);
    this.#ws.addEventListener("message", ({ data }) => {
      this.frames.push(JSON.parse(String(data)));
      for (const check of this.#waiting) check();
    });
  }
  async next(fits: (frame: Frame) => boolean): Promise<Frame> {
    return new Promise((resolve) => {
      const check = () => {
        const found = this.frames.find(fits);
        if (!found) return;
        this.#waiting.delete(check);
        resolve(found);
      };
      this.#waiting.add(check);
      check();
    });
  }
  async hello(person: string, token: string): Promise<void> {
    if (this.#ws.readyState !== WebSocket.OPEN)
      await new Promise((resolve) => this.#ws.addEventListener("open", resolve, { once: true }));
    await this.ask("hello", { person, token, protocolVersion: 3, agentVersion: "test" });
  }
  async ask(type: string, payload: object): Promise<unknown> {
    const id = randomUUID();
    this.#ws.send(JSON.stringify({ id, type, payload }));
    return (await this.next((frame) => frame.replyTo === id)).payload;
  }
  /** The first offer of a kind; all before it are declined. */
  async offer(kind: string): Promise<Offer> {
    const declined = new Set<string>();
    for (;;) {
      const frame = await this.next(
        ({ type, payload }) => type === "offer" && !declined.has((payload as Offer).workItem.id),
      );
      const offer = frame.payload as Offer;
      if (offer.workItem.kind === kind) return offer;
      declined.add(offer.workItem.id);
      await this.ask("decline", { workItemId: offer.workItem.id, reason: "another is waited for" });
    }
  }
  close(): void {
    this.#ws.close();
  }
}

let api: Host;
let logs: Host;
let elsewhere: Host;
let server: TestServer;
let workspace: TestWorkspace;
let agent: Agent;

beforeAll(async () => {
  [api, logs, elsewhere] = await Promise.all([new Host().open(), new Host().open(), new Host().open()]);
  server = await startServer({ vars: { GITHUB_API_URL: api.url } });
  workspace = await createWorkspace(server);
  const { http } = workspace;
  await http.request("PUT", "/v1/team", {
    body: {
      humans: [{ name: "Anna", user: workspace.ownerId, identities: { github: "anna" } }],
      roles: { dev: { title: "Developer" } },
      people: [{ handle: "scout", name: "Scout", role: "dev", identities: { github: "scout-bot" } }],
      repositories: [{ repo: "acme/shop" }],
    },
  });
  await http.request("PUT", "/v1/secrets/github_webhook_secret", { body: { value: SECRET } });
  await http.request("PUT", "/v1/secrets/github_token", { body: { value: TOKEN } });
  const { token } = await http.post<{ token: string }>("/v1/tokens", { person: "scout", scopes: ["agent"] });
  agent = new Agent(
    `${server.url.replace("http", "ws")}/v1/workspaces/${workspace.workspaceId}/people/scout/agent`,
  );
  await agent.hello("scout", token);
});

afterAll(async () => {
  agent?.close();
  await server?.stop();
  await Promise.all([api?.close(), logs?.close(), elsewhere?.close()]);
});

async function deliver(event: string, payload: object): Promise<void> {
  const body = JSON.stringify({ repository: { full_name: "acme/shop" }, ...payload });
  const response = await fetch(`${server.url}/v1/hooks/github/${workspace.workspaceId}`, {
    method: "POST",
    headers: {
      "x-github-event": event,
      "x-github-delivery": randomUUID(),
      "x-hub-signature-256": await sign(SECRET, body),
    },
    body,
  });
  expect(response.status).toBe(202);
}

const link = (job: number) => `https://github.com/acme/shop/actions/runs/5/job/${job}`;
const job = (number: number) => `/repos/acme/shop/actions/jobs/${number}`;
const aJob = {
  status: "completed",
  steps: [
    { name: "Test", status: "completed", conclusion: "failure", started_at: STARTED, completed_at: STARTED },
  ],
};
type Log = AgentPayload<"ci_log_result"> & { code?: string };
const ciLog = async (number: number) => (await agent.ask("ci_log", { url: link(number), lines: 2 })) as Log;

describe("WORK-5: ci_log over a real host", () => {
  it("reads the failed step's end; the log's own host gets no token", async () => {
    api.json(job(1), aJob);
    api.routes.set(`${job(1)}/logs`, (_, response) => {
      response.writeHead(302, { location: `${logs.url}/signed?sig=x` }).end();
    });
    logs.routes.set("/signed", (_, response) => {
      // As large as logs are: what is before the end is read past.
      const line = `${STARTED.replace("Z", ".0000000Z")} ${"x".repeat(200)}\n`;
      response.writeHead(200);
      for (let n = 0; n < 200; n++) response.write(line.repeat(500));
      response.end(`${STARTED} token=${TOKEN}\n${STARTED} the end\n`);
    });
    const { repo, steps } = await ciLog(1);
    expect(repo).toBe("acme/shop");
    expect(steps[0]).toMatchObject({ name: "Test", lines: ["token=***", "the end"] });
    expect(steps[0]?.omitted).toBeGreaterThan(10_000);
    expect(logs.asked).toEqual([{ path: "/signed?sig=x", token: undefined }]);
    expect(api.asked.every(({ token }) => token === `Bearer ${TOKEN}`)).toBe(true);
  });

  it.each<[string, Answer, string]>([
    ["404", (_, response) => response.writeHead(404).end("{}"), "not_found"],
    ["500", (_, response) => response.writeHead(500).end("{}"), "failed"],
    ["no answer in time", () => {}, "failed"],
    [
      "a connection that is cut",
      (_, response) => {
        response.writeHead(200, { "content-length": "1000" }).write('{"status":');
        setImmediate(() => response.destroy());
      },
      "failed",
    ],
    [
      "an answer without end",
      (_, response) => {
        response.writeHead(200);
        const more = () => {
          while (!response.destroyed && response.write("x".repeat(65_536)));
        };
        response.on("drain", more);
        more();
      },
      "failed",
    ],
    ["what is no JSON", (_, response) => response.writeHead(200).end("<html>"), "failed"],
    [
      "a redirect to elsewhere",
      (_, response) => response.writeHead(302, { location: `${elsewhere.url}/steal` }).end(),
      "failed",
    ],
  ])("%s is told, and the token stays", async (_what, answer, code) => {
    const number = 100 + api.routes.size;
    api.routes.set(job(number), answer);
    expect((await ciLog(number)).code).toBe(code);
    expect(elsewhere.asked).toEqual([]);
  });
});

describe("WORK-2: webhooks to an offer", () => {
  it("WORK-5 OFFER-8: what is approved, green and clean comes to its author with the checks of its base", async () => {
    const pull = {
      number: 12,
      title: "Add a cart",
      state: "open",
      draft: false,
      user: { login: "scout-bot" },
      head: { ref: "cart", sha: "a1" },
      base: { ref: "main", sha: "b1" },
      updated_at: new Date().toISOString(),
    };
    api.json("/repos/acme/shop/pulls/12", { ...pull, mergeable: true });
    api.json("/repos/acme/shop/pulls/12/files", [{ filename: "a.ts" }]);
    api.json("/repos/acme/shop/commits/main/check-runs", {
      check_runs: [{ name: "test", head_sha: "b1", status: "completed", conclusion: "success" }],
    });
    api.json("/repos/acme/shop/commits/main/status", { sha: "b1", statuses: [] });
    await deliver("pull_request", { action: "opened", sender: pull.user, pull_request: pull });
    await deliver("check_run", {
      action: "completed",
      check_run: {
        id: 1,
        head_sha: "a1",
        name: "test",
        status: "completed",
        conclusion: "success",
        completed_at: pull.updated_at,
      },
    });
    await deliver("pull_request_review", {
      action: "submitted",
      pull_request: pull,
      review: {
        id: 7,
        user: { login: "anna" },
        state: "approved",
        commit_id: "a1",
        submitted_at: pull.updated_at,
      },
    });
    const offer = await agent.offer("merge");
    expect(offer.context.wake?.merge).toMatchObject({
      pr: { ref: "acme/shop#12", approvedBy: ["Anna"], ci: "success", mergeable: "clean" },
      base: { ref: "main", ci: "success", failing: [] },
    });
  });
});
