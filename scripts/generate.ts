// Writes schemas/, openapi.json and docs/team-config.md from the schemas that validate the wire; `--check` only compares (HTTP-4).
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { copyAssets } from "./docs-assets.ts";
import { schemaFiles } from "./json-schema.ts";
import { openapiDocument } from "./openapi.ts";
import { teamConfigPage } from "./team-docs.ts";

/** Every generated file by its path from the root, as text. */
export function generatedFiles(): Map<string, string> {
  const files = new Map([...schemaFiles()].map(([path, schema]) => [`schemas/${path}`, textOf(schema)]));
  return files.set("openapi.json", textOf(openapiDocument())).set("docs/team-config.md", teamConfigPage());
}

function textOf(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** What differs from what is checked in: changed, missing, or no longer made by anything. */
export function staleFiles(root: string, files: ReadonlyMap<string, string>): string[] {
  const there = existsSync(join(root, "schemas"))
    ? readdirSync(join(root, "schemas"), { recursive: true, encoding: "utf8" })
        .filter((path) => path.endsWith(".json"))
        .map((path) => `schemas/${path.replaceAll("\\", "/")}`)
    : [];
  const changed = [...files].filter(([path, text]) => {
    const at = join(root, path);
    return !existsSync(at) || readFileSync(at, "utf8") !== text;
  });
  return [...changed.map(([path]) => path), ...there.filter((path) => !files.has(path))].toSorted();
}

function main(check: boolean): void {
  const root = fileURLToPath(new URL("..", import.meta.url));
  const files = generatedFiles();
  const stale = staleFiles(root, files);
  if (check && stale.length > 0) {
    console.error(`Not current, run \`npm run generate\`:\n${stale.map((path) => `  ${path}`).join("\n")}`);
    process.exitCode = 1;
  }
  if (check) return;
  for (const path of stale) {
    const text = files.get(path);
    if (text === undefined) rmSync(join(root, path));
    else {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
  }
  copyAssets();
}

if (import.meta.main) main(process.argv.includes("--check"));
