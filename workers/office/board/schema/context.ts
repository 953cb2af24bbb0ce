/**
 * What was read at hosts, by sha, and what deliveries were taken (WORK-2, WORK-5). `host_reads` is what is to be
 * read, `host_jobs` what a job's log ended with: a job that has ended is what it is for ever.
 */
export const CONTEXT_TABLES = `
CREATE TABLE deliveries (key TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX deliveries_at ON deliveries (at);
CREATE TABLE host_reads (
  kind TEXT NOT NULL, repo TEXT NOT NULL, what TEXT NOT NULL, due_at INTEGER NOT NULL, tries INTEGER NOT NULL,
  PRIMARY KEY (kind, repo, what)
) STRICT, WITHOUT ROWID;
CREATE INDEX host_reads_due ON host_reads (due_at);
CREATE TABLE host_held (one INTEGER PRIMARY KEY CHECK (one = 1), until INTEGER NOT NULL, why TEXT NOT NULL) STRICT;
CREATE TABLE host_bases (
  repo TEXT NOT NULL, base TEXT NOT NULL, sha TEXT, checks TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (repo, base)
) STRICT, WITHOUT ROWID;
CREATE TABLE host_jobs (
  n INTEGER PRIMARY KEY, repo TEXT NOT NULL, job TEXT NOT NULL, steps TEXT NOT NULL, note TEXT, UNIQUE (repo, job)
) STRICT
`;
