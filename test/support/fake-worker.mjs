// A command of `bullpen agent` that does what the item's title says, for tests.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";

const prompt = await text(process.stdin);
const title = /^The item:\n> (.*)$/mu.exec(prompt)?.[1] ?? "";
/** One of our own commands, as an agent would run it. */
const item = (...args) => {
  const { status, stdout, stderr } = spawnSync(process.env.BULLPEN_BIN ?? "", ["item", ...args], {
    encoding: "utf8",
  });
  return `${status}: ${(stdout.trim() || stderr.trim()).split("\n")[0]}`;
};

if (title.includes("crash")) {
  console.log("half of it");
  console.error("reading /home/ada/secret/plan.txt\ntoken=abc123def456ghi789\nno access");
  process.exitCode = 3;
} else if (title.includes("quiet")) {
  console.log("NO_REPLY");
} else if (title.includes("stay")) {
  console.error(`working ${process.pid}`);
  setInterval(() => {}, 1000);
} else if (title.includes("environment")) {
  const names = Object.keys(process.env).filter((name) => name.startsWith("BULLPEN_"));
  console.log(`${names.toSorted().join(" ")} in ${process.cwd()}`);
} else if (title.includes("stream")) {
  process.stdout.write(readFileSync(process.argv[2] ?? "", "utf8"));
} else if (title.includes("speaks")) {
  console.error(item("made", "--pr", "acme/shop#12"));
  console.error(item("handback", "handed over by itself", "--status", "waiting"));
  console.error(item("fail", "not any more"));
  console.log("this is not the summary");
} else console.log(`\u001B[32mDid\u001B[0m ${title}`);
