/** A thin hand on an object's SQLite: typed rows, and a count of what they cost. */

/** What a statement may be given. */
export type SqlValue = string | number | null;
type Row = Record<string, SqlStorageValue>;

/** Rows read and written since the object woke: what the platform bills (PERF-1). */
export interface RowCounts {
  read: number;
  written: number;
}

export interface Db {
  /** The first row, or undefined. */
  one<T>(query: string, ...bindings: SqlValue[]): T | undefined;
  /** Every row. */
  all<T>(query: string, ...bindings: SqlValue[]): T[];
  /** Row by row, read only as far as it is iterated. */
  each<T>(query: string, ...bindings: SqlValue[]): IterableIterator<T>;
  /** A statement that answers nothing; returns how many rows it wrote, indexes included. */
  run(query: string, ...bindings: SqlValue[]): number;
  readonly counts: RowCounts;
}

export function openDb(sql: SqlStorage): Db {
  const counts: RowCounts = { read: 0, written: 0 };
  const all = <T>(query: string, bindings: SqlValue[]): T[] => {
    const cursor = sql.exec<Row>(query, ...bindings);
    const rows = cursor.toArray();
    counts.read += cursor.rowsRead;
    counts.written += cursor.rowsWritten;
    return rows as T[];
  };
  return {
    counts,
    all: (query, ...bindings) => all(query, bindings),
    one: <T>(query: string, ...bindings: SqlValue[]) => all<T>(query, bindings)[0],
    *each<T>(query: string, ...bindings: SqlValue[]) {
      const cursor = sql.exec<Row>(query, ...bindings);
      try {
        for (const row of cursor) yield row as T;
      } finally {
        counts.read += cursor.rowsRead;
      }
    },
    run: (query, ...bindings) => {
      const before = counts.written;
      all(query, bindings);
      return counts.written - before;
    },
  };
}
