import { describe, expect, test } from "vitest";
import { FakeClock, settle } from "../../../test/sdk/fakes.ts";
import { StepTeller } from "./steps.ts";
import { TurnTimer } from "./timer.ts";

function teller() {
  const clock = new FakeClock();
  const told: string[] = [];
  const signal = new AbortController().signal;
  const step = (text: string) => {
    told.push(text);
    return Promise.resolve({} as never);
  };
  return { clock, told, steps: new StepTeller({ step, signal }, clock) };
}

describe("BRIDGE-1 steps", () => {
  test("BRIDGE-1 a flood is told as its first and its newest", async () => {
    const { clock, told, steps } = teller();
    for (let i = 0; i < 1000; i++) steps.tell(`step ${i}`);
    await settle();
    await clock.advance(300);
    expect(told).toEqual(["step 0", "step 999"]);
  });

  test("BRIDGE-1 the same words twice are one step; what waits at the end is told", async () => {
    const { clock, told, steps } = teller();
    steps.tell("reading");
    steps.tell("reading");
    steps.tell("writing");
    const closed = steps.close();
    steps.tell("too late");
    await settle();
    await clock.advance(300);
    await closed;
    expect(told).toEqual(["reading", "writing"]);
  });

  test("TURN-5 BRIDGE-1 a turn that works in silence shows that it is alive, unless it waits for a person", async () => {
    const { clock, told, steps } = teller();
    await clock.advance(240_000);
    expect(told).toEqual(["still working"]);
    steps.pause();
    await clock.advance(600_000);
    expect(told).toHaveLength(1);
  });
});

describe("BRIDGE-1 the time limit", () => {
  test("BRIDGE-1 waiting for a person is not the turn's time", async () => {
    const clock = new FakeClock();
    let ended = 0;
    const timer = new TurnTimer(1000, () => ended++, clock);
    await clock.advance(900);
    timer.pause();
    timer.pause();
    await clock.advance(86_400_000);
    timer.resume();
    await clock.advance(86_400_000);
    timer.resume();
    await clock.advance(99);
    expect(ended).toBe(0);
    await clock.advance(1);
    expect(ended).toBe(1);
  });

  test("BRIDGE-1 a turn that is over has none", async () => {
    const clock = new FakeClock();
    let ended = 0;
    const timer = new TurnTimer(1000, () => ended++, clock);
    timer.close();
    timer.resume();
    await clock.advance(5000);
    expect(ended).toBe(0);
  });
});
