/** An agent against the office in this process, for the tests of its client. */
import { type Agent, type AgentOptions, connectAgent } from "../../src/agent/agent.ts";
import type { Item, ItemResult } from "../../src/agent/item.ts";
import { type AgentStore, memoryStore } from "../../src/agent/store.ts";
import type { Clock } from "../../src/sdk/clock.ts";
import type { SocketConstructor, SocketEvent, SocketLike } from "../../src/sdk/connection.ts";
import { FakeOffice, FakeRoom, TOKEN } from "./fake-office.ts";
import { FakeClock } from "./fakes.ts";

export function setUp(options: Partial<AgentOptions> = {}) {
  const clock = new FakeClock();
  const office = new FakeOffice();
  const room = new FakeRoom();
  const store = memoryStore();
  const errors: Error[] = [];
  const states: string[] = [];
  const connect = (more: Partial<AgentOptions> = {}): Agent =>
    connectAgent({
      url: "https://office.example.com",
      handle: "ada",
      token: TOKEN,
      store,
      clock,
      webSocket: office.WebSocket,
      fetch: room.fetch,
      onError: (error) => errors.push(error),
      onStatus: ({ state }) => states.push(state),
      onItem: (item) => `did ${item.id}`,
      ...options,
      ...more,
    });
  return { clock, office, room, store, errors, states, connect };
}

/** A handler whose items end when the test says so. */
export function held() {
  const items: Item[] = [];
  const ends: PromiseWithResolvers<ItemResult>[] = [];
  const onItem = (item: Item): Promise<ItemResult> => {
    const end = Promise.withResolvers<ItemResult>();
    items.push(item);
    ends.push(end);
    return end.promise;
  };
  return {
    items,
    onItem,
    end: (n: number, result?: ItemResult) => ends[n]?.resolve(result),
    break: (n: number, error: Error) => ends[n]?.reject(error),
  };
}

/** What never comes: a process that was killed waits for it. */
const never = new Promise<never>(() => {});

/**
 * One life of a process: everything that it does to the world goes through `step`, and at the step that it is
 * killed at, and after it, nothing more happens.
 */
export class Life {
  #left: number;
  dead = false;
  readonly #died = Promise.withResolvers<void>();
  /** Resolves when it is killed. */
  readonly died = this.#died.promise;
  readonly #sockets: SocketLike[] = [];
  readonly #Socket: SocketConstructor;

  /** Killed at its n-th step, counted from 0; its sockets are of this kind. */
  constructor(Socket: SocketConstructor, killedAt: number) {
    this.#Socket = Socket;
    this.#left = killedAt;
  }

  /** Whether it still lives after this step. */
  step(): boolean {
    if (this.dead) return false;
    if (this.#left-- > 0) return true;
    this.kill();
    return false;
  }

  kill(): void {
    this.dead = true;
    for (const socket of this.#sockets) socket.close();
    this.#died.resolve();
  }

  /** A step before an effect and one after it: it may be killed on either side. */
  async around<T>(effect: () => T | Promise<T>): Promise<T> {
    if (!this.step()) return await never;
    const result = await effect();
    if (!this.step()) return await never;
    return result;
  }

  store(inner: AgentStore): AgentStore {
    return {
      load: () => inner.load(),
      save: (text) => this.around(() => inner.save(text)),
    };
  }

  fetch(inner: typeof fetch): typeof fetch {
    return (...args) => this.around(() => inner(...args));
  }

  /** A socket of the world's; nothing for who is dead. */
  open(url: string, protocols: string[]): SocketLike | undefined {
    if (this.dead) return undefined;
    const socket = new this.#Socket(url, protocols);
    this.#sockets.push(socket);
    return socket;
  }

  get WebSocket(): SocketConstructor {
    return socketsOf(this);
  }

  clock(inner: Clock): Clock {
    return {
      now: inner.now,
      random: inner.random,
      setTimeout: (run, ms) => inner.setTimeout(() => this.dead || run(), ms),
      clearTimeout: inner.clearTimeout,
    };
  }
}

/** A `WebSocket` of this life: every frame that it sends is a step. */
function socketsOf(life: Life): SocketConstructor {
  return class {
    readonly #inner;
    constructor(url: string, protocols: string[]) {
      this.#inner = life.open(url, protocols);
    }
    send(text: string): void {
      if (!life.step()) return;
      this.#inner?.send(text);
      life.step();
    }
    close(code?: number): void {
      if (!life.dead) this.#inner?.close(code);
    }
    addEventListener(type: string, listener: (event: SocketEvent) => void): void {
      this.#inner?.addEventListener(type, (event) => {
        if (!life.dead) listener(event);
      });
    }
  };
}
