/** Entries are listed from the latest one on; grants and refunds, which are few among them, alone too. */
export const BOOK_LISTS = {
  sqlite: `
  CREATE INDEX entries_of_acts ON entries (number) WHERE kind = 'grant' OR reason IS NOT NULL;
  `,
  postgres: `
  CREATE INDEX entries_by_time ON entries (created_at, id);
  CREATE INDEX entries_of_acts ON entries (created_at, id) WHERE kind = 'grant' OR reason IS NOT NULL;
  `,
};

/**
 * On SQLite entries are numbered in the order of their commits. Those whose time is over an hour before that of an earlier one, since
 * the store did not answer or a clock was set, are found by their time here; `latest` is the latest time before them.
 */
export const LATE_ENTRIES = {
  sqlite: `
  CREATE TABLE late_entries (number INTEGER PRIMARY KEY, created_at INTEGER NOT NULL, latest INTEGER NOT NULL) STRICT;
  CREATE INDEX late_entries_by_time ON late_entries (created_at, number);
  INSERT INTO late_entries SELECT number, created_at, latest
    FROM (SELECT number, created_at, max(created_at) OVER (ORDER BY number) AS latest FROM entries)
    WHERE created_at < latest - 3600000;
  `,
};
