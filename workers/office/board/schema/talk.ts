/**
 * How far agents have gone on without a human's word (PIPE-2). `talk` holds a count for each thing (`ticket:BP-1`), for
 * each event that woke somebody, and for each item; what is not there counts none. `at_work`: the item that a person
 * took last, whose count goes over to whatever they do.
 */
export const TALK_TABLES = `
CREATE TABLE talk (about TEXT PRIMARY KEY, count INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE at_work (person TEXT PRIMARY KEY, item TEXT NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO talk SELECT r.type || ':' || r.ref, count(*) FROM event_refs r
  WHERE r.counts = 'agent' AND r.type IN ('ticket', 'pr', 'doc') AND r.n > coalesce((SELECT max(h.n) FROM event_refs h
    WHERE h.type = r.type AND h.ref = r.ref AND h.counts = 'human'), 0) GROUP BY r.type, r.ref
`;
