// Writes `.dev.vars` with fresh random secrets, once: development needs them and a clone has none.
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";

const file = new URL("../.dev.vars", import.meta.url);
const names = ["ADMIN_TOKEN", "SIGNING_KEY", "SECRETS_KEY"];
const text = names.map((name) => `${name}=${randomBytes(32).toString("base64url")}\n`).join("");
try {
  writeFileSync(file, text, { flag: "wx", mode: 0o600 });
  console.log("Wrote .dev.vars with new secrets.");
} catch (error) {
  if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
}
