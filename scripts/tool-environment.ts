/** What Cloudflare's local tools need to stay offline, quiet and quick. Set for every one of them we start. */
export const toolEnvironment = {
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_SEND_ERROR_REPORTS: "false",
  WRANGLER_HIDE_BANNER: "true",
  // Otherwise every start asks Cloudflare for a sample `request.cf`.
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
  // Tracing and the explorer make `wrangler dev` 2 to 5 times slower.
  X_LOCAL_OBSERVABILITY: "false",
  X_LOCAL_EXPLORER: "false",
} as const;
