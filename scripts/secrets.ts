// `npm run secrets`: writes `.dev.vars`, or the file named, with fresh random secrets. What is there stays: a
// secret that is replaced makes what it signed or encrypted unreadable.
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export const devVars = fileURLToPath(new URL("../.dev.vars", import.meta.url));

const NAMES = ["ADMIN_TOKEN", "SIGNING_KEY", "SECRETS_KEY"];

/** Writes the file once; true when it was not there. */
export function writeSecrets(file: string = devVars): boolean {
  const text = NAMES.map((name) => `${name}=${randomBytes(32).toString("base64url")}\n`).join("");
  try {
    writeFileSync(file, text, { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const file = process.argv[2] ?? devVars;
  if (writeSecrets(file)) console.log(`Wrote ${file} with new secrets.`);
  else if (process.argv[2]) console.log(`${file} is there already and was left as it is.`);
}
