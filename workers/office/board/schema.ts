/**
 * The tables of a Board, as migrations (kit/migrations.ts). Times are milliseconds, JSON is text. Each part of
 * the board has its own: what it shares is nothing but the transaction.
 */
import { ALARMS_TABLE } from "../../kit/alarms.ts";
import type { Migration } from "../../kit/migrations.ts";
import { REQUEST_KEYS_TABLE } from "../../kit/once.ts";
import { OUTBOX_TABLES } from "../../kit/outbox.ts";
import { CONTEXT_TABLES } from "./schema/context.ts";
import { TALK_TABLES } from "./schema/talk.ts";
import { TEAM_TABLES } from "./schema/team.ts";
import { WORK_TABLES } from "./schema/work.ts";

export const BOARD_MIGRATIONS: readonly Migration[] = [
  { sql: [ALARMS_TABLE, OUTBOX_TABLES, TEAM_TABLES, WORK_TABLES, CONTEXT_TABLES].join(";\n") },
  { sql: TALK_TABLES },
  { sql: REQUEST_KEYS_TABLE },
];
