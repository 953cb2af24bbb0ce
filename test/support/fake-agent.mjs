// A command-line agent that does what the newest message says, for the tests of the bridge.
import { spawn, spawnSync } from "node:child_process";
import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";

const prompt = await text(process.stdin);
const words = prompt.split("\n").findLast((line) => line.startsWith("> | ")) ?? "";
const { BULLPEN_IN = "", BULLPEN_OUT = "", BULLPEN_BIN = "" } = process.env;

if (words.includes("steps")) {
  console.error("\u001B[33mreading\u001B[0m");
  console.log("read");
} else if (words.includes("files")) {
  const names = readdirSync(BULLPEN_IN);
  for (const name of names) cpSync(join(BULLPEN_IN, name), join(BULLPEN_OUT, name));
  writeFileSync(join(BULLPEN_OUT, "made.txt"), "made here");
  console.log(`copied ${names.join(", ")}`);
} else if (words.includes("stay")) {
  const wait = "console.error('grandchild', process.pid, process.ppid); setInterval(() => {}, 1000)";
  spawn(process.execPath, ["-e", wait], { stdio: "inherit" });
  console.log("never said");
  setInterval(() => {}, 1000);
} else if (words.includes("crash")) {
  console.log("half an answer");
  console.error("a stack trace");
  process.exitCode = 3;
} else if (words.includes("quiet")) {
  // Nothing at all.
} else if (words.includes("ask")) {
  const input = JSON.stringify({ to: "bob@example.com" });
  const args = ["ask-approval", "--action", "email.send", "--external", "--editable", "--input", input];
  const asked = spawnSync(BULLPEN_BIN, [...args, "--question", "Send it?"], { encoding: "utf8" });
  console.log(`exit ${asked.status}: ${asked.stdout.trim() || asked.stderr.trim()}`);
} else if (words.includes("recorded")) {
  process.stdout.write(readFileSync(process.argv[2] ?? "", "utf8"));
} else if (words.includes("environment")) {
  const names = Object.keys(process.env).filter((name) => name.startsWith("BULLPEN_"));
  console.log(names.toSorted().join(" "));
} else console.log("Hello!");
