/** What is true of every answer and every frame, whatever the test was about. Problems wait for its end. */
import { ERROR_STATUS, isRetryable } from "../../src/shared/wire/errors.ts";
import { validateAnswer, validateFrame } from "../support/validate.ts";

/** A frame or body whose shape the test itself looks at. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Any = any;

const problems: string[] = [];

export function problem(text: string): void {
  problems.push(text);
}

export function takeProblems(): string[] {
  return problems.splice(0);
}

/** A stack, a statement, a path or a secret's name has no place in an answer (ERR-1). */
const LEAK =
  /\bat \w+ \(|\.ts:\d+|\.js:\d+|SQLITE|\b(?:SELECT|INSERT INTO|UPDATE|DELETE FROM)\b.*\b(?:FROM|WHERE|VALUES|SET)\b|no such table|node_modules|\/workers\//;

/** ERR-1 and ERR-2: one form, a code of the list, a sentence, nothing of the inside. */
function errorFaults(error: Any): string[] {
  const faults: string[] = [];
  if (error?.type !== "error") return [`is no error: ${JSON.stringify(error)}`];
  if (!(error.code in ERROR_STATUS)) faults.push(`has the code ${error.code}`);
  else if (error.retryable !== isRetryable(error.code)) faults.push(`${error.code} with ${error.retryable}`);
  if (typeof error.message !== "string" || !/\w.*[.…?!)]$/su.test(error.message))
    faults.push(`says no sentence: ${error.message}`);
  if (error.code === "internal") faults.push("is a fault of the server");
  if (LEAK.test(JSON.stringify({ ...error, of: "" }))) faults.push(`shows the inside: ${error.message}`);
  return faults;
}

interface Seen {
  status: number;
  headers: Headers;
  body: Any;
}

export function answerSeen(method: string, path: string, answer: Seen): void {
  const { status, headers, body } = answer;
  const where = `${method} ${path.slice(0, 200)} → ${status}`;
  const fault = (text: string) => problem(`${where}: ${text}`);
  if (status >= 500) fault(`a fault of the server: ${JSON.stringify(body).slice(0, 300)}`);
  if (path.startsWith("/v1/")) {
    if (!headers.get("x-request-id")) fault("no x-request-id (HTTP-5)");
    if (!path.startsWith("/v1/attachments/") && headers.get("cache-control") !== "no-store")
      fault("no cache-control: no-store (HTTP-5)");
    if (status !== 204 && !headers.get("content-type")) fault("no content-type (HTTP-5)");
    if (status >= 400) for (const text of errorFaults(body)) fault(text);
    if (status >= 400 && body?.code in ERROR_STATUS) {
      const right = ERROR_STATUS[body.code as keyof typeof ERROR_STATUS];
      if (right !== status) fault(`${body.code} has the status ${right} (ERR-2)`);
    }
  }
  // A preflight is no operation of the document.
  if (method === "OPTIONS") return;
  for (const text of validateAnswer(method, path, status, body)) fault(text);
}

/** What one connection was sent so far: enough to tell when something comes twice or out of order. */
export interface Watch {
  seq: number;
  caughtUp: boolean;
  seen: Set<string>;
  /** Whether its hello said that it can take arrays (BATCH-1). */
  batch: boolean;
}

export const newWatch = (): Watch => ({ seq: 0, caughtUp: false, seen: new Set(), batch: false });

export function textSeen(watch: Watch, text: string, frames: readonly Any[], isArray: boolean): void {
  if (isArray && !watch.batch) problem("an array came without can: batch (BATCH-1)");
  if (Buffer.byteLength(text) > 1024 * 1024) problem("a frame over 1 MiB came (WIN-8)");
  for (const frame of frames) frameSeen(watch, frame);
}

function frameSeen(watch: Watch, frame: Any): void {
  const fault = (text: string) => problem(`${frame?.type}: ${text}: ${JSON.stringify(frame).slice(0, 400)}`);
  for (const text of validateFrame(frame)) fault(text);
  if (frame.type === "error") for (const text of errorFaults(frame)) fault(text);
  if (frame.type === "receipt" && !frame.duplicate && watch.seen.has(frame.id))
    fault("came after the event that it confirms (CONN-5)");
  if (frame.type === "caught_up") {
    if (watch.caughtUp) fault("came twice (CONN-3)");
    if (frame.seq < watch.seq) fault(`is below ${watch.seq}, which was sent (CONN-3)`);
    watch.caughtUp = true;
    watch.seq = Math.max(watch.seq, frame.seq);
  }
  if (typeof frame.seq !== "number" || frame.actor === undefined) return;
  if (frame.seq <= watch.seq) fault(`is not above ${watch.seq} (CONN-3)`);
  watch.seq = frame.seq;
  watch.seen.add(frame.id);
}
