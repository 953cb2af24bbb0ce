/** The tables of an Office, as migrations (kit/migrations.ts). Times are milliseconds, JSON is text. */
import { ALARMS_TABLE } from "../kit/alarms.ts";
import type { Migration } from "../kit/migrations.ts";
import { OUTBOX_TABLES } from "../kit/outbox.ts";

/** Whose office it is, and the team's config as the board last sent it. */
const PERSON = `
CREATE TABLE person (
  one INTEGER PRIMARY KEY CHECK (one = 1), workspace TEXT NOT NULL, handle TEXT NOT NULL,
  team_version INTEGER NOT NULL, team TEXT NOT NULL, removed_at INTEGER
) STRICT;
`;

export const OFFICE_MIGRATIONS: readonly Migration[] = [
  { sql: [ALARMS_TABLE, OUTBOX_TABLES, PERSON].join(";\n") },
];
