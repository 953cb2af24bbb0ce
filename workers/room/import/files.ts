/** The bytes of an imported workspace's files, which follow by hash (LOG-6). */
import { notFound } from "../../kit/result.ts";
import { UPLOAD_MS } from "../uploads.ts";
import type { Effect, Ledger } from "../writer.ts";

/** Where a missing file's bytes go, and how many they are; none where they are there. */
export interface FileTicket {
  key?: string;
  byte_size: number;
}

interface BlobRow {
  byte_size: number;
  missing: number;
}

const blobOf = ({ db }: Ledger, sha256: string): BlobRow | undefined =>
  db.one("SELECT byte_size, missing FROM blobs WHERE sha256 = ?", sha256);

/** Takes on a file before its first byte: as with any upload, half of it is swept out (ATT-1). */
export function beginFile(ledger: Ledger, sha256: string): { ticket: FileTicket; effects: Effect[] } {
  const { db, clock } = ledger;
  const blob = blobOf(ledger, sha256);
  if (!blob) notFound("attachment");
  const { byte_size } = blob;
  if (blob.missing === 0) return { ticket: { byte_size }, effects: [] };
  const { id } = db.one<{ id: string }>("SELECT id FROM workspace") ?? { id: "" };
  const key = `${id}/${clock.mint("att").slice("att_".length)}`;
  const at = clock.now() + UPLOAD_MS;
  db.run("INSERT INTO bucket_debts (r2_key, due_at) VALUES (?, ?)", key, at);
  return { ticket: { key, byte_size }, effects: [{ kind: "alarm", name: "bucket", at }] };
}

/** Takes in what was stored, where it is the file that was named; other bytes are swept out. */
export function finishFile(
  ledger: Ledger,
  wanted: string,
  { key, sha256 }: { key: string; sha256: string },
): { taken: boolean; effects: Effect[] } {
  const { storage, db, clock } = ledger;
  return storage.transactionSync(() => {
    const now = clock.now();
    const blob = blobOf(ledger, wanted);
    const debt = db.one<{ due_at: number }>("SELECT due_at FROM bucket_debts WHERE r2_key = ?", key);
    const taken = blob !== undefined && sha256 === wanted && debt !== undefined && debt.due_at > now;
    if (taken && blob.missing !== 0) {
      db.run("DELETE FROM bucket_debts WHERE r2_key = ?", key);
      db.run("UPDATE blobs SET r2_key = ?, missing = 0 WHERE sha256 = ?", key, wanted);
      return { taken, effects: [] };
    }
    db.run("UPDATE bucket_debts SET due_at = ?, upload_id = NULL WHERE r2_key = ?", now, key);
    return { taken, effects: [{ kind: "alarm", name: "bucket", at: now }] };
  });
}
