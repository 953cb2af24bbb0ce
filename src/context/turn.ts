/**
 * One open request, run: the model is asked, and what it says is settled (REQ-2, REQ-3, REQ-7). Nothing here is kept
 * between two steps but in the stream, so whoever is killed is followed by another who does it again.
 */
import type { Clock } from "../sdk/clock.ts";
import { answerWith } from "../shared/rules/context/calls.ts";
import { CONTEXT_FULL } from "../shared/rules/context/requests.ts";
import { byteLength, firstBytes } from "../shared/rules/text.ts";
import type { AppendEvent } from "../shared/wire/context/http.ts";
import { APPEND_LIMITS } from "../shared/wire/context/http.ts";
import { type Failure, failure } from "./failures.ts";
import type { Answer, Model } from "./model.ts";

/** What running a stream's requests needs of the stream. */
export interface TurnPort {
  /** As in `/people/scout`. */
  readonly path: string;
  /** The body of a request, as it was when that was opened (REQ-2). */
  prompt(request: OpenRequest, signal: AbortSignal): Promise<object>;
  /** Appends a batch, however often that must be tried. */
  append(events: readonly AppendEvent[], signal: AbortSignal): Promise<Appended>;
}

/** `late`: it conflicts, since somebody was first, or its time is over. `refused`: it would be refused again. */
export type Appended = { is: "stored" } | { is: "late" } | { is: "refused"; why: string };

/** Why a request is run no further; the reason of its signal. */
export type Stop =
  /** An item interrupted it: what was said so far is told (REQ-3). */
  | "interrupted"
  /** It ended otherwise: settled by somebody else, cancelled, expired. */
  | "over"
  /** This runner leaves; the request stays open for the next. */
  | "leaving";

export interface OpenRequest {
  offset: number;
  /** When it was opened, ms. */
  at: number;
  /** Ms; what comes later counts no more (REQ-5). */
  deadline: number;
}

export interface TurnOptions {
  port: TurnPort;
  model: Model;
  request: OpenRequest;
  /** Aborted with a {@link Stop} as its reason. */
  signal: AbortSignal;
  clock: Clock;
}

/** What became of it. */
export type Turned = "answered" | "failed" | "late" | Stop;

/** Tries of one request, with the same bytes, before it is settled as failed. */
const TRIES = 3;
const FIRST_WAIT_MS = 1000;
/** An endpoint that wants to be left alone for longer: the request fails, and the office tries again later. */
const LONGEST_WAIT_MS = 20_000;
/** The partial answer of an interrupted request is told within this time, or not at all (REQ-3). */
const PARTIAL_MS = 60_000;
const CUT = "\n[cut off]";
const INTERRUPTED = "[interrupted]";

/** Runs a request to its end. @throws what its port throws: the request is still open then */
export async function runRequest(options: TurnOptions): Promise<Turned> {
  const { port, request, signal, clock } = options;
  const asking = new AbortController();
  const stop = () => asking.abort(signal.reason);
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  // From its deadline on nothing that comes is of use (REQ-5).
  const left = request.deadline - clock.now();
  const timer = clock.setTimeout(() => asking.abort("over" satisfies Stop), left);
  try {
    const answer = await askPatiently(options, asking.signal);
    if (asking.signal.aborted) return await stopped(options, answer, asking.signal.reason as Stop);
    const { offset } = request;
    const settled = await port.append(settlementOf(offset, answer), asking.signal);
    if (settled.is === "stored") return answer.ok ? "answered" : "failed";
    if (settled.is === "late") return "late";
    // Asking again would only cost as much again.
    const why = failure("refused", `the office did not take the answer: ${settled.why}`);
    await port.append([failedWith(offset, why)], asking.signal);
    return "failed";
  } catch (error) {
    if (asking.signal.aborted) return asking.signal.reason as Stop;
    throw error;
  } finally {
    clock.clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  }
}

/** Asks again what may succeed a little later: the same bytes each time, but for what was redacted (STREAM-5). */
async function askPatiently(
  { port, model, clock, request }: TurnOptions,
  signal: AbortSignal,
): Promise<Answer> {
  for (let tries = 1; ; tries++) {
    const answer = await model.ask(await port.prompt(request, signal), { signal });
    if (answer.ok || !answer.failure.retry || tries === TRIES || signal.aborted) return answer;
    const wait = answer.failure.retryAfterMs ?? FIRST_WAIT_MS * 2 ** (tries - 1) * (0.5 + clock.random());
    if (wait > LONGEST_WAIT_MS || clock.now() + wait >= request.deadline) return answer;
    await pause(clock, wait, signal);
    if (signal.aborted) return answer;
  }
}

/** The answer and its settlement, in one batch, the answer first (REQ-3, CTX-9). */
export function settlementOf(request: number, answer: Answer): AppendEvent[] {
  if (!answer.ok) return [failedWith(request, answer.failure)];
  const made = answer.calls.map(({ tool, input }) => ({ tool: tool === "" ? "unnamed" : tool, input }));
  const room = APPEND_LIMITS.contentBytes - byteLength(answerWith("", request, made).content) - 2;
  const words = clean(answer.text);
  const fits = byteLength(words) <= room;
  const text = fits && !answer.cut ? words : firstBytes(words, room - byteLength(CUT)) + CUT;
  const { content, calls } = answerWith(text, request, made);
  if (byteLength(content) > APPEND_LIMITS.contentBytes) return [failedWith(request, failure("too_large"))];
  return [
    {
      type: "context-item",
      payload: { role: "assistant", content, llmRequestOffset: request },
      idempotencyKey: `answer:${request}`,
    },
    {
      type: "llm-request-succeeded",
      payload: {
        requestOffset: request,
        ...(answer.usage && { usage: answer.usage }),
        ...(calls.length > 0 && { calls: calls.map(({ id }) => id) }),
      },
      idempotencyKey: `settled:${request}`,
    },
  ];
}

function failedWith(request: number, { reason, message }: Failure): AppendEvent {
  const why = reason === "context_full" ? CONTEXT_FULL : `${reason}: ${message}`;
  return {
    type: "llm-request-failed",
    payload: { requestOffset: request, reason: why },
    idempotencyKey: `settled:${request}`,
  };
}

/** What was said before an interrupt stays in the stream, so that the model knows how far it came (REQ-3). */
async function stopped({ port, request, clock }: TurnOptions, answer: Answer, why: Stop): Promise<Stop> {
  const said = clean(answer.text).trimEnd();
  if (why !== "interrupted" || said === "") return why;
  const { offset } = request;
  const room = APPEND_LIMITS.contentBytes - byteLength(INTERRUPTED) - 1;
  const partial: AppendEvent = {
    type: "context-item",
    payload: {
      role: "assistant",
      content: `${firstBytes(said, room)}\n${INTERRUPTED}`,
      refs: [{ type: "event", streamPath: port.path, offset, eventType: "llm-request-requested" }],
    },
    idempotencyKey: `partial:${offset}`,
  };
  const inTime = new AbortController();
  const timer = clock.setTimeout(() => inTime.abort("over" satisfies Stop), PARTIAL_MS);
  try {
    await port.append([partial], inTime.signal);
  } finally {
    clock.clearTimeout(timer);
  }
  return why;
}

/** Text that a stream can hold. */
function clean(text: string): string {
  return text.toWellFormed().replaceAll("\0", "");
}

/** Waits, unless the signal ends it. */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clock.clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = clock.setTimeout(done, ms);
    if (signal.aborted) done();
    else signal.addEventListener("abort", done, { once: true });
  });
}
