/** Exports of conversations that a small model of a room makes with the rules themselves: one space, three agents. */
import * as fc from "fast-check";
import { defaultSettings, type ExportedLine, type Settings } from "../wire/index.ts";
import { afterAct, afterMessage, EMPTY_EXCHANGE, judge } from "./guard.ts";
import { jobAt, overCeiling, report } from "./spend.ts";

export const agents = ["agt_a", "agt_b", "agt_c"];
export const SPACE = "spc_one";

export type Step =
  | { do: "person"; to: string[] }
  | { do: "agent"; by: string; to: string[]; repeat: boolean }
  | { do: "pause"; lasting: boolean }
  | { do: "resume" }
  | { do: "run"; by: string; micros: number };

const agent = fc.constantFrom(...agents);
const some = fc.uniqueArray(agent, { maxLength: 2 });
export const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({ do: fc.constant("agent" as const), by: agent, to: some, repeat: fc.boolean() }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("person" as const), to: some }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("pause" as const), lasting: fc.boolean() }) },
  { weight: 1, arbitrary: fc.constant({ do: "resume" as const }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("run" as const),
      by: agent,
      micros: fc.integer({ min: 0, max: 900_000 }),
    }),
  },
);

type Body = Record<string, unknown>;

/** What a room with these settings keeps of these steps, as an export has it. */
export function exportOf(steps: readonly Step[], set: Partial<Settings> = {}): ExportedLine[] {
  const settings = { ...defaultSettings(), ...set };
  const lines: ExportedLine[] = [];
  let seq = 0;
  let exchange = EMPTY_EXCHANGE;
  let job = jobAt(undefined, undefined);
  let pause: { lasting: boolean } | undefined;
  let held = new Map<string, string>();

  const add = (
    fact: string,
    by: string,
    body: Body,
    more: { main?: boolean; run?: string; mentions?: string[] } = {},
  ) => {
    seq += 1;
    const kind = by.startsWith("usr_") ? "person" : by.startsWith("agt_") ? "agent" : "system";
    const { main, run, mentions } = more;
    lines.push({
      type: "fact",
      seq,
      id: `evt_${seq}`,
      fact,
      at: new Date(seq * 1000).toISOString(),
      space_id: SPACE,
      ...(run === undefined ? {} : { run_id: run }),
      actor: { kind, id: by },
      body,
      ...(mentions
        ? {
            words: { message_id: String(body["message_id"]), edition: 1, text: "words", mentions, files: [] },
          }
        : {}),
      ...(main ? { write: { sender: by, key: `k${seq}`, hash: "h", receipt: {} } } : {}),
    });
    return seq;
  };
  const acted = (at: number) => {
    exchange = afterAct(exchange, { seq: at, at: at * 1000, by: "usr_ann" });
    job = jobAt(job, at);
    if (pause?.lasting) return;
    if (pause) add("agents.resumed", "usr_ann", {});
    pause = undefined;
    const byMessage = Map.groupBy([...held], ([, id]) => id);
    held = new Map();
    for (const [message_id, of] of [...byMessage].toSorted(([a], [b]) => (a < b ? -1 : 1)))
      add("message.handed", "system", { message_id, why: "held", takers: of.map(([id]) => id).toSorted() });
  };
  const roomPauses = (cause: string) => {
    if (pause) return;
    pause = { lasting: false };
    add("agents.paused", "system", { cause, lasting: false });
  };

  add("settings.changed", "usr_ann", { settings }, { main: true });
  for (const id of ["usr_ann", ...agents])
    add("member.joined", "usr_ann", { participant_id: id, kind: id.startsWith("usr_") ? "person" : "agent" });
  for (const [i, one] of steps.entries()) {
    // In the order of time, as ids are.
    const message_id = `msg_${String(i).padStart(6, "0")}`;
    if (one.do === "person") {
      const stopped = pause?.lasting === true && one.to.length > 0;
      const body = {
        message_id,
        role: "member",
        why: one.to.length > 0 ? "mentioned" : "nobody",
        addressed_to: stopped ? [] : one.to,
      };
      const more = stopped ? { held: true, held_from: one.to } : {};
      const at = add("message.posted", "usr_ann", { ...body, ...more }, { main: true, mentions: one.to });
      if (stopped) for (const id of one.to) held.set(id, message_id);
      acted(at);
    } else if (one.do === "agent") {
      const to = one.to.filter((id) => id !== one.by);
      const body: Body = {
        message_id,
        role: "member",
        why: to.length > 0 ? "agent-mentioned" : "nobody",
        addressed_to: to,
      };
      let paused = false;
      if (to.length > 0) {
        const repeat = one.repeat ? { repeat: { kind: "words" as const } } : {};
        exchange = afterMessage(exchange, {
          message_id,
          seq: seq + 1,
          at: (seq + 1) * 1000,
          by: one.by,
          ...repeat,
        });
        const verdict = judge(exchange, settings.guard, pause !== undefined);
        if (one.repeat) body["repeat"] = "words";
        if (verdict.held) {
          Object.assign(body, { held: true, held_from: to, addressed_to: [] });
          for (const id of to) held.set(id, message_id);
        }
        paused = verdict.pause;
      }
      add("message.posted", one.by, body, { main: true, mentions: one.to });
      if (paused) roomPauses("guard");
    } else if (one.do === "pause") {
      if (pause && (pause.lasting || !one.lasting)) continue;
      add("agents.paused", "usr_ann", { cause: "person", lasting: one.lasting }, { main: true });
      pause = { lasting: one.lasting };
    } else if (one.do === "resume") {
      if (!pause) continue;
      pause = undefined;
      acted(add("agents.resumed", "usr_ann", {}, { main: true }));
    } else if (overCeiling(job, settings.spend.job_usd) === undefined) {
      const run = `run_${i}`;
      add("run.started", one.by, { agent_id: one.by, message_ids: [] }, { main: true, run });
      add("run.used", one.by, { cost_usd: one.micros / 1_000_000 }, { main: true, run });
      job = report(job, one.micros);
      if (overCeiling(job, settings.spend.job_usd) !== undefined) roomPauses("spend");
      const cost_usd = one.micros / 1_000_000;
      add("run.ended", one.by, { agent_id: one.by, outcome: "done", cost_usd }, { main: true, run });
    }
  }
  return lines;
}
