/**
 * An office that runs its person's agent itself or feeds its streams (CTX-7). house_rounds: the rounds that its own
 * agent is on, each with the offset that its stream was fed from, and how it ended until the item is handed back.
 * house_fed: feedback that a stream was given before the round that it makes.
 */
export const FEED_TABLES = `
ALTER TABLE feedback ADD COLUMN author TEXT;
CREATE TABLE house_rounds (
  item TEXT PRIMARY KEY, round INTEGER NOT NULL, own INTEGER NOT NULL, since INTEGER NOT NULL,
  told INTEGER NOT NULL DEFAULT 0, ended TEXT
) STRICT, WITHOUT ROWID;
CREATE TABLE house_fed (n INTEGER PRIMARY KEY) STRICT`;
