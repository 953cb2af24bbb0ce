/**
 * Tickets, pull requests, reviews, checks, documents, events and what was decided of them (WORK, PIPE).
 *
 * State comes from events alone, whatever their order (WORK-1): `fields` holds each field's value with the time
 * that its source gave it (rules/work-state.ts), the other columns are what is asked for. A board's own tickets are
 * no exception: their store takes an event and reads what became of it.
 */
export const WORK_TABLES = `
CREATE TABLE events (
  n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, source TEXT NOT NULL, source_id TEXT NOT NULL, type TEXT NOT NULL,
  at INTEGER NOT NULL, taken_at INTEGER NOT NULL, who TEXT NOT NULL, trusted INTEGER NOT NULL, event TEXT NOT NULL,
  UNIQUE (source, source_id)
) STRICT;
CREATE INDEX events_type ON events (type, n);
CREATE INDEX events_message ON events (json_extract(event, '$.chat.message')) WHERE type = 'chat.message';
CREATE TABLE event_refs (
  type TEXT NOT NULL, ref TEXT NOT NULL, n INTEGER NOT NULL, counts TEXT, PRIMARY KEY (type, ref, n)
) STRICT, WITHOUT ROWID;
CREATE TABLE decisions (
  n INTEGER PRIMARY KEY, event_id TEXT NOT NULL, rule TEXT NOT NULL, decision TEXT NOT NULL, kind TEXT, person TEXT,
  item TEXT, act TEXT, why TEXT NOT NULL, at INTEGER NOT NULL
) STRICT;
CREATE INDEX decisions_event ON decisions (event_id, n);
CREATE TABLE decision_keys (base TEXT PRIMARY KEY, times INTEGER NOT NULL, live INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE told (cause TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE acts (
  id TEXT PRIMARY KEY, event_id TEXT NOT NULL, person TEXT, ops TEXT NOT NULL, result TEXT, at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE tickets (
  n INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, fields TEXT NOT NULL, title TEXT, url TEXT,
  status TEXT, assignee TEXT, parent TEXT, made_by TEXT, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX tickets_updated ON tickets (updated_at, n);
CREATE INDEX tickets_status ON tickets (status, n);
CREATE INDEX tickets_assignee ON tickets (assignee, n);
CREATE INDEX tickets_parent ON tickets (parent) WHERE parent IS NOT NULL;
CREATE TABLE prs (
  key TEXT PRIMARY KEY, repo TEXT NOT NULL, number INTEGER NOT NULL, fields TEXT NOT NULL,
  state TEXT NOT NULL, draft INTEGER NOT NULL, author TEXT, head TEXT, head_sha TEXT, base TEXT, merge_sha TEXT,
  ticket TEXT, made_by TEXT, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, read_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX prs_state ON prs (state, updated_at);
CREATE INDEX prs_ticket ON prs (ticket) WHERE ticket IS NOT NULL;
CREATE INDEX prs_head ON prs (repo, head);
CREATE INDEX prs_base ON prs (repo, base, state);
CREATE INDEX prs_head_sha ON prs (repo, head_sha);
CREATE INDEX prs_merge_sha ON prs (repo, merge_sha) WHERE merge_sha IS NOT NULL;
CREATE TABLE pr_tickets (pr TEXT NOT NULL, place INTEGER NOT NULL, key TEXT NOT NULL, PRIMARY KEY (pr, place)) STRICT, WITHOUT ROWID;
CREATE INDEX pr_tickets_key ON pr_tickets (key);
CREATE TABLE pr_files (pr TEXT NOT NULL, path TEXT NOT NULL, sha TEXT NOT NULL, PRIMARY KEY (pr, path)) STRICT, WITHOUT ROWID;
CREATE INDEX pr_files_path ON pr_files (path);
CREATE TABLE reviews (
  pr TEXT NOT NULL, id TEXT NOT NULL, at INTEGER NOT NULL, actor TEXT NOT NULL, fields TEXT NOT NULL,
  PRIMARY KEY (pr, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE comments (
  type TEXT NOT NULL, ref TEXT NOT NULL, id TEXT NOT NULL, at INTEGER NOT NULL,
  actor TEXT NOT NULL, thread TEXT, deleted INTEGER NOT NULL, fields TEXT NOT NULL, PRIMARY KEY (type, ref, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX comments_at ON comments (type, ref, at);
CREATE INDEX comments_thread ON comments (ref, thread) WHERE thread IS NOT NULL;
CREATE TABLE threads (
  pr TEXT NOT NULL, id TEXT NOT NULL, resolved INTEGER NOT NULL, resolved_at INTEGER NOT NULL, host TEXT,
  PRIMARY KEY (pr, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE checks (
  repo TEXT NOT NULL, sha TEXT NOT NULL, app TEXT NOT NULL, name TEXT NOT NULL, run TEXT, at INTEGER NOT NULL,
  status TEXT NOT NULL, url TEXT, summary TEXT, PRIMARY KEY (repo, sha, app, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE docs (
  id TEXT PRIMARY KEY, fields TEXT NOT NULL, ticket TEXT, made_by TEXT, at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX docs_ticket ON docs (ticket) WHERE ticket IS NOT NULL;
CREATE TABLE item_refs (
  type TEXT NOT NULL, ref TEXT NOT NULL, person TEXT NOT NULL, item TEXT NOT NULL, role TEXT NOT NULL,
  source TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (type, ref, person, item)
) STRICT, WITHOUT ROWID;
CREATE TABLE round_tickets (
  item TEXT NOT NULL, round INTEGER NOT NULL, ticket TEXT NOT NULL, status TEXT NOT NULL, PRIMARY KEY (item, round, ticket)
) STRICT, WITHOUT ROWID;
CREATE INDEX event_refs_talk ON event_refs (type, ref, n) WHERE counts IS NOT NULL;
CREATE TABLE merges (pr TEXT NOT NULL, sha TEXT NOT NULL, due_at INTEGER NOT NULL, PRIMARY KEY (pr, sha)) STRICT, WITHOUT ROWID
`;
