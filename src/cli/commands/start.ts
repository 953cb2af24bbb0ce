/** `bullpen start`: the local server and its demo, as `npm start` runs them. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Command } from "commander";
import { CliError, EXIT } from "../failures.ts";
import { examples, wholeNumber } from "../help.ts";

const script = fileURLToPath(new URL("../../../scripts/start.ts", import.meta.url));

export function addStart(program: Command): void {
  const start = program
    .command("start")
    .description("run the local server with its demo, as npm start does")
    .option("--port <port>", "where it listens", wholeNumber, 8787)
    .option("--state <folder>", "where it keeps its data (default: .wrangler/state of the checkout)")
    .action(async (options: { port: number; state?: string }) => {
      if (!existsSync(script))
        throw new CliError(
          EXIT.usage,
          "The local server runs from a checkout of Bullpen.",
          "Clone the repository, then: npm ci && npm start",
        );
      const args = ["--port", String(options.port), ...(options.state ? ["--state", options.state] : [])];
      const child = spawn(process.execPath, [script, ...args], { stdio: "inherit" });
      for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
        process.on(signal, () => child.kill(signal));
      process.exitCode = await new Promise<number>((resolve, reject) => {
        child.once("error", reject);
        child.once("exit", (code) => resolve(code ?? EXIT.refused));
      });
    });
  examples(start, ["bullpen start", "bullpen start --port 8800"]);
}
