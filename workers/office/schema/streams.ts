/**
 * Context streams: what was appended, and reduced states as caches (STREAM-1, STREAM-3).
 *
 * An event's row number is its stream's id × 2^32 plus its offset: one row an event, read in order and found by
 * offset without an index. A state names its items by offset and holds no words of them, so that a redaction finds
 * nothing in it to blank (STREAM-5); a long one stands in several parts, since a row holds 2 MB at most.
 */
export const STREAM_TABLES = `
CREATE TABLE streams (id INTEGER PRIMARY KEY, item TEXT NOT NULL UNIQUE) STRICT;

CREATE TABLE stream_events (
  n INTEGER PRIMARY KEY, stream INTEGER NOT NULL, type TEXT NOT NULL, payload TEXT NOT NULL, at INTEGER NOT NULL,
  sender TEXT NOT NULL, idem TEXT, item_key TEXT, redacted INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX stream_events_idem ON stream_events (stream, sender, idem) WHERE idem IS NOT NULL;
CREATE INDEX stream_events_key ON stream_events (item_key, stream) WHERE item_key IS NOT NULL;

CREATE TABLE stream_states (
  stream INTEGER NOT NULL, upto INTEGER NOT NULL, part INTEGER NOT NULL, body TEXT NOT NULL,
  PRIMARY KEY (stream, upto, part)
) STRICT, WITHOUT ROWID`;
