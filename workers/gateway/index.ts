/** The Worker's entry: no state, only who asks, which object answers, and how errors read (HTTP-5, ERR-1). */
import { Hono } from "hono";
import { cors } from "hono/cors";
import { Refused } from "../kit/result.ts";
import { attachments } from "./attachments.ts";
import { countFailure, readCredential } from "./auth.ts";
import { type C, failed, type GatewayEnv, RefusedOf } from "./context.ts";
import { answerHeaders } from "./headers.ts";
import { githubHook } from "./hooks/github.ts";
import { agentSocket } from "./routes/agent-socket.ts";
import { approvals } from "./routes/approvals.ts";
import { events } from "./routes/events.ts";
import { imports } from "./routes/imports.ts";
import { people } from "./routes/people.ts";
import { published } from "./routes/published.ts";
import { reads } from "./routes/reads.ts";
import { secrets } from "./routes/secrets.ts";
import { streams } from "./routes/streams.ts";
import { team } from "./routes/team.ts";
import { tickets } from "./routes/tickets.ts";
import { work } from "./routes/work.ts";
import { workspace } from "./routes/workspace.ts";

export { Board } from "../office/board/board.ts";
export { Office } from "../office/office.ts";
export { Room } from "../room/room.ts";

const app = new Hono<GatewayEnv>();

app.use(answerHeaders);
app.use(async (c, next) => {
  const allowed = c.env.ALLOWED_ORIGINS.split(",")
    .map((o) => o.trim())
    .filter(Boolean);
  if (allowed.length === 0 || c.req.header("upgrade")) return next();
  return cors({
    origin: (origin) => (allowed.includes(origin) ? origin : null),
    allowHeaders: ["authorization", "content-type", "if-match", "range"],
    exposeHeaders: ["x-request-id", "retry-after", "etag", "content-range", "content-disposition"],
  })(c, next);
});

app.route("/", published);
// No bearer: what comes is signed (WORK-2).
app.route("/v1/hooks", githubHook);
app.use("/v1/*", readCredential);
app.route("/v1", workspace);
app.route("/v1/workspaces", imports);
app.route("/v1/workspaces", agentSocket);
app.route("/v1", events);
app.route("/v1", reads);
app.route("/v1", approvals);
app.route("/v1/attachments", attachments);
for (const part of [team, people, tickets, work, secrets, streams]) app.route("/v1", part);

app.notFound((c) =>
  failed(c, { code: "not_found", message: "There is nothing at this address. See /docs for the routes." }),
);
app.onError(async (error, c) => answerTo(error, c));

async function answerTo(error: unknown, c: C): Promise<Response> {
  if (error instanceof Refused) {
    const of = error instanceof RefusedOf ? error.of : undefined;
    if (error.refusal.code !== "unauthenticated") return failed(c, error.refusal, of);
    try {
      await countFailure(c);
    } catch (limited) {
      if (limited instanceof Refused) return failed(c, limited.refusal);
    }
    return failed(c, error.refusal, of);
  }
  // An object that restarts or is overloaded says so by throwing over RPC: the caller may try again.
  if (isUnavailable(error))
    return failed(c, {
      code: "unavailable",
      message: "The workspace is restarting. Try again in a moment.",
      retry_after_s: 1,
    });
  console.error(
    JSON.stringify({
      at: new Date().toISOString(),
      event: "fault",
      request: c.get("requestId"),
      name: error instanceof Error ? error.name : "unknown",
      message: error instanceof Error ? error.message.slice(0, 200) : "",
    }),
  );
  return failed(c, {
    code: "internal",
    message: "Something went wrong here and nothing was changed. Try again.",
  });
}

function isUnavailable(error: unknown): boolean {
  return (
    typeof error === "object" &&
    error !== null &&
    ("retryable" in error || "overloaded" in error || "durableObjectReset" in error)
  );
}

export default app;
