/** The tables of an Office, as migrations (kit/migrations.ts). Times are milliseconds, JSON is text. */
import { ALARMS_TABLE } from "../kit/alarms.ts";
import type { Migration } from "../kit/migrations.ts";
import { REQUEST_KEYS_TABLE } from "../kit/once.ts";
import { OUTBOX_TABLES } from "../kit/outbox.ts";
import { FEED_TABLES } from "./schema/feed.ts";
import { ARRIVING_TABLE, ITEM_TABLES } from "./schema/items.ts";
import { STREAM_TABLES } from "./schema/streams.ts";
import { TALK_TABLES } from "./schema/talk.ts";

export const OFFICE_MIGRATIONS: readonly Migration[] = [
  { sql: [ALARMS_TABLE, OUTBOX_TABLES, ITEM_TABLES, TALK_TABLES].join(";\n") },
  { sql: ARRIVING_TABLE },
  { sql: REQUEST_KEYS_TABLE },
  { sql: STREAM_TABLES },
  { sql: FEED_TABLES },
];
