import { canonicalJson } from "./canonical.ts";

/** A record of the audit as it is kept: its number, its content, the hash before it and its own (APR-8). */
export interface AuditRecord {
  n: number;
  prev: string;
  hash: string;
}

/** Where a chain stands: the number and the hash of its last record. */
export interface ChainEnd {
  n: number;
  hash: string;
}

/** Before the first record, whose number is 1. */
export const CHAIN_START: ChainEnd = { n: 0, hash: "" };

/** The text whose hash a record holds: all of it but that hash, the one before included, as canonical JSON. */
export function auditText(prev: string, record: object): string {
  return canonicalJson({ ...record, prev });
}

/** What a check of the chain found; `first_fault` is the number at which it breaks. */
export interface ChainCheck {
  ok: boolean;
  checked: number;
  first_fault?: number;
  /** Where the next records go on. */
  end: ChainEnd;
}

/**
 * Whether the records are the chain that was written (APR-8): numbers without a gap, each the hash of its own text
 * and of the one before. Long chains go by pages: `after` is the page before's `end`. A chain that was cut short is
 * seen only by who knows its `last` record from elsewhere.
 */
export function verifyChain(
  records: Iterable<AuditRecord>,
  hash: (text: string) => string,
  after: ChainEnd = CHAIN_START,
  last?: ChainEnd,
): ChainCheck {
  let end = after;
  let checked = 0;
  for (const record of records) {
    checked += 1;
    const { hash: own, prev, ...content } = record;
    const n = end.n + 1;
    if (record.n !== n || prev !== end.hash || own !== hash(auditText(prev, content)))
      return { ok: false, checked, first_fault: n, end };
    end = { n, hash: own };
  }
  if (last && (last.n !== end.n || last.hash !== end.hash))
    return { ok: false, checked, first_fault: Math.min(last.n, end.n + 1), end };
  return { ok: true, checked, end };
}
