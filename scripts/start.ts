// `npm start`: the server as it is deployed, on this machine, with a demo in it and what to do next.
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, parseEnv } from "node:util";
import { connectDispatch } from "../demo/dispatch.ts";
import { connectScout } from "../demo/scout.ts";
import { connectTeammate, TEAMMATES } from "../demo/teammates.ts";
import { agentIds, bringIn, type Demo, openDemo, SPACE, WORKSPACE } from "../demo/workspace.ts";
import type { Agent } from "../src/agent/index.ts";
import { loadProfiles, saveProfile } from "../src/cli/profiles.ts";
import { BullpenError, BullpenHttp, type Harness } from "../src/sdk/index.ts";
import { type DevServer, startDevServer } from "./dev-server.ts";
import { devVars, writeSecrets } from "./secrets.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const began = performance.now();

/** A failure whose sentence says all that there is to say. */
class Problem extends Error {}

const stopping = new AbortController();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => stopping.abort());
// A signal to npm ends the shell between us and not us: whose parent has gone was meant, too.
const parent = process.ppid;
const lookForParent = (): void => {
  if (process.ppid !== parent) stopping.abort();
};
if (process.env["npm_lifecycle_event"] !== undefined) setInterval(lookForParent, 250).unref();
const stopAsked = new Promise<"asked">((done) =>
  stopping.signal.addEventListener("abort", () => done("asked")),
);

let server: DevServer | undefined;
let harnesses: Harness[] = [];
let teammates: Agent[] = [];
try {
  await run();
} catch (error) {
  // What breaks while it is being stopped breaks because of that.
  if (!stopping.signal.aborted) {
    console.error(error instanceof Problem ? `\nbullpen: ${error.message}` : error);
    process.exitCode = 1;
  }
}
await Promise.all([...harnesses, ...teammates].map((one) => one.close({ timeoutMs: 1000 })));
await server?.stop();
if (stopping.signal.aborted) console.log("Stopped.");

async function run(): Promise<void> {
  const { port, state } = optionsOf();
  await mustBeFree(port);
  if (writeSecrets()) step("Wrote .dev.vars with new secrets.");
  step(`Starting the server on port ${port} …`);
  const starting = startDevServer({ port, persistTo: state, onLine: passOn, signal: stopping.signal });
  server = await starting;
  const url = `http://localhost:${port}`;
  step("The server answers. Opening the demo …");
  const file = join(state ?? join(root, ".bullpen"), "demo.json");
  const { demo, isNew } = await openDemo({ url, adminToken: adminToken(), file }).catch(explainRefusal);
  const http = new BullpenHttp({ url, token: demo.owner.token });
  harnesses = await connectAgents(url, demo, http);
  teammates = await connectTeam(url, demo, http, dirname(file));
  const { link } = await http.post<{ link: string }>("/v1/invites", {
    uses: 5,
    expires_in_s: 86_400,
    space_ids: [demo.space_id],
  });
  console.log(guide({ url, link, demo, isNew, who: signIn(url, port, demo), state }));
  const ended = await Promise.race([stopAsked, server.exited.then(() => "ended" as const)]);
  if (ended === "ended")
    throw new Problem(`The server ended by itself. Its last words:\n${server.output().slice(-2000)}`);
}

function optionsOf(): { port: number; state: string | undefined } {
  try {
    const { values } = parseArgs({
      options: { port: { type: "string", default: "8787" }, state: { type: "string" } },
    });
    const port = Number(values.port);
    if (!/^\d+$/.test(values.port) || port < 1 || port > 65_535) throw new Error("--port is 1 to 65535.");
    return { port, state: values.state === undefined ? undefined : resolve(values.state) };
  } catch (error) {
    throw new Problem(`${(error as Error).message}\nusage: npm start -- [--port PORT] [--state FOLDER]`);
  }
}

function step(text: string): void {
  console.log(`[${((performance.now() - began) / 1000).toFixed(1).padStart(4)} s] ${text}`);
}

/** wrangler would take another port without a word. */
async function mustBeFree(port: number): Promise<void> {
  const free = await new Promise<boolean>((done) => {
    const probe = createServer();
    probe.once("error", () => done(false));
    probe.listen(port, "127.0.0.1", () => probe.close(() => done(true)));
  });
  if (free) return;
  const health = await fetch(`http://127.0.0.1:${port}/healthz`, { signal: AbortSignal.timeout(2000) })
    .then((answer) => answer.json())
    .catch(() => undefined);
  const by =
    health && typeof health === "object" && "version" in health ? "another Bullpen" : "another program";
  throw new Problem(
    `Port ${port} is taken by ${by}. Stop it, or choose another: npm start -- --port ${port + 1}`,
  );
}

function adminToken(): string {
  const token = parseEnv(readFileSync(devVars, "utf8"))["ADMIN_TOKEN"];
  if (!token)
    throw new Problem(
      "There is no ADMIN_TOKEN in .dev.vars. Delete the file; the next start writes it anew.",
    );
  return token;
}

function explainRefusal(error: unknown): never {
  if (error instanceof BullpenError && error.code === "forbidden")
    throw new Problem(
      "The server does not take the ADMIN_TOKEN of .dev.vars. Is another one set in the environment? Unset it.",
    );
  throw error;
}

function onError(error: Error): void {
  console.error(`demo: ${error.message}`);
}

/** Both harnesses over real sockets, their agents in the space. */
async function connectAgents(url: string, demo: Demo, http: BullpenHttp): Promise<Harness[]> {
  harnesses = [
    connectScout({ url, token: demo.scout, onError }),
    connectDispatch({ url, token: demo.dispatch, onError }),
  ];
  const welcomes = await Promise.all(harnesses.map((harness) => harness.ready));
  const agents = welcomes.flatMap((welcome) => welcome.agents ?? []);
  await bringIn(
    http,
    demo.space_id,
    agents.map((agent) => agent.agent_id),
  );
  step(`${agents.map((agent) => agent.name).join(" and ")} are connected.`);
  return harnesses;
}

/** The office's teammates, each with an agent of its own, in the space as well. */
async function connectTeam(url: string, demo: Demo, http: BullpenHttp, folder: string): Promise<Agent[]> {
  const here = TEAMMATES.flatMap((one) => {
    const token = demo.agents[one.handle];
    return token === undefined ? [] : [{ ...one, token }];
  });
  teammates = here.map(({ handle, token }) => {
    const stateDir = join(folder, "agents", handle);
    return connectTeammate({ url, token, handle, stateDir, spaceId: demo.space_id, onError });
  });
  for (const [n, agent] of teammates.entries())
    void agent.closed.then(
      (error) => error && console.error(`demo: ${here[n]?.name} has left. ${error.message}`),
    );
  await Promise.all(teammates.map((agent) => agent.ready));
  const names = here.map(({ name }) => name);
  await bringIn(http, demo.space_id, await agentIds(http, names));
  if (names.length > 0) step(`${names.join(" and ")} are at work.`);
  return teammates;
}

/** How the printed commands say who they are: by a profile, or by the token where none can be kept. */
function signIn(url: string, port: number, { owner, workspace_id }: Demo): string {
  const name = port === 8787 ? "demo" : `demo-${port}`;
  try {
    const there = loadProfiles().profiles[name];
    if (there && new URL(there.url).hostname !== "localhost") throw new Error(`${name} is somebody's own`);
    const profile = { url, token: owner.token, workspace_id, workspace_name: WORKSPACE };
    saveProfile(
      name,
      { ...profile, participant_id: owner.participant_id, name: owner.name },
      { keepCurrent: true },
    );
    return `--profile ${name}`;
  } catch {
    return `--url ${url} --token ${owner.token}`;
  }
}

interface Guide {
  url: string;
  link: string;
  demo: Demo;
  isNew: boolean;
  who: string;
  state: string | undefined;
}

function guide({ url, link, demo, isNew, who, state }: Guide): string {
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  return `
Bullpen is ready at ${url} (${seconds} s). ${isNew ? "A demo workspace was made." : "Your demo is as you left it."}

  In a browser, come in by this link (good for a day and five people):

    ${link}

  Or in another terminal, in this folder: watch the ${SPACE}, and say something in it.

    npx bullpen tail ${SPACE} ${who}
    npx bullpen post ${SPACE} "@Dispatch ask Scout for the weather" ${who}

  Dispatch hands that to Scout, Scout looks out of the window and answers, Dispatch reports back. Both are
  demos that answer by a script. Say "@Scout a report as a file" for an attachment.

  Some things an agent asks before it does them:

    npx bullpen post ${SPACE} "@Dispatch send Dana the summary" ${who}
    npx bullpen approvals ${who}

  The second shows what it asks, and the command that says yes: npx bullpen approve …

  Ada and Milo are agent teammates: each has a queue, and takes one thing after the other.

    npx bullpen post ${SPACE} "@Ada ask Milo how long the paint dries" ${who}
    npx bullpen ticket new "Paint the fence" --assignee ada ${who}
    npx bullpen queue ada ${who}

  Ada asks Milo and reports in the ${SPACE}; a ticket ends there too. They listen to the humans of the team's
  config: you, as the owner, until others are added (npx bullpen team show ${who}). To put an agent of your own in
  Ada's place:

    npx bullpen agent --person ada ${who} -- claude -p

  A token for the SDK, curl and ${url}/docs, the owner's of this demo:

    ${demo.owner.token}

Ctrl-C stops it. What was said is kept in ${state ?? ".wrangler/state"} for the next start.`;
}

/** Of what wrangler prints only what went wrong: every request would drown what we say. */
function passOn(line: string): void {
  if (/\[wrangler:(?:warn|err)|\[ERROR\]|^\{"at":/.test(line)) console.error(line);
}
