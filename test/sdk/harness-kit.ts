/** A harness against the server in this process, for the tests of turns. */
import { connectHarness, type Harness, type HarnessOptions } from "../../src/sdk/harness.ts";
import type { Turn } from "../../src/sdk/turn.ts";
import { FakeClock, FakeServer, fakeFetch } from "./fakes.ts";

export function setUp(options: Partial<HarnessOptions> = {}) {
  const clock = new FakeClock();
  const server = new FakeServer();
  const errors: Error[] = [];
  const connect = (more: Partial<HarnessOptions> = {}): Harness =>
    connectHarness({
      url: "https://rooms.example.com",
      token: "bp_x",
      agents: [{ name: "Scout" }],
      clock,
      WebSocket: server.WebSocket,
      fetch: fakeFetch({}).fetch,
      onError: (error) => errors.push(error),
      onTurn: () => "ok",
      ...options,
      ...more,
    });
  const types = () => server.writes.map((frame) => frame.type);
  return { clock, server, errors, connect, types };
}

/** A handler whose turns end when the test says so. */
export function held() {
  const turns: Turn[] = [];
  const ends: ((result?: string) => void)[] = [];
  const onTurn = (turn: Turn): Promise<string | undefined> => {
    turns.push(turn);
    return new Promise((resolve) => ends.push(resolve));
  };
  return { turns, onTurn, end: (n: number, result?: string) => ends[n]?.(result) };
}
