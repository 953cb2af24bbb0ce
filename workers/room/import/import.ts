/**
 * Takes an export of a workspace in (LOG-6). Its text is kept as it comes, so that an upload that broke off goes
 * on; its last line makes the workspace of it in one transaction, or nothing.
 */
import { createHash } from "node:crypto";
import type * as z from "zod";
import { openReplay } from "../../../src/shared/rules/replay.ts";
import { EXPORT_FORMAT, exportedLine } from "../../../src/shared/wire/export.ts";
import type * as http from "../../../src/shared/wire/http.ts";
import type { Exported, ExportedLine } from "../../../src/shared/wire/index.ts";
import type { Db } from "../../kit/db.ts";
import { Refused, refuse } from "../../kit/result.ts";
import { issueFor } from "../access/tokens.ts";
import { verifyAudit } from "../store/audit.ts";
import type { Ledger } from "../writer.ts";
import { openFacts } from "./facts.ts";
import { ROWS, type Structural } from "./rows.ts";
import { keepStanding, leaveGoing } from "./standing.ts";

export type Importing = z.infer<typeof http.importing>;
export type Imported = z.infer<typeof http.imported>;

interface ImportRow {
  workspace_id: string;
  next_line: number;
  /** The chunk that ended it: while its token was never used, the same chunk is answered with a new one. */
  last_from: number | null;
  last_sha256: string | null;
  token_id: string | null;
}

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Begins an import, or says where one that was begun goes on. */
export function beginImport(db: Db, id: string): Importing {
  const made = db.one("SELECT 1 FROM workspace") !== undefined;
  const begun = db.one<ImportRow>("SELECT * FROM imports");
  if (made && !(begun && awaitsOwner(db, begun)))
    refuse("conflict", "There is a workspace with this id already.");
  if (!begun) db.run("INSERT INTO imports (one, workspace_id, next_line) VALUES (1, ?, 1)", id);
  const next = made ? begun?.last_from : begun?.next_line;
  return { workspace_id: id, importing: true, next_line: next ?? 1 };
}

/** Whether the owner's token was never used: who began the import may not have got it. */
function awaitsOwner(db: Db, { token_id }: ImportRow): boolean {
  const unused = "SELECT 1 FROM tokens WHERE id = ? AND last_used_at IS NULL";
  return token_id !== null && db.one(unused, token_id) !== undefined;
}

/**
 * Takes whole lines, the first of them number `from`. What it has already is not taken twice.
 * @throws Refused naming the line that is wrong; then nothing of these lines is kept
 */
export function takeLines(
  ledger: Ledger,
  from: number,
  text: string,
): { answer: Importing | Imported; alarms: { name: string; at: number }[] } {
  const { db, storage } = ledger;
  const begun = db.one<ImportRow>("SELECT * FROM imports");
  if (!begun) refuse("not_found", "Nothing is imported here. Begin with POST /v1/workspaces {import}.");
  const hash = sha256(text);
  if (begun.last_from !== null) {
    if (begun.last_from !== from || begun.last_sha256 !== hash || !awaitsOwner(db, begun))
      refuse("conflict", "This workspace was imported already.");
    db.run("DELETE FROM tokens WHERE id = ?", begun.token_id);
    return { answer: answerOf(ledger), alarms: [] };
  }
  const goesOn: Importing = { workspace_id: begun.workspace_id, importing: true, next_line: begun.next_line };
  if (from !== begun.next_line) {
    const same = db.one<{ sha256: string }>("SELECT sha256 FROM import_chunks WHERE from_line = ?", from);
    if (same?.sha256 === hash) return { answer: goesOn, alarms: [] };
    refuse("conflict", `The next line of this import is ${begun.next_line}. Send it from there.`);
  }
  const lines = text.split("\n").slice(0, -1);
  const last = lines.map((line, index) => checkedLine(line, from + index, begun.workspace_id)).at(-1);
  if (last?.type === "end")
    return { answer: finish(ledger, { from, text, hash }), alarms: leaveGoing(db, ledger.clock.now()) };
  storage.transactionSync(() => {
    db.run("INSERT INTO import_chunks (from_line, sha256, lines) VALUES (?, ?, ?)", from, hash, text);
    db.run("UPDATE imports SET next_line = ?", from + lines.length);
  });
  return { answer: { ...goesOn, next_line: from + lines.length }, alarms: [] };
}

function refuseLine(number: number, why: string): never {
  refuse("invalid", `Line ${number} of the export is wrong: ${why}. Nothing of it was taken.`, {
    details: [{ path: `lines.${number}`, message: why }],
  });
}

/** A line as it was written: its keys stay in their order. */
function checkedLine(text: string, number: number, workspaceId: string): ExportedLine {
  let line: unknown;
  try {
    line = JSON.parse(text);
  } catch {
    refuseLine(number, "it is no JSON");
  }
  const format = (line as { format?: unknown } | null)?.format;
  if (number === 1 && typeof format === "number" && format > EXPORT_FORMAT)
    refuseLine(number, `its format ${format} is newer than this server, which knows ${EXPORT_FORMAT}`);
  const parsed = exportedLine.safeParse(line);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    refuseLine(number, `${issue?.path.join(".") || "type"}: ${issue?.message ?? "has no known form"}`);
  }
  const { data } = parsed;
  if ((data.type === "workspace") !== (number === 1))
    refuseLine(number, "an export has one workspace line, its first");
  if (data.type === "workspace" && data.workspace_id !== workspaceId)
    refuseLine(number, `it is an export of ${data.workspace_id}, not of ${workspaceId}`);
  return line as ExportedLine;
}

interface LastChunk {
  from: number;
  text: string;
  hash: string;
}

/** Makes the workspace of all lines. What is refused is forgotten: another file may be sent from its first line. */
function finish(ledger: Ledger, last: LastChunk): Imported {
  const { db, storage } = ledger;
  try {
    return storage.transactionSync(() => {
      apply(db, last);
      db.run("DELETE FROM import_chunks");
      db.run("UPDATE imports SET last_from = ?, last_sha256 = ?", last.from, last.hash);
      return answerOf(ledger);
    });
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    storage.transactionSync(() => {
      db.run("DELETE FROM import_chunks");
      db.run("UPDATE imports SET next_line = 1");
    });
    throw error;
  }
}

function apply(db: Db, last: LastChunk): void {
  const { workspace_id: workspaceId } = db.one<ImportRow>("SELECT * FROM imports") ?? { workspace_id: "" };
  const replay = openReplay();
  const facts = openFacts(db);
  const hash = createHash("sha256");
  let number = 0;
  let seq = 0;
  let head = 0;
  let end: Exported<"end"> | undefined;
  for (const text of chunks(db, last))
    for (const raw of text.split("\n").slice(0, -1)) {
      number += 1;
      if (end) refuseLine(number, "it stands behind the end");
      const line = JSON.parse(raw) as ExportedLine;
      if (line.type === "end") {
        end = line;
        continue;
      }
      hash.update(`${raw}\n`);
      if (line.type === "workspace") head = line.head_seq;
      if (line.type === "fact" && line.seq !== ++seq) refuseLine(number, `its seq should be ${seq}`);
      try {
        replay.take(line);
        if (line.type === "fact") facts.take(line);
        else
          (ROWS[line.type] as (into: object, line: Exported<Structural>) => void)({ db, workspaceId }, line);
      } catch {
        // What the schema cannot see: the same id twice, or a body that is not as its fact's.
        refuseLine(number, "it does not fit to the lines before it");
      }
    }
  if (end?.lines !== number - 1 || end.sha256 !== hash.digest("hex"))
    refuse(
      "invalid",
      "The export was cut or changed: its lines are not those that its end counts and hashes.",
    );
  if (seq !== head) refuse("invalid", `The export has ${seq} facts; its workspace is at ${head}.`);
  facts.finish();
  const audit = verifyAudit(db);
  if (!audit.ok) refuse("invalid", "The export's audit chain is broken. Verify it where it was exported.");
  keepStanding(db, replay.state, facts.told);
}

function* chunks(db: Db, last: LastChunk): Generator<string> {
  for (let after = 0; ; ) {
    const row = db.one<{ from_line: number; lines: string }>(
      "SELECT from_line, lines FROM import_chunks WHERE from_line > ? ORDER BY from_line LIMIT 1",
      after,
    );
    if (!row) break;
    yield row.lines;
    after = row.from_line;
  }
  yield last.text;
}

/** The owner who has been it longest gets a token: nobody else's came along. */
function answerOf(ledger: Ledger): Imported {
  const { db } = ledger;
  const owner = db.one<{ id: string; name: string }>(
    `SELECT id, name FROM participants WHERE role = 'owner' AND kind = 'person' AND removed_at IS NULL
     ORDER BY created_at, id LIMIT 1`,
  );
  if (!owner) refuse("invalid", "The export has no owner who is still there.");
  const { token_id, token } = issueFor(ledger, owner.id, ["person", "admin"], "owner");
  db.run("UPDATE imports SET token_id = ?", token_id);
  return {
    workspace_id: db.one<ImportRow>("SELECT * FROM imports")?.workspace_id ?? "",
    owner: { participant_id: owner.id, name: owner.name },
    token,
    files_missing: db.all("SELECT sha256, byte_size FROM blobs WHERE missing != 0 ORDER BY sha256"),
  };
}
