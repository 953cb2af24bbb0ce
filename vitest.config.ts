import { type AddressInfo, createServer } from "node:net";
import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";
import { toolEnvironment } from "./scripts/tool-environment.ts";

/** Secrets of the tests in workerd; a developer's `.dev.vars` must not decide what they see. */
const testSecrets = {
  ADMIN_TOKEN: "test-admin-token",
  SIGNING_KEY: "test-signing-key",
  SECRETS_KEY: "test-secrets-key",
};

// Secrets too: without `.dev.vars` wrangler looks here before it warns that they are missing.
Object.assign(process.env, toolEnvironment, testSecrets);

/** Where the scripted model of the tests in workerd will listen: workerd must know it before it starts. */
const modelPort = await new Promise<number>((resolve, reject) => {
  const probe = createServer().once("error", reject);
  probe.listen(0, "127.0.0.1", () => {
    const { port } = probe.address() as AddressInfo;
    probe.close(() => resolve(port));
  });
});
process.env["MODEL_PORT"] = String(modelPort);

// Groups run one after the other: what is quick fails first, and the system tests have the machine alone.
export default defineConfig({
  test: {
    reporters: ["default", "./scripts/closing-line.ts"],
    projects: [
      {
        test: {
          name: "node",
          environment: "node",
          include: ["src/**/*.test.ts", "scripts/**/*.test.ts", "demo/**/*.test.ts"],
          // Some start processes of their own.
          testTimeout: 30_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        plugins: [
          cloudflareTest({
            wrangler: { configPath: "./wrangler.toml" },
            miniflare: {
              bindings: { ...testSecrets, OPENAI_BASE_URL: `http://127.0.0.1:${modelPort}/v1` },
            },
          }),
        ],
        test: {
          name: "workers",
          include: ["workers/**/*.test.ts"],
          globalSetup: ["./test/support/model-setup.ts"],
          testTimeout: 30_000,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: "system",
          environment: "node",
          include: ["test/**/*.test.ts"],
          exclude: ["test/conformance/**"],
          testTimeout: 60_000,
          hookTimeout: 120_000,
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          name: "conformance",
          environment: "node",
          include: ["test/conformance/**/*.test.ts"],
          // These kill or wear out a server, which must be their own.
          exclude: process.env["BULLPEN_URL"] ? ["test/conformance/local/**"] : [],
          globalSetup: ["./test/conformance/setup.ts"],
          testTimeout: 60_000,
          hookTimeout: 120_000,
          maxWorkers: 2,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
});
