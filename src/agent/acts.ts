/** Acts: changes that the office has decided and this agent makes as itself, each once and in order (ACT-1). */
import { type AgentPayload, type Op, op } from "../shared/wire/agent/index.ts";
import { asError } from "./errors.ts";
import type { Ledger } from "./ledger.ts";
import type { Outbox } from "./outbox.ts";
import type { ActAnswer, ActNote, AgentState } from "./store.ts";

export interface ActContext {
  actId: string;
  /** The change's own name: whoever gets it twice makes it once. */
  key: string;
  /** An earlier life began this change and ended before it knew: look whether it was made. */
  again: boolean;
  /** Aborted when the agent leaves. */
  signal: AbortSignal;
}
/** Makes one change; answers a line that says what was done. A throw is a change that failed. */
export type OnAct = (change: Op, context: ActContext) => string | void | Promise<string | void>;

/** So many answers are remembered, for acts that come again although they were answered. */
const REMEMBERED = 200;

export interface ActsParts {
  ledger: Ledger;
  outbox: Outbox;
  onAct: OnAct | undefined;
  signal: AbortSignal;
  onError: (error: Error) => void;
}

export class Acts {
  readonly #parts: ActsParts;
  readonly #going = new Set<string>();
  #last: Promise<void> = Promise.resolve();

  constructor(parts: ActsParts) {
    this.#parts = parts;
  }

  /** Makes an act that came, unless it is being made; one that was made is only answered again. */
  take({ id, ops }: AgentPayload<"act">): void {
    if (this.#going.has(id) || this.#parts.signal.aborted) return;
    this.#going.add(id);
    // One act at a time, in the order in which they came.
    this.#last = this.#last
      .then(() => this.#make(id, ops))
      .catch((error: unknown) => this.#parts.onError(asError(error)))
      .finally(() => this.#going.delete(id));
  }

  async #make(id: string, ops: unknown[]): Promise<void> {
    const { ledger, outbox, signal } = this.#parts;
    const known = ledger.state.answered.find((one) => one.id === id);
    if (outbox.has(id, "act_result")) return;
    const answer = known ?? (await this.#changes(await ledger.change((state) => begun(state, id, ops))));
    if (!answer || (signal.aborted && !known)) return;
    if (!known) await ledger.change((state) => answered(state, answer));
    await outbox.add("act_result", answer, id).written;
  }

  /** The changes that were not made yet; undefined when the agent leaves in the middle. */
  async #changes(note: ActNote): Promise<ActAnswer | undefined> {
    const { ledger, onAct, signal } = this.#parts;
    const { id } = note;
    const results = [...note.results];
    for (let n = results.length; n < note.ops.length; n++) {
      const parsed = op.safeParse(note.ops[n]);
      try {
        if (!onAct) throw new Error("this agent makes no changes: connectAgent was given no onAct");
        if (!parsed.success) throw new Error("it is no change that this agent knows");
        const { key } = parsed.data;
        const again = note.begun === n;
        if (!again) await ledger.change((state) => noteOf(state, id, (one) => (one.begun = n)));
        const line = await onAct(parsed.data, { actId: id, key, again, signal });
        const said = line ?? `${parsed.data.op}: made`;
        results.push(said);
        await ledger.change((state) => noteOf(state, id, (one) => one.results.push(said)));
        if (signal.aborted) return undefined;
      } catch (error) {
        if (signal.aborted) return undefined;
        return { id, ok: false, results, error: `Change ${n + 1} failed: ${asError(error).message}` };
      }
    }
    return { id, ok: true, results };
  }
}

function noteOf(state: AgentState, id: string, change: (note: ActNote) => void): void {
  const note = state.acts.find((one) => one.id === id);
  if (note) change(note);
}

/** The note of an act, made when it is new. */
function begun(state: AgentState, id: string, ops: unknown[]): ActNote {
  const there = state.acts.find((one) => one.id === id);
  if (!there) state.acts.push({ id, ops, results: [] });
  return structuredClone(there ?? { id, ops, results: [] });
}

function answered(state: AgentState, answer: ActAnswer): void {
  state.acts = state.acts.filter(({ id }) => id !== answer.id);
  state.answered = [...state.answered, answer].slice(-REMEMBERED);
}
