/** Letters of the board and the offices, each taken once, all that one causes with it (CHAT-2, TEAM-2). */
import type { Letter } from "../../kit/outbox.ts";
import { takeIn } from "../../kit/outbox.ts";
import type { Address, RoomLetters } from "../../office/letters.ts";
import type { Ledger, Written } from "../writer.ts";
import { noneWritten } from "../writer.ts";
import { takeAsk, takeAskCanceled } from "./asks.ts";
import { takeBrief, takeNotice } from "./notices.ts";
import { takePaused, takePeople } from "./people.ts";
import { takeEnd, takeStart, takeStep, takeUsage } from "./runs.ts";
import { takeSay } from "./say.ts";

/** An office speaks of its own person only; the board of all. */
type Takers = {
  [K in keyof RoomLetters]: (ledger: Ledger, body: RoomLetters[K], from: Address) => Written;
};

const TAKERS: Takers = {
  people: (ledger, body, from) => (from === "board" ? takePeople(ledger, body) : noneWritten()),
  paused: (ledger, body, from) => (speaksFor(from, body.handle) ? takePaused(ledger, body) : noneWritten()),
  run_start: (ledger, body, from) =>
    speaksFor(from, body.handle) ? takeStart(ledger, body.handle, body) : noneWritten(),
  run_step: (ledger, body, from) => takeStep(ledger, handleOf(from), body),
  run_usage: (ledger, body, from) => takeUsage(ledger, handleOf(from), body),
  run_end: (ledger, body, from) => takeEnd(ledger, handleOf(from), body),
  ask: (ledger, body, from) => (speaksFor(from, body.handle) ? takeAsk(ledger, body) : noneWritten()),
  ask_canceled: (ledger, body) => takeAskCanceled(ledger, body),
  say: (ledger, body, from) => (speaksFor(from, body.handle) ? takeSay(ledger, body) : noneWritten()),
  notice: (ledger, body) => takeNotice(ledger, body),
  brief: (ledger, body) => takeBrief(ledger, body),
};

/**
 * Takes letters in, in one transaction with everything that they cause. What the room's rules refuse is refused for
 * good: it changes nothing, and the letters after it are taken.
 *
 * @returns what was written, and whether all were taken: if not, the sender is to try again
 */
export function takeLetters(
  ledger: Ledger,
  source: Address,
  letters: readonly Letter[],
  fault: (error: unknown) => void,
): { written: Written; all: boolean } {
  const written = noneWritten();
  const take = (letter: Letter) => {
    const { rows, effects } = takeOne(ledger, source, letter);
    written.rows.push(...rows);
    written.effects.push(...effects);
  };
  const { db, storage, clock } = ledger;
  const all = storage.transactionSync(() =>
    takeIn({ db, storage, now: () => clock.now(), take, fault }, source, letters),
  );
  return { written, all };
}

function takeOne(ledger: Ledger, source: Address, letter: Letter): Written {
  const taker = TAKERS[letter.kind as keyof RoomLetters] as
    | ((l: Ledger, body: unknown, from: Address) => Written)
    | undefined;
  return taker?.(ledger, letter.body, source) ?? noneWritten();
}

function handleOf(from: Address): string {
  return from.startsWith("office/") ? from.slice("office/".length) : "";
}

function speaksFor(from: Address, handle: string): boolean {
  return from === "board" || handleOf(from) === handle;
}
