/**
 * Secrets of a workspace (SECRET-1): sealed with AES-GCM under a key that is derived for the workspace from the
 * deployment's, two versions kept while one is rotated. They go in and never come out over the wire. `node:crypto`,
 * since WebCrypto's would have to be awaited between reading and deciding.
 */
import { createCipheriv, createDecipheriv, hkdfSync } from "node:crypto";
import { fromHex } from "../../../kit/bytes.ts";
import type { Db } from "../../../kit/db.ts";
import { refuse } from "../../../kit/result.ts";
import type { Identity } from "../../letters.ts";
import type { BoardLedger } from "../ledger.ts";
import { mustOwn } from "../rights.ts";

/** What GitHub's route and reads and the residents' model take their secrets from, whatever the config names. */
const WELL_KNOWN = ["github_token", "github_webhook_secret", "openai_api_key"];
const VERSIONS_KEPT = 2;
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Seals and opens the secrets of one workspace. */
export interface SecretBox {
  seal(name: string, version: number, value: string): string;
  /** The value, or undefined if it was sealed with another key or is not what was sealed. */
  open(name: string, version: number, sealed: string): string | undefined;
}

/** The box of a workspace; undefined where the deployment has no key. */
export function openBox(secretsKey: string | undefined, workspace: string): SecretBox | undefined {
  if (!secretsKey) return undefined;
  const key = new Uint8Array(hkdfSync("sha256", secretsKey, workspace, "bullpen workspace secrets", 32));
  // A sealed value put under another name, or back as another version, does not open.
  const bound = (name: string, version: number) =>
    new TextEncoder().encode(`${workspace}\n${name}\n${version}`);
  return {
    seal(name, version, value) {
      const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES));
      const cipher = createCipheriv("aes-256-gcm", key, iv).setAAD(bound(name, version));
      const body = cipher.update(value, "utf8", "hex") + cipher.final("hex");
      return [toHex(iv), cipher.getAuthTag().toString("hex"), body].join(".");
    },
    open(name, version, sealed) {
      const [iv, tag, body] = sealed.split(".");
      const [ivBytes, tagBytes] = [fromHex(iv ?? ""), fromHex(tag ?? "")];
      if (ivBytes?.length !== IV_BYTES || tagBytes?.length !== TAG_BYTES) return undefined;
      try {
        const opening = createDecipheriv("aes-256-gcm", key, ivBytes)
          .setAAD(bound(name, version))
          .setAuthTag(tagBytes);
        return opening.update(body ?? "", "hex", "utf8") + opening.final("utf8");
      } catch {
        return undefined;
      }
    },
  };
}

const toHex = (bytes: Uint8Array) => Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");

interface SecretRow {
  name: string;
  version: number;
  sealed: string;
}

/** A secret's values, the newest first: the one in use, then the one before it (SECRET-1). */
export function secretValues(db: Db, box: SecretBox | undefined, name: string): string[] {
  return db
    .all<SecretRow>("SELECT name, version, sealed FROM secrets WHERE name = ? ORDER BY version DESC", name)
    .flatMap((row) => box?.open(row.name, row.version, row.sealed) ?? []);
}

/** Every value that is kept: what logs are masked of (WORK-5). */
export function everySecret(db: Db, box: SecretBox | undefined): string[] {
  return db
    .all<SecretRow>("SELECT name, version, sealed FROM secrets")
    .flatMap((row) => box?.open(row.name, row.version, row.sealed) ?? []);
}

/** Puts a secret in place of the one before it, which lives on until the next (SECRET-1). */
export function putSecret(
  ledger: BoardLedger,
  box: SecretBox | undefined,
  by: Identity,
  name: string,
  value: string,
): null {
  mustOwn(by);
  mustBeNamed(ledger, name);
  if (!box)
    refuse(
      "unavailable",
      "This deployment has no SECRETS_KEY. Set it with `wrangler secret put SECRETS_KEY`.",
    );
  // Put twice it is the same secret, and the one before it is kept.
  if (secretValues(ledger.db, box, name)[0] === value) return null;
  const version =
    (ledger.db.one<{ v: number | null }>("SELECT max(version) AS v FROM secrets WHERE name = ?", name)?.v ??
      0) + 1;
  ledger.db.run(
    "INSERT INTO secrets (name, version, sealed, at, by) VALUES (?, ?, ?, ?, ?)",
    name,
    version,
    box.seal(name, version, value),
    ledger.now,
    by.participantId,
  );
  ledger.db.run("DELETE FROM secrets WHERE name = ? AND version <= ?", name, version - VERSIONS_KEPT);
  return null;
}

/** Only what something here reads may be put: a misspelt name would be a secret that nothing uses. */
function mustBeNamed({ team }: BoardLedger, name: string): void {
  if (WELL_KNOWN.includes(name)) return;
  const whose = Object.hasOwn(team.secrets, name) ? team.secrets[name] : undefined;
  if (whose === "office") return;
  const known = [
    ...WELL_KNOWN,
    ...Object.entries(team.secrets).flatMap(([one, use]) => (use === "office" ? [one] : [])),
  ];
  refuse(
    "invalid",
    whose === "agent"
      ? `The secret ${name} is an agent's: each agent reads it from where it runs, and it is not kept here.`
      : `The team's config names no secret ${name}. Name it under secrets first; there are ${known.join(", ")}.`,
    { details: [{ path: "name", message: "is no secret that the office uses" }] },
  );
}
