/** Tickets, pull requests, reviews, checks, documents, events and what was decided of them (WORK, PIPE). */
export const WORK_TABLES = `
CREATE TABLE events (
  n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, type TEXT NOT NULL, at INTEGER NOT NULL, taken_at INTEGER NOT NULL,
  source TEXT NOT NULL, event TEXT NOT NULL
) STRICT
`;
