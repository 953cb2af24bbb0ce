import { explain } from "./failures.ts";
import { buildProgram, commanderExit } from "./program.ts";

// Whoever read our output has gone, as in `bullpen tail | head -1`: there is nothing left to do, and no fault.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit(0);
});

try {
  await buildProgram().parseAsync();
} catch (thrown) {
  // What commander refuses it has explained already.
  const code = commanderExit(thrown);
  if (code === undefined) {
    const { exitCode, text } = explain(thrown);
    process.stderr.write(text);
    process.exitCode = exitCode;
  } else process.exitCode = code;
}
