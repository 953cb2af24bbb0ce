/**
 * What the agent has written down. A change is seen by nobody before it is stored: so nothing is sent, posted
 * or made of it that a crash could make forgotten (OFF-8, ACT-1, REPORT-2).
 */
import { asError, OfficeError } from "./errors.ts";
import { type AgentState, type AgentStore, agentState, emptyState } from "./store.ts";

export class Ledger {
  readonly #store: AgentStore;
  readonly #onBroken: (error: OfficeError) => void;
  /** With every change asked for; ahead of `state` while it is being stored. */
  readonly #draft: AgentState;
  #state: AgentState;
  #saving: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  #broken: OfficeError | undefined;

  private constructor(store: AgentStore, state: AgentState, onBroken: (error: OfficeError) => void) {
    this.#store = store;
    this.#onBroken = onBroken;
    this.#draft = state;
    this.#state = structuredClone(state);
  }

  /** Reads what an earlier life left; `of` is whose it must be. `onBroken` hears when the store fails. */
  static async open(store: AgentStore, of: string, onBroken: (error: OfficeError) => void): Promise<Ledger> {
    const text = await store.load();
    if (text === undefined) return new Ledger(store, emptyState(of), onBroken);
    let parsed: ReturnType<typeof agentState.safeParse> | undefined;
    try {
      parsed = agentState.safeParse(JSON.parse(text));
    } catch {
      parsed = undefined;
    }
    if (!parsed?.success)
      throw new OfficeError(
        "invalid",
        "What this agent has kept cannot be read. Move it out of the way; what was on its way is lost with it.",
      );
    if (parsed.data.of !== of)
      throw new OfficeError(
        "invalid",
        `This state belongs to ${parsed.data.of}, not to ${of}: give each agent a folder of its own.`,
      );
    return new Ledger(store, parsed.data, onBroken);
  }

  /** What is stored. It is replaced, never changed. */
  get state(): Readonly<AgentState> {
    return this.#state;
  }

  /**
   * Changes the state; resolves with what `change` returned once it is stored. Changes that come while one is
   * being stored share the next. A store that fails ends it: nothing is sent that is not written down.
   */
  async change<T>(change: (state: AgentState) => T): Promise<T> {
    if (this.#broken) throw this.#broken;
    const result = change(this.#draft);
    if (this.#saving) await (this.#next ??= this.#saving.then(() => this.#save()));
    else await this.#save();
    return result;
  }

  #save(): Promise<void> {
    this.#next = undefined;
    this.#saving = this.#write().finally(() => {
      if (!this.#next) this.#saving = undefined;
    });
    return this.#saving;
  }

  async #write(): Promise<void> {
    const text = JSON.stringify(this.#draft);
    try {
      await this.#store.save(text);
    } catch (error) {
      this.#broken = new OfficeError("failed", `The agent cannot keep its state: ${asError(error).message}`, {
        cause: error,
      });
      this.#onBroken(this.#broken);
      throw this.#broken;
    }
    this.#state = JSON.parse(text) as AgentState;
  }
}
