/**
 * The people whom their office runs itself (CTX-8, REQ-7): after every append, and by an alarm, their streams are
 * looked at, and what is open is run. What is in memory here is only what is under way: after an eviction it is run
 * again, with the same bytes, and settled once.
 */
import { promptBody } from "../../../src/context/prompt.ts";
import { StreamRunner } from "../../../src/context/runner.ts";
import { toolDefinitions } from "../../../src/context/tools.ts";
import type { Appended } from "../../../src/context/turn.ts";
import { viewOf } from "../../../src/context/view.ts";
import { systemClock } from "../../../src/sdk/clock.ts";
import { fileOfPath } from "../../../src/shared/rules/context/file-paths.ts";
import { runnerOf } from "../../../src/shared/rules/context/runner.ts";
import type { StreamState } from "../../../src/shared/rules/context/state.ts";
import type { AppendEvent } from "../../../src/shared/wire/context/http.ts";
import type { ContextItem } from "../../../src/shared/wire/context/item.ts";
import { Refused } from "../../kit/result.ts";
import type { Desk, Look } from "../desk.ts";
import { appendTo } from "../streams/append.ts";
import type { Beside, StreamHook, StreamOutside } from "../streams/hooks.ts";
import { pathOf, type StreamName } from "../streams/paths.ts";
import { promptParts } from "../streams/reads.ts";
import { stateAtHead } from "../streams/states.ts";
import { eventAt, itemOfStream, streamId, streamIds } from "../streams/store.ts";
import { inRooms } from "../tools/calling.ts";
import { officeHost } from "../tools/host.ts";
import { writeResult } from "../tools/results.ts";
import { summarise } from "./compact.ts";
import { modelName, modelOf } from "./model.ts";

/** The alarm that looks for what nobody in this object runs. */
export const RESIDENT_ALARM = "resident";
const LOOK_MS = 30_000;
/** Calls that are older wait for a person, whose word comes by itself. */
const CALLS_MS = 600_000;

/** Whether the office runs this person itself. */
function isResident({ team, handle }: Pick<Look, "team" | "handle">): boolean {
  return runnerOf(team, handle) === "resident";
}

/** Should this object die while it runs something, the alarm finds it. */
export const RESIDENT_HOOK: StreamHook = {
  opened(desk) {
    if (isResident(desk)) desk.alarm(RESIDENT_ALARM, desk.now + LOOK_MS);
  },
  ended(desk, { calls }) {
    if (calls.length > 0 && isResident(desk)) desk.alarm(RESIDENT_ALARM, desk.now + LOOK_MS);
  },
};

/** The alarm: every stream on which something is left to run is looked at after this piece of work. */
export function lookForOpen(desk: Desk): void {
  if (!isResident(desk)) return;
  for (const stream of streamIds(desk.db)) {
    const { state } = stateAtHead(desk.db, desk.streams, stream);
    if (state.open === null && !callsWait(desk, stream, state)) continue;
    desk.streams.touched.add(itemOfStream(desk.db, stream) ?? "");
    desk.alarm(RESIDENT_ALARM, desk.now + LOOK_MS);
  }
}

function callsWait(desk: Desk, stream: number, { calls }: StreamState): boolean {
  const newest = calls.findLast(({ result }) => result === null);
  const answered = newest && eventAt(desk.db, stream, newest.answer);
  return answered !== undefined && desk.now - answered.at < CALLS_MS;
}

const residents = new WeakMap<Beside, Resident>();

export const RESIDENT: StreamOutside = {
  committed(beside, stream) {
    let resident = residents.get(beside);
    if (!resident) {
      // Nothing is kept for people who are run elsewhere.
      if (!isResident(beside.look())) return;
      residents.set(beside, (resident = new Resident(beside)));
    }
    resident.look(stream);
  },
  compact: summarise,
};

interface Running {
  runner: StreamRunner;
  /** What its model was made from. */
  model: string;
}

class Resident {
  readonly #beside: Beside;
  readonly #running = new Map<string, Running>();
  readonly #clock;

  constructor(beside: Beside) {
    this.#beside = beside;
    this.#clock = { ...systemClock, now: () => beside.look().now };
  }

  /** Does what is left to do on a stream, as it stands now. */
  look(name: StreamName): void {
    const { db } = this.#beside.look();
    const item = name.item ?? "";
    const stream = streamId(db, item);
    const { runner } = this.#running.get(item) ?? {};
    if (stream === undefined) return;
    if (!isResident(this.#beside.look())) {
      if (runner) this.#beside.waitUntil(runner.leave());
      this.#running.delete(item);
      return;
    }
    const { state } = stateAtHead(db, this.#beside.states, stream);
    const view = viewOf(state, pathOf(name), (offset) => {
      const row = eventAt(db, stream, offset);
      return row && { content: (JSON.parse(row.payload) as ContextItem).content, at: row.at };
    });
    if (!runner && view.open === undefined && view.calls.length === 0) return;
    this.#runnerOf(name).look(view);
  }

  #runnerOf(name: StreamName): StreamRunner {
    const item = name.item ?? "";
    const model = JSON.stringify(modelName(this.#beside.look()));
    const there = this.#running.get(item);
    // Another model is taken as soon as nothing is under way with the one before.
    if (there && (there.model === model || there.runner.isBusy)) return there.runner;
    const runner = this.#open(name);
    this.#running.set(item, { runner, model });
    return runner;
  }

  #open(name: StreamName): StreamRunner {
    const beside = this.#beside;
    const path = pathOf(name);
    const host = officeHost(beside);
    const model = modelOf(() => beside.look(), this.#clock);
    const tools = toolDefinitions(host.tools);
    return new StreamRunner({
      model,
      host,
      clock: this.#clock,
      polls: false,
      onError: (error) => beside.fault(error),
      again: (ms) => void setTimeout(() => this.look(name), ms),
      port: {
        path,
        prompt: ({ offset, at }) => {
          const { db } = beside.look();
          const { items } = promptParts({ db, memory: beside.states, item: name.item ?? "" }, offset);
          return promptBody({ items, at, form: model.form, tools, read: (file) => bytesOf(beside, file) });
        },
        append: async (events) => appended(beside, path, events),
        result: async (call, result) => beside.work((desk) => writeResult(desk, path, call.id, result)),
      },
    });
  }
}

function appended(beside: Beside, path: string, events: readonly AppendEvent[]): Appended {
  try {
    beside.work((desk) => appendTo(desk, path, events));
    return { is: "stored" };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    const { code, message } = error.refusal;
    return code === "conflict" ? { is: "late" } : { is: "refused", why: message };
  }
}

/** A file's bytes from the bucket, if the person's agent may see it (RENDER-3). */
async function bytesOf(beside: Beside, path: string): Promise<Uint8Array | undefined> {
  const { env, workspace } = beside.look();
  const attachment_id = fileOfPath(workspace, path);
  if (attachment_id === undefined) return undefined;
  try {
    const { key } = await inRooms(beside, "file", { attachment_id });
    const object = await env.FILES.get(key);
    return object ? new Uint8Array(await object.arrayBuffer()) : undefined;
  } catch (error) {
    if (error instanceof Refused) return undefined;
    throw error;
  }
}
