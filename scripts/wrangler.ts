// `npm run wrangler -- …`: the pinned wrangler, by the Node that runs this script, in our tool environment.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { toolEnvironment } from "./tool-environment.ts";

const entry = fileURLToPath(new URL("../node_modules/wrangler/bin/wrangler.js", import.meta.url));
const child = spawn(process.execPath, [entry, ...process.argv.slice(2)], {
  stdio: "inherit",
  env: { ...toolEnvironment, ...process.env },
});
// The terminal signals the whole group; a supervisor signals only us.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => child.kill(signal));
child.on("exit", (code, signal) => {
  process.exitCode = code ?? (signal === "SIGINT" ? 130 : 1);
});
