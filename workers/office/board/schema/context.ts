/** What was read at hosts, by sha, and what deliveries were taken (WORK-2, WORK-5). */
export const CONTEXT_TABLES = `
CREATE TABLE deliveries (key TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX deliveries_at ON deliveries (at)
`;
