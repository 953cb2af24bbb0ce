// The black-box suite against a deployment: npm run conformance -- --url https://… --admin-token …
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: {
    url: { type: "string", default: process.env["BULLPEN_URL"] ?? "" },
    "admin-token": { type: "string", default: process.env["BULLPEN_ADMIN_TOKEN"] ?? "" },
  },
});
if (!values.url || !values["admin-token"]) {
  console.error("usage: npm run conformance -- --url URL --admin-token TOKEN");
  process.exit(2);
}

const vitest = fileURLToPath(new URL("../node_modules/vitest/vitest.mjs", import.meta.url));
const child = spawn(process.execPath, [vitest, "run", "--project", "conformance"], {
  stdio: "inherit",
  env: { ...process.env, BULLPEN_URL: values.url, BULLPEN_ADMIN_TOKEN: values["admin-token"] },
});
child.on("exit", (code) => {
  process.exitCode = code ?? 1;
});
