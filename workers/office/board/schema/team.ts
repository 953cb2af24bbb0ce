/** The team's config in its versions, who is in it, and how they are (TEAM, ITEM-3). */
export const TEAM_TABLES = `
CREATE TABLE board (one INTEGER PRIMARY KEY CHECK (one = 1), workspace TEXT NOT NULL) STRICT;
CREATE TABLE teams (version INTEGER PRIMARY KEY, team TEXT NOT NULL, at INTEGER NOT NULL, by TEXT NOT NULL) STRICT
`;
