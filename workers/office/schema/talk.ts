/**
 * What an office says and is told beside its rounds: questions, chat messages, what was filed from them, reports,
 * acts, usage, documents, and the index that recall searches.
 */
export const TALK_TABLES = `
CREATE TABLE asks (
  id TEXT PRIMARY KEY, item TEXT, to_whom TEXT NOT NULL, to_kind TEXT NOT NULL, text TEXT NOT NULL,
  state TEXT NOT NULL, answer TEXT, by TEXT, asked_at INTEGER NOT NULL, answered_at INTEGER,
  seen INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX asks_item ON asks (item, state);

CREATE TABLE answered (item TEXT PRIMARY KEY, answer TEXT NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE chat_messages (
  channel TEXT NOT NULL, message TEXT NOT NULL, thread TEXT NOT NULL, event TEXT NOT NULL, at INTEGER NOT NULL,
  PRIMARY KEY (channel, message)
) STRICT, WITHOUT ROWID;

CREATE TABLE filings (
  item TEXT NOT NULL, message TEXT NOT NULL, title TEXT NOT NULL, verb TEXT NOT NULL, ticket TEXT, assignee TEXT,
  answer TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (item, message, title)
) STRICT, WITHOUT ROWID;

CREATE TABLE endings (
  n INTEGER PRIMARY KEY AUTOINCREMENT, item TEXT NOT NULL, kind TEXT NOT NULL, text TEXT NOT NULL,
  at INTEGER NOT NULL, place TEXT NOT NULL, state TEXT NOT NULL, frame TEXT, report TEXT,
  sent INTEGER NOT NULL DEFAULT 0, due_at INTEGER
) STRICT;
CREATE INDEX endings_item ON endings (item, n);
CREATE INDEX endings_state ON endings (state, n);
CREATE TABLE acks (item TEXT PRIMARY KEY, frame TEXT NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE acts (
  n INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, event TEXT NOT NULL, ops TEXT NOT NULL,
  gone TEXT NOT NULL DEFAULT '[]', state TEXT NOT NULL, sent INTEGER NOT NULL DEFAULT 0, due_at INTEGER,
  frame TEXT, outcome TEXT
) STRICT;
CREATE INDEX acts_open ON acts (n) WHERE state = 'open';

CREATE TABLE sessions (session TEXT PRIMARY KEY, item TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE session_totals (
  session TEXT NOT NULL, model TEXT NOT NULL, totals TEXT NOT NULL, PRIMARY KEY (session, model)
) STRICT, WITHOUT ROWID;
CREATE TABLE run_totals (
  run_id TEXT PRIMARY KEY, cost_micros INTEGER NOT NULL, input INTEGER NOT NULL, output INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE doctor (one INTEGER PRIMARY KEY CHECK (one = 1), at INTEGER NOT NULL, checks TEXT NOT NULL) STRICT;
CREATE TABLE notes (
  n INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, item TEXT, change TEXT NOT NULL, body TEXT NOT NULL
) STRICT;
CREATE TABLE docs (
  id TEXT PRIMARY KEY, title TEXT NOT NULL, url TEXT NOT NULL, ticket TEXT, item TEXT, at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE moments (
  n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, item TEXT, type TEXT, ref TEXT,
  title TEXT, url TEXT, who TEXT, text TEXT NOT NULL, link TEXT
) STRICT;
CREATE INDEX moments_ref ON moments (ref, n) WHERE ref IS NOT NULL;
CREATE INDEX moments_item ON moments (item, n) WHERE item IS NOT NULL;
CREATE TABLE moment_people (
  name TEXT NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (name, n)
) STRICT, WITHOUT ROWID;
CREATE INDEX moment_people_n ON moment_people (n);
CREATE VIRTUAL TABLE moments_text USING fts5 (
  text, content = 'moments', content_rowid = 'n', tokenize = 'porter unicode61'
)`;
