/** What is tested: the deployment that the setup provides, or one that a test has started for itself. */
import { inject } from "vitest";

export const deployment: { url: string; adminToken: string } = { ...inject("deployment") };
