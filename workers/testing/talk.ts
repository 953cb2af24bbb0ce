/** A conversation at random on a real room, the same for the same seed: people, agents, runs, asks, pauses, time. */
/* oxlint-disable unicorn/no-thenable -- the word of a policy rule: data, never awaited */
import { type Any, call, newId, type Party, verb } from "./client.ts";
import { type Agents, agentsRoom, evict, pass } from "./judge.ts";

const NAMES = ["Ping", "Pong", "Pang"];

/** Numbers from 0 to below 1, the same for the same seed (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export interface Talk extends Agents {
  /** Sends a verb; what the room refuses is no matter here. */
  try(by: Party, type: string, fields: object): Promise<Any>;
}

/** A room in which `steps` things have happened. */
export async function randomTalk(seed: number, steps: number): Promise<Talk> {
  const room = await agentsRoom(NAMES, seed % 2 === 0 ? { can: ["pause"] } : {});
  const talk: Talk = {
    ...room,
    async try(by, type, fields) {
      const { body } = await call("POST", "/v1/events", { token: by.token, body: verb(type, fields) });
      return body.type === "error" ? undefined : body.receipts[0];
    },
  };
  await talk.try(room.owner, "settings.set", {
    settings: { guard: { stop: 3, hold: 6 }, spend: { job_usd: 2, day_usd: seed % 3 === 0 ? 6 : null } },
  });
  await talk.try(room.owner, "policy.set", {
    rules: [
      { id: "notes", when: { action: ["note.*"] }, then: "allow" },
      { id: "never", when: { action: ["secret.*"] }, then: "deny" },
    ],
  });
  const random = randomOf(seed);
  const state: Going = { messages: [], runs: [], asks: [], questions: [], files: 0 };
  for (let i = 0; i < steps; i++) await step(talk, random, state);
  return talk;
}

interface Going {
  messages: string[];
  runs: { id: string; cost: number }[];
  asks: string[];
  questions: string[];
  files: number;
}

async function step(talk: Talk, random: () => number, state: Going): Promise<void> {
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
  const agent = pick(NAMES);
  const other = pick(NAMES);
  const as = { actor: { kind: "agent", id: talk.ids[agent] } };
  const space_id = talk.space;
  const roll = random();
  if (roll < 0.42) {
    const words = pick([
      "the report again please and what you think of it now",
      `item ${Math.floor(random() * 1e9)}`,
    ]);
    const text = random() < 0.85 ? `@${other} ${words}` : words;
    const run = random() < 0.4 ? state.runs.at(-1) : undefined;
    const attachments = random() < 0.12 ? [{ attachment_id: await upload(talk, state, random) }] : [];
    const said = await talk.try(talk.harness, "message.post", {
      space_id,
      text,
      ...(run ? { run_id: run.id } : as),
      attachments,
    });
    if (said?.message_id) state.messages.push(said.message_id);
  } else if (roll < 0.56) {
    const text = pick([
      `@${agent} please`,
      "@everyone look",
      "somebody?",
      "@Bob and me",
      "NO_REPLY",
      `@${agent} @${other} both`,
    ]);
    const reply_to = random() < 0.3 && state.messages.length > 0 ? { reply_to: pick(state.messages) } : {};
    const said = await talk.try(pick([talk.bob, talk.owner]), "message.post", {
      space_id,
      text,
      ...reply_to,
    });
    if (said?.message_id) state.messages.push(said.message_id);
  } else if (roll < 0.64) {
    const id = newId("run");
    const message_ids = random() < 0.6 ? state.messages.slice(-1) : [];
    const made = await talk.try(talk.harness, "run.start", {
      run_id: id,
      space_id,
      agent_id: talk.ids[agent],
      message_ids,
    });
    if (made) state.runs.push({ id, cost: 0 });
  } else if (roll < 0.74) await spend(talk, random, state);
  else if (roll < 0.78)
    await talk.try(talk.bob, pick(["agents.pause", "agents.resume"]), { space_id, lasting: random() < 0.4 });
  else if (roll < 0.84) await ask(talk, random, state);
  else if (roll < 0.88) await decide(talk, random, state);
  else if (roll < 0.9 && state.messages.length > 0)
    await talk.try(talk.owner, "message.delete", { message_id: pick(state.messages) });
  else if (roll < 0.92)
    await talk.try(talk.owner, "space.set", { space_id, ceiling_usd: pick([1, 2, 4, null]) });
  else if (roll < 0.93) await talk.try(talk.harness, "agent.withdraw", { agent_id: talk.ids[agent] });
  else if (roll < 0.95)
    await talk.try(talk.harness, "agent.declare", { agents: [{ name: agent, agent_id: talk.ids[agent] }] });
  else if (roll < 0.96)
    await talk.try(talk.bob, "run.stop", { run_id: state.runs.at(-1)?.id ?? newId("run") });
  else if (roll < 0.97) await evict(talk.workspace);
  else await pass(talk.workspace, pick([21, 61, 700, 4000]));
}

/** A run costs something, or ends. */
async function spend(talk: Talk, random: () => number, state: Going): Promise<void> {
  const run = state.runs.at(-1);
  if (!run) return;
  run.cost += Math.round(random() * 1_000_000) / 1_000_000;
  const cost = random() < 0.8 ? { cost_usd: run.cost } : {};
  if (random() < 0.5) return void (await talk.try(talk.harness, "run.usage", { run_id: run.id, ...cost }));
  state.runs.pop();
  await talk.try(talk.harness, "run.end", { run_id: run.id, outcome: "done", ...cost });
}

async function ask(talk: Talk, random: () => number, state: Going): Promise<void> {
  const run_id = state.runs.at(-1)?.id;
  if (run_id === undefined) return;
  if (random() < 0.4) {
    const question_id = newId("qst");
    if (await talk.try(talk.harness, "question.ask", { run_id, question_id, text: "which one?" }))
      state.questions.push(question_id);
    return;
  }
  const approval_id = newId("apr");
  const kind = ["note.add", "secret.read", "email.send"][Math.floor(random() * 3)];
  const fields = { run_id, approval_id, action: { kind, input: { n: 1 } }, risk: [], expires_in: 600 };
  if (await talk.try(talk.harness, "approval.request", { ...fields, lasts: "standing" }))
    state.asks.push(approval_id);
}

async function decide(talk: Talk, random: () => number, state: Going): Promise<void> {
  const question_id = state.questions.pop();
  if (question_id !== undefined && random() < 0.5)
    return void (await talk.try(talk.bob, "question.answer", { question_id, text: "the second" }));
  const approval_id = state.asks.pop();
  if (approval_id === undefined) return;
  const decision = random() < 0.7 ? "allow" : "deny";
  await talk.try(talk.owner, "approval.decide", { approval_id, decision });
}

/** Uploads a file; now and then the bytes are those of the one before. */
async function upload(talk: Talk, state: Going, random: () => number): Promise<string> {
  if (random() < 0.7) state.files += 1;
  const { body } = await call("POST", `/v1/attachments?filename=f${state.files}.txt`, {
    token: talk.harness.token,
    raw: `bytes ${state.files}`,
  });
  return body.attachment_id;
}
