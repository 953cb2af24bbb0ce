import { createHash } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type AuditRecord, auditText, CHAIN_START, verifyChain } from "./audit.ts";

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
type Row = AuditRecord & { by: string; subject?: unknown };

function chain(contents: { by: string; subject?: unknown }[]): Row[] {
  let { n, hash } = CHAIN_START;
  return contents.map((content) => {
    const prev = hash;
    n += 1;
    hash = sha256(auditText(prev, { n, ...content }));
    return { n, ...content, prev, hash };
  });
}

const contents = fc.array(fc.record({ by: fc.string(), subject: fc.jsonValue({ maxDepth: 2 }) }), {
  minLength: 1,
  maxLength: 12,
});
const place = fc.nat();

describe("APR-8 the audit's chain", () => {
  test("APR-8 a chain as it was written is whole, also by pages", () => {
    fc.assert(
      fc.property(contents, place, (list, cut) => {
        const rows = chain(list);
        const last = rows.at(-1);
        const end = { n: rows.length, hash: last?.hash ?? "" };
        expect(verifyChain(rows, sha256)).toEqual({ ok: true, checked: rows.length, end });
        const at = cut % (rows.length + 1);
        const first = verifyChain(rows.slice(0, at), sha256);
        expect(verifyChain(rows.slice(at), sha256, first.end, end)).toMatchObject({ ok: true, end });
      }),
    );
    expect(verifyChain([], sha256)).toEqual({ ok: true, checked: 0, end: CHAIN_START });
  });

  test("APR-8 a changed record is named, whatever of it was changed", () => {
    const field = fc.constantFrom("by", "subject", "prev", "hash", "n", "added");
    fc.assert(
      fc.property(contents, place, field, (list, which, key) => {
        const rows = chain(list);
        const at = which % rows.length;
        const changed = rows.map((row, i) => (i === at ? { ...row, [key]: "something else" } : row));
        expect(verifyChain(changed, sha256)).toMatchObject({
          ok: false,
          first_fault: at + 1,
          checked: at + 1,
        });
      }),
    );
  });

  test("APR-8 a changed record with its own hash made anew breaks at the next, which held the old one", () => {
    const rows = chain([{ by: "a" }, { by: "b" }, { by: "c" }]);
    const forged = chain([{ by: "a" }, { by: "x" }]);
    expect(verifyChain([...forged, ...rows.slice(2)], sha256)).toMatchObject({ ok: false, first_fault: 3 });
  });

  test("APR-8 a missing, doubled or moved record is named", () => {
    const rows = chain(Array.from({ length: 5 }, (_, i) => ({ by: `usr_${i}` })));
    expect(verifyChain(rows.toSpliced(1, 1), sha256).first_fault).toBe(2);
    expect(verifyChain(rows.slice(1), sha256).first_fault).toBe(1);
    expect(verifyChain(rows.toSpliced(2, 0, rows[1] as Row), sha256).first_fault).toBe(3);
    expect(verifyChain(rows.toReversed(), sha256).first_fault).toBe(1);
  });

  test("APR-8 a chain cut short is whole but for who knows its last record", () => {
    const rows = chain([{ by: "a" }, { by: "b" }, { by: "c" }]);
    const last = verifyChain(rows, sha256).end;
    const cut = rows.slice(0, 2);
    expect(verifyChain(cut, sha256).ok).toBe(true);
    expect(verifyChain(cut, sha256, CHAIN_START, last)).toMatchObject({ ok: false, first_fault: 3 });
    const other = { n: 3, hash: "other" };
    expect(verifyChain(rows, sha256, CHAIN_START, other)).toMatchObject({ ok: false, first_fault: 3 });
  });

  test("APR-8 two records have one text only if they are the same", () => {
    expect(auditText("p", { a: 1, b: undefined })).toBe('{"a":1,"prev":"p"}');
    expect(auditText("p", { a: "x" })).not.toBe(auditText("q", { a: "x" }));
  });
});
