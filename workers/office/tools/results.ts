/** Results of calls that the office itself has settled (CTX-9): each once, the last of an answer asks for the next turn. */
import { lateNotice, type WrittenResult } from "../../../src/context/carry.ts";
import { resultContent, resultItem, resultKey } from "../../../src/shared/rules/context/calls.ts";
import type { AppendEvent } from "../../../src/shared/wire/context/http.ts";
import type { Desk } from "../desk.ts";
import type { OfficeLetters } from "../letters.ts";
import { appendTo } from "../streams/append.ts";
import { nameOf } from "../streams/paths.ts";
import { stateAtHead } from "../streams/states.ts";
import { streamId } from "../streams/store.ts";
import { decided } from "./approve.ts";
import { placeOfKey } from "./key.ts";

/** Writes the result of a call that waits for one; of any other nothing is written. */
export function writeResult(desk: Desk, path: string, id: string, result: WrittenResult): void {
  const stream = streamId(desk.db, nameOf(path)?.item ?? "");
  if (stream === undefined) return;
  const { calls } = stateAtHead(desk.db, desk.streams, stream).state;
  const call = calls.find((one) => one.id === id);
  if (call?.result !== null) return;
  const last = !calls.some((one) => one.answer === call.answer && one.result === null && one.id !== id);
  const { content, files, goesOn, isLate } = result;
  const of = { id, answer: call.answer, streamPath: path };
  const payload = resultItem(of, content, { last: last && goesOn, ...(files && { files }) });
  const event: AppendEvent = { type: "context-item", payload, idempotencyKey: resultKey(id) };
  appendTo(desk, path, isLate && last ? [event, lateNotice(call.answer)] : [event]);
}

/** Somebody decided what a call asked leave for, or nobody will. An agent elsewhere asks about it itself. */
export function takeDecided(desk: Desk, { state: key, stands }: OfficeLetters["ask_decided"]): void {
  const place = placeOfKey(key);
  if (!place || stands.state === "pending") return;
  const path = `/people/${desk.handle}${place.item === "" ? "" : `/items/${place.item}`}`;
  const stream = streamId(desk.db, place.item);
  const call =
    stream === undefined
      ? undefined
      : stateAtHead(desk.db, desk.streams, stream).state.calls.find(({ id }) => id === place.call);
  if (call?.by !== null) return;
  const { ok, output } = decided(stands);
  writeResult(desk, path, place.call, { content: resultContent(ok, output).content, goesOn: true });
}
