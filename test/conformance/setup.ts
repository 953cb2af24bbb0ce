/** One server for the whole suite: the deployment that was named, or a `wrangler dev` with a fresh state. */
import type { TestProject } from "vitest/node";
import { startServer } from "../support/server.ts";

export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const { BULLPEN_URL: url, BULLPEN_ADMIN_TOKEN: adminToken } = process.env;
  if (url && adminToken) {
    project.provide("deployment", { url: url.replace(/\/$/, ""), adminToken });
    return undefined;
  }
  const server = await startServer();
  project.provide("deployment", { url: server.url, adminToken: server.adminToken });
  return () => server.stop();
}

declare module "vitest" {
  export interface ProvidedContext {
    deployment: { url: string; adminToken: string };
  }
}
