// Puts the script and style of /docs beside the page that uses them, so that it is served by us alone.
import { copyFileSync } from "node:fs";

const from = new URL("../node_modules/swagger-ui-dist/", import.meta.url);
const to = new URL("../public/docs/", import.meta.url);
for (const name of ["swagger-ui-bundle.js", "swagger-ui.css"])
  copyFileSync(new URL(name, from), new URL(name, to));
