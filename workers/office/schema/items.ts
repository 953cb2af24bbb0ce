/**
 * Whose office it is, its items with all that belongs to them, and the agent's connection. A finished item has no
 * place: the queue is read by an index that holds open items alone (QUEUE-5).
 */
export const ITEM_TABLES = `
CREATE TABLE person (
  one INTEGER PRIMARY KEY CHECK (one = 1), workspace TEXT NOT NULL, handle TEXT NOT NULL,
  team_version INTEGER NOT NULL, team TEXT NOT NULL, removed_at INTEGER,
  paused TEXT, hold TEXT, connection TEXT, quiet TEXT, told TEXT
) STRICT;

CREATE TABLE items (
  id TEXT PRIMARY KEY, kind TEXT NOT NULL, title TEXT NOT NULL, body TEXT, state TEXT NOT NULL,
  priority INTEGER NOT NULL, trigger TEXT NOT NULL, parent_id TEXT, subject_type TEXT, subject_ref TEXT,
  origin TEXT, requester TEXT, question TEXT, round INTEGER NOT NULL, rev INTEGER NOT NULL,
  place INTEGER, queued_at INTEGER, declines INTEGER NOT NULL DEFAULT 0, not_before INTEGER,
  interrupted INTEGER NOT NULL DEFAULT 0, held INTEGER NOT NULL DEFAULT 0, moving TEXT,
  session_id TEXT, progress TEXT, progress_at INTEGER, signed_at INTEGER, why TEXT, created_at INTEGER NOT NULL, changed_at INTEGER NOT NULL
) STRICT;
CREATE INDEX items_queue ON items (place) WHERE place IS NOT NULL;
CREATE INDEX items_open ON items (state, changed_at);
CREATE INDEX items_held ON items (held) WHERE held = 1;
CREATE INDEX items_moving ON items (moving) WHERE moving IS NOT NULL;
CREATE INDEX items_question ON items (json_extract(question, '$.id')) WHERE question IS NOT NULL;
CREATE INDEX items_subject ON items (subject_type, subject_ref);

CREATE TABLE rounds (
  item TEXT NOT NULL, n INTEGER NOT NULL, kind TEXT NOT NULL, trigger TEXT NOT NULL, events TEXT NOT NULL,
  made_at INTEGER NOT NULL, before TEXT, accepted_at INTEGER, accepted_on TEXT, touched_on TEXT,
  runtime TEXT, model TEXT, session_model TEXT, room TEXT, run_id TEXT,
  ended_at INTEGER, ended TEXT, summary TEXT, links TEXT, outcome TEXT,
  PRIMARY KEY (item, n)
) STRICT, WITHOUT ROWID;
CREATE INDEX rounds_run ON rounds (run_id) WHERE run_id IS NOT NULL;

CREATE TABLE feedback (
  n INTEGER PRIMARY KEY AUTOINCREMENT, item TEXT NOT NULL, key TEXT NOT NULL, round INTEGER, event TEXT NOT NULL,
  kind TEXT NOT NULL, trigger TEXT NOT NULL, room_space TEXT, room_message TEXT, feedback TEXT NOT NULL,
  UNIQUE (item, key)
) STRICT;
CREATE INDEX feedback_round ON feedback (item, round);
CREATE INDEX feedback_message ON feedback (room_message) WHERE room_message IS NOT NULL;

CREATE TABLE history (
  n INTEGER PRIMARY KEY AUTOINCREMENT, item TEXT NOT NULL, at INTEGER NOT NULL, by TEXT NOT NULL,
  was TEXT, became TEXT NOT NULL, why TEXT NOT NULL
) STRICT;
CREATE INDEX history_item ON history (item, n);

CREATE TABLE journal (
  n INTEGER PRIMARY KEY AUTOINCREMENT, item TEXT NOT NULL, round INTEGER NOT NULL, at INTEGER NOT NULL,
  author TEXT NOT NULL, text TEXT NOT NULL
) STRICT;
CREATE INDEX journal_item ON journal (item, n);

CREATE TABLE said (
  item TEXT NOT NULL, frame TEXT NOT NULL, kind TEXT NOT NULL, hash TEXT NOT NULL,
  PRIMARY KEY (item, frame, kind, hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE refs (
  item TEXT NOT NULL, type TEXT NOT NULL, ref TEXT NOT NULL, role TEXT NOT NULL, source TEXT NOT NULL,
  added_at TEXT, title TEXT, url TEXT, PRIMARY KEY (item, type, ref)
) STRICT, WITHOUT ROWID;
CREATE INDEX refs_ref ON refs (type, ref);

CREATE TABLE threads (
  channel TEXT NOT NULL, thread TEXT NOT NULL, item TEXT NOT NULL, body TEXT NOT NULL,
  PRIMARY KEY (channel, thread, item)
) STRICT, WITHOUT ROWID;
CREATE INDEX threads_item ON threads (item);

CREATE TABLE offers (
  item TEXT PRIMARY KEY, lane TEXT NOT NULL, frame TEXT NOT NULL, connection TEXT NOT NULL, rev INTEGER NOT NULL,
  first_at INTEGER NOT NULL, sent_at INTEGER NOT NULL, feedback TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE wakes (
  key TEXT NOT NULL, event TEXT NOT NULL, item TEXT NOT NULL, PRIMARY KEY (key, event)
) STRICT, WITHOUT ROWID;
CREATE TABLE left_items (
  item TEXT PRIMARY KEY, target TEXT NOT NULL, by TEXT NOT NULL, at INTEGER NOT NULL, round INTEGER NOT NULL,
  kind TEXT NOT NULL, outcome TEXT, named TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE told (cause TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE answers (
  n INTEGER PRIMARY KEY AUTOINCREMENT, connection TEXT NOT NULL, id TEXT NOT NULL, hash TEXT NOT NULL, answer TEXT,
  UNIQUE (connection, id)
) STRICT`;

/** Pieces of items that are on their way here (OFFER-7). */
export const ARRIVING_TABLE = `
CREATE TABLE arriving (
  item TEXT NOT NULL, n INTEGER NOT NULL, text TEXT NOT NULL, PRIMARY KEY (item, n)
) STRICT`;
