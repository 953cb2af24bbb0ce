/** Requests that may be sent again: each key is answered once, and then as it was the first time (ENV-4). */
import { createHash } from "node:crypto";
import { canonicalJson } from "./canonical.ts";
import type { Db } from "./db.ts";
import { refuse } from "./result.ts";

/** The answers by who asked and their key; the hash is that of what was asked for. */
export const REQUEST_KEYS_TABLE = `
CREATE TABLE request_keys (
  sender TEXT NOT NULL, key TEXT NOT NULL, hash TEXT NOT NULL, answer TEXT NOT NULL, at INTEGER NOT NULL,
  PRIMARY KEY (sender, key)
) STRICT
`;

interface Request<A> {
  /** The participant whose key it is. */
  sender: string;
  at: number;
  /** What is asked for: the same key with another name or body is a conflict. */
  name: string;
  asked: A & { idempotency_key?: string | undefined };
}

/**
 * Carries out what is asked for, in the caller's transaction; with a key that was used for the same it only answers.
 * What is refused keeps no key, since it is thrown.
 */
export function once<A extends object, T>(
  db: Db,
  { sender, at, name, asked }: Request<A>,
  work: (asked: Omit<A, "idempotency_key">) => T,
): T {
  const { idempotency_key: key, ...body } = asked;
  if (key === undefined) return work(body);
  const hash = createHash("sha256").update(canonicalJson({ name, body })).digest("base64");
  const earlier = db.one<{ hash: string; answer: string }>(
    "SELECT hash, answer FROM request_keys WHERE sender = ? AND key = ?",
    sender,
    key,
  );
  if (earlier?.hash === hash) return JSON.parse(earlier.answer) as T;
  if (earlier)
    refuse("conflict", "This idempotency_key was used for something else. Use a new key for a new request.");
  const answer = work(body);
  db.run(
    "INSERT INTO request_keys (sender, key, hash, answer, at) VALUES (?, ?, ?, ?, ?)",
    sender,
    key,
    hash,
    JSON.stringify(answer),
    at,
  );
  return answer;
}
