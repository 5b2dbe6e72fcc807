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
