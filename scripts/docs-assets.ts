// Puts what /docs, /schemas and /openapi.json answer into public/, so that we alone serve it.
import { copyFileSync, cpSync, rmSync } from "node:fs";

const root = new URL("../", import.meta.url);

/** Copies the page's script and style, the schemas and the API's description to where assets are served from. */
export function copyAssets(): void {
  for (const name of ["swagger-ui-bundle.js", "swagger-ui.css"])
    copyFileSync(new URL(`node_modules/swagger-ui-dist/${name}`, root), new URL(`public/docs/${name}`, root));
  rmSync(new URL("public/schemas/", root), { recursive: true, force: true });
  cpSync(new URL("schemas/", root), new URL("public/schemas/", root), { recursive: true });
  copyFileSync(new URL("openapi.json", root), new URL("public/openapi.json", root));
}

if (import.meta.main) copyAssets();
