/** The tables of a Room, as migrations (kit/migrations.ts). Times are milliseconds, JSON is text. */
import { ALARMS_TABLE } from "../kit/alarms.ts";
import type { Migration } from "../kit/migrations.ts";
import { OUTBOX_TABLES } from "../kit/outbox.ts";

const FIRST = `
${ALARMS_TABLE};

CREATE TABLE workspace (
  id TEXT PRIMARY KEY, name TEXT NOT NULL, created_at INTEGER NOT NULL, settings TEXT NOT NULL
) STRICT;

-- People, harnesses and agents. harness_id is an agent's; cursor is the last acknowledged seq (CONN-4).
CREATE TABLE participants (
  id TEXT PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL, role TEXT, harness_id TEXT, time_zone TEXT,
  context_lines INTEGER, context_chars INTEGER, can TEXT, gone_at INTEGER, cursor INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL, withdrawn INTEGER NOT NULL DEFAULT 0, removed_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX participants_harness ON participants (harness_id) WHERE harness_id IS NOT NULL;

CREATE TABLE tokens (
  id TEXT PRIMARY KEY, participant_id TEXT NOT NULL, hash TEXT NOT NULL, scopes TEXT NOT NULL,
  name TEXT NOT NULL, session INTEGER NOT NULL DEFAULT 0, created_at INTEGER NOT NULL, last_used_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX tokens_participant ON tokens (participant_id);

-- Invites and sign-in links (participant_id is a sign-in link's).
CREATE TABLE links (
  id TEXT PRIMARY KEY, hash TEXT NOT NULL, participant_id TEXT, role TEXT, space_ids TEXT NOT NULL DEFAULT '[]',
  uses_left INTEGER NOT NULL, expires_at INTEGER NOT NULL, made_by TEXT NOT NULL, created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE redemptions (
  link_id TEXT NOT NULL, key TEXT NOT NULL, participant_id TEXT NOT NULL, at INTEGER NOT NULL,
  PRIMARY KEY (link_id, key)
) STRICT, WITHOUT ROWID;

-- A space asked of a harness names it, the name it stands in for, and the agent that claimed it (SPACE-3).
CREATE TABLE spaces (
  id TEXT PRIMARY KEY, title TEXT NOT NULL, visibility TEXT NOT NULL, archived INTEGER NOT NULL DEFAULT 0,
  direct TEXT, lead TEXT, ceiling_usd REAL, ceiling_set INTEGER NOT NULL DEFAULT 0,
  harness_id TEXT, agent_name TEXT, claimed_by TEXT, created_seq INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
-- A private space must cost as much to ask for as one that does not exist (ERR-3).
CREATE INDEX spaces_open ON spaces (id) WHERE visibility = 'open';
CREATE UNIQUE INDEX spaces_direct ON spaces (direct) WHERE direct IS NOT NULL;

-- Who is or was in a space, from which seq to which. An agent that took a harness's place has its joining, and
-- claimed_seq says from where it was there itself (SPACE-3).
CREATE TABLE stays (
  space_id TEXT NOT NULL, participant_id TEXT NOT NULL, joined_seq INTEGER NOT NULL, left_seq INTEGER,
  role TEXT NOT NULL, handle TEXT, claimed_seq INTEGER, PRIMARY KEY (space_id, participant_id, joined_seq)
) STRICT, WITHOUT ROWID;
-- Who is here now must not cost more where many came and went (LOG-3). It holds all that is read of a stay.
CREATE INDEX stays_space ON stays (space_id, left_seq, joined_seq, role, handle, claimed_seq);
CREATE INDEX stays_participant ON stays (participant_id, left_seq);
CREATE TABLE handles (
  space_id TEXT NOT NULL, folded TEXT NOT NULL, handle TEXT NOT NULL, participant_id TEXT NOT NULL,
  released_at INTEGER, PRIMARY KEY (space_id, folded)
) STRICT, WITHOUT ROWID;

-- The log holds facts and no words (LOG-1, LOG-4). sender, key, hash and receipt are the write's (ENV-4).
CREATE TABLE log (
  seq INTEGER PRIMARY KEY, id TEXT NOT NULL, type TEXT NOT NULL, at INTEGER NOT NULL, space_id TEXT,
  run_id TEXT, actor_kind TEXT NOT NULL, actor_id TEXT NOT NULL, harness_id TEXT, body TEXT NOT NULL,
  sender TEXT, key TEXT, hash TEXT, receipt TEXT
) STRICT;
CREATE UNIQUE INDEX log_id ON log (id);
CREATE UNIQUE INDEX log_key ON log (sender, key) WHERE key IS NOT NULL;
-- The lines of a space in order: what contexts show (WIN-3).
CREATE TABLE lines (space_id TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (space_id, seq)) STRICT, WITHOUT ROWID;

-- Words by message and edition; a deleted message is one row without words.
CREATE TABLE messages (
  id TEXT NOT NULL, edition INTEGER NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL, text TEXT,
  mentions TEXT NOT NULL, files TEXT NOT NULL, PRIMARY KEY (id, edition)
) STRICT, WITHOUT ROWID;
CREATE VIRTUAL TABLE words USING fts5 (text, content = '', columnsize = 0, tokenize = 'unicode61 remove_diacritics 2');
INSERT INTO words (words, rank) VALUES ('secure-delete', 1);

CREATE TABLE blobs (
  sha256 TEXT PRIMARY KEY, r2_key TEXT NOT NULL, byte_size INTEGER NOT NULL, mime_type TEXT NOT NULL,
  width INTEGER, height INTEGER, duration_ms INTEGER
) STRICT, WITHOUT ROWID;
CREATE TABLE attachments (
  id TEXT PRIMARY KEY, sha256 TEXT NOT NULL, filename TEXT NOT NULL, uploaded_by TEXT NOT NULL,
  transcript TEXT, created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX attachments_sha ON attachments (sha256);
-- Another's attachment must cost as much to ask for as one that does not exist (ERR-3).
CREATE INDEX attachments_by ON attachments (uploaded_by, id);
CREATE TABLE attachment_uses (
  attachment_id TEXT NOT NULL, space_id TEXT NOT NULL, message_id TEXT NOT NULL,
  PRIMARY KEY (attachment_id, space_id, message_id)
) STRICT, WITHOUT ROWID;
-- Uploads on their way and objects to be deleted: what may lie in the bucket with no row of its own.
-- upload_id is a multipart upload's, whose parts no delete of the key would reach.
CREATE TABLE bucket_debts (
  r2_key TEXT PRIMARY KEY, due_at INTEGER NOT NULL, upload_id TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX bucket_debts_due ON bucket_debts (due_at);

CREATE TABLE files (
  space_id TEXT NOT NULL, name TEXT NOT NULL, version INTEGER NOT NULL, attachment_id TEXT NOT NULL,
  message_id TEXT NOT NULL, seq INTEGER NOT NULL, by TEXT NOT NULL, at INTEGER NOT NULL, replaces TEXT,
  superseded_seq INTEGER, PRIMARY KEY (space_id, name, version)
) STRICT, WITHOUT ROWID;
CREATE INDEX files_current ON files (space_id, seq) WHERE superseded_seq IS NULL;
CREATE INDEX files_superseded ON files (space_id, superseded_seq) WHERE superseded_seq IS NOT NULL;

CREATE TABLE runs (
  id TEXT PRIMARY KEY, space_id TEXT NOT NULL, agent_id TEXT NOT NULL, harness_id TEXT NOT NULL,
  started_seq INTEGER NOT NULL, started_at INTEGER NOT NULL, delivered_seq INTEGER NOT NULL,
  heard_at INTEGER NOT NULL, paused INTEGER NOT NULL DEFAULT 0, stopping_at INTEGER, step TEXT, cost_micros INTEGER, input_tokens INTEGER, output_tokens INTEGER,
  ended_seq INTEGER, ended_at INTEGER, outcome TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX runs_open ON runs (space_id) WHERE ended_seq IS NULL;
CREATE INDEX runs_going ON runs (agent_id) WHERE ended_seq IS NULL;
CREATE INDEX runs_harness ON runs (harness_id) WHERE ended_seq IS NULL;
CREATE INDEX runs_space ON runs (space_id, started_seq);
CREATE TABLE run_messages (
  message_id TEXT NOT NULL, agent_id TEXT NOT NULL, run_id TEXT NOT NULL, PRIMARY KEY (message_id, agent_id)
) STRICT, WITHOUT ROWID;
-- When an agent's last turn in a space ended (NOTE-3).
CREATE TABLE last_turns (
  space_id TEXT NOT NULL, agent_id TEXT NOT NULL, ended_at INTEGER NOT NULL, PRIMARY KEY (space_id, agent_id)
) STRICT, WITHOUT ROWID;
-- Where the turn that said a harness's last words in a space began (WIN-2).
CREATE TABLE spoke (
  space_id TEXT NOT NULL, harness_id TEXT NOT NULL, since_seq INTEGER NOT NULL, PRIMARY KEY (space_id, harness_id)
) STRICT, WITHOUT ROWID;
-- A hand-over of a message to an agent: the seq of its own delivery (NEW-9).
CREATE TABLE handovers (
  message_id TEXT NOT NULL, agent_id TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (message_id, agent_id)
) STRICT, WITHOUT ROWID;

-- The last act of a person in a space that its lines do not show: the guard and the job count from there.
CREATE TABLE acts (
  space_id TEXT PRIMARY KEY, seq INTEGER NOT NULL, at INTEGER NOT NULL, by TEXT NOT NULL
) STRICT, WITHOUT ROWID;
-- The agents' exchange in a space as far as it went (rules/guard.ts).
CREATE TABLE exchanges (space_id TEXT PRIMARY KEY, state TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE pauses (
  space_id TEXT PRIMARY KEY, cause TEXT NOT NULL, lasting INTEGER NOT NULL, told INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
-- The newest message held from each agent (GUARD-4).
CREATE TABLE held (
  space_id TEXT NOT NULL, agent_id TEXT NOT NULL, message_id TEXT NOT NULL, PRIMARY KEY (space_id, agent_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE jobs (
  space_id TEXT PRIMARY KEY, since_seq INTEGER NOT NULL, spent_micros INTEGER NOT NULL, uncounted INTEGER NOT NULL,
  upto INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE days (day TEXT PRIMARY KEY, spent_micros INTEGER NOT NULL) STRICT, WITHOUT ROWID;
-- From where a space has words of people that were nobody's turn (LEAD-2).
CREATE TABLE unclaimed (space_id TEXT PRIMARY KEY, from_seq INTEGER NOT NULL) STRICT, WITHOUT ROWID;
-- Messages between agents that their takers have not begun (TURN-7); due_at once the taker could.
CREATE TABLE pickups (
  message_id TEXT NOT NULL, agent_id TEXT NOT NULL, space_id TEXT NOT NULL, due_at INTEGER,
  PRIMARY KEY (message_id, agent_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX pickups_agent ON pickups (agent_id, space_id);

CREATE TABLE marks (
  space_id TEXT NOT NULL, participant_id TEXT NOT NULL, read_seq INTEGER NOT NULL,
  PRIMARY KEY (space_id, participant_id)
) STRICT, WITHOUT ROWID;

-- Asks (APR). request is the ask as it is shown, in JSON; asked the hash of what the harness sent. The
-- resume_token is its harness's alone and is read for nobody else (APR-10).
CREATE TABLE approvals (
  id TEXT PRIMARY KEY, space_id TEXT NOT NULL, run_id TEXT NOT NULL, agent_id TEXT NOT NULL,
  harness_id TEXT NOT NULL, asked TEXT NOT NULL, request TEXT NOT NULL, resume_token TEXT, matters INTEGER NOT NULL,
  approvers TEXT NOT NULL, fallback TEXT NOT NULL, asked_seq INTEGER NOT NULL, asked_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL, rule TEXT, version INTEGER NOT NULL, state TEXT NOT NULL DEFAULT 'pending',
  decision TEXT, via TEXT, decided_by TEXT, decided_seq INTEGER, decided_at INTEGER, input TEXT, grant_id TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX approvals_asked ON approvals (asked_seq);
CREATE INDEX approvals_state ON approvals (state, asked_seq);
-- An ask that is not yours to see must cost as much to name as one that does not exist (ERR-3).
CREATE INDEX approvals_space ON approvals (space_id, id);
CREATE INDEX approvals_run ON approvals (run_id);
CREATE INDEX approvals_due ON approvals (expires_at) WHERE state = 'pending';
-- Who sees an ask wherever they are: whoever is or was its approver, and the harness that asked (APR-2).
CREATE TABLE approval_viewers (
  participant_id TEXT NOT NULL, approval_id TEXT NOT NULL, PRIMARY KEY (participant_id, approval_id)
) STRICT, WITHOUT ROWID;
-- Standing yeses (APR-7); ask is the hash of what they hold for.
CREATE TABLE grants (
  id TEXT PRIMARY KEY, agent_id TEXT NOT NULL, ask TEXT NOT NULL, action TEXT NOT NULL, risk TEXT NOT NULL,
  approval_id TEXT NOT NULL, space_id TEXT NOT NULL, given_by TEXT NOT NULL, given_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL, revoked_at INTEGER, revoked_by TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX grants_ask ON grants (ask, agent_id) WHERE revoked_at IS NULL;
-- Every version of the policy: a decision names the one that it was made by (POL-2).
CREATE TABLE policies (
  version INTEGER PRIMARY KEY, rules TEXT NOT NULL, classes TEXT NOT NULL, at INTEGER NOT NULL, by TEXT NOT NULL
) STRICT;
CREATE TABLE questions (
  id TEXT PRIMARY KEY, space_id TEXT NOT NULL, run_id TEXT NOT NULL, agent_id TEXT NOT NULL,
  harness_id TEXT NOT NULL, asked TEXT NOT NULL, text TEXT NOT NULL, options TEXT, put_to TEXT,
  asked_at INTEGER NOT NULL, state TEXT NOT NULL DEFAULT 'open', answer TEXT, answered_by TEXT, answered_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX questions_run ON questions (run_id);
CREATE INDEX questions_space ON questions (space_id, id);
-- The audit chain: each record has the hash of the one before; rows are only ever added (APR-8).
CREATE TABLE audit (
  n INTEGER PRIMARY KEY, at INTEGER NOT NULL, type TEXT NOT NULL, by TEXT NOT NULL, subject TEXT NOT NULL,
  saw TEXT, detail TEXT, prev TEXT NOT NULL, hash TEXT NOT NULL
) STRICT;
-- Where the chain ends, so that records missing at its end show.
CREATE TABLE audit_head (one INTEGER PRIMARY KEY CHECK (one = 1), n INTEGER NOT NULL, hash TEXT NOT NULL) STRICT;
`;

/**
 * An import on its way (LOG-6): the export's text as it came, until its end makes a workspace of it. token_id is
 * the owner's new token. A missing blob is one whose bytes have not come yet.
 */
const IMPORT = `
CREATE TABLE imports (
  one INTEGER PRIMARY KEY CHECK (one = 1), workspace_id TEXT NOT NULL, next_line INTEGER NOT NULL,
  last_from INTEGER, last_sha256 TEXT, token_id TEXT
) STRICT;
CREATE TABLE import_chunks (
  from_line INTEGER PRIMARY KEY, sha256 TEXT NOT NULL, lines TEXT NOT NULL
) STRICT;
ALTER TABLE blobs ADD COLUMN missing INTEGER NOT NULL DEFAULT 0;
CREATE INDEX blobs_missing ON blobs (sha256) WHERE missing != 0;
`;

/**
 * The office (TEAM-2, CHAT-2). office_handle: the person of the team that an agent is, of the harness that is
 * built in; office_paused: it is asked nothing. A hook's token has its source and the event types it may send (WORK-4). ask: the question at the
 * board that a question is (ITEM-2). office_runs: a run that goes on under another id, since the room had ended it.
 */
const OFFICE = `
${OUTBOX_TABLES};
ALTER TABLE participants ADD COLUMN office_handle TEXT;
CREATE UNIQUE INDEX participants_office ON participants (office_handle) WHERE office_handle IS NOT NULL;
ALTER TABLE participants ADD COLUMN office_paused INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tokens ADD COLUMN source TEXT;
ALTER TABLE tokens ADD COLUMN types TEXT;
ALTER TABLE questions ADD COLUMN ask TEXT;
CREATE UNIQUE INDEX questions_ask ON questions (ask) WHERE ask IS NOT NULL;
CREATE TABLE office_runs (office_run TEXT PRIMARY KEY, run_id TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX office_runs_run ON office_runs (run_id);
`;

/** Which people followed context streams at which offices (STREAM-2, AUTH-3). */
const FOLLOWERS = `
CREATE TABLE followers (
  participant_id TEXT NOT NULL, handle TEXT NOT NULL, PRIMARY KEY (participant_id, handle)
) STRICT, WITHOUT ROWID;
`;

/** Agents whose offices keep streams (CTX-7). */
const HEARS = "ALTER TABLE participants ADD COLUMN office_hears INTEGER NOT NULL DEFAULT 0";

export const ROOM_MIGRATIONS: readonly Migration[] = [
  { sql: FIRST },
  { sql: IMPORT },
  { sql: OFFICE },
  { sql: FOLLOWERS },
  { sql: HEARS },
];
