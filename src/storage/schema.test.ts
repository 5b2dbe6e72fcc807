import { expect, test } from "bun:test";
import { bothEngines, together } from "./schema.ts";

test("a step of SQLite has its types and collations on Postgres", () => {
  const { sqlite, postgres } = bothEngines(
    `CREATE TABLE things (
      id    TEXT PRIMARY KEY, -- TEXT
      note  TEXT,
      size  INTEGER NOT NULL CHECK (size >= 0),
      ms    REAL,
      body  BLOB,
      done  INTEGER NOT NULL CHECK (done IN (0, 1))
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX things_by_note ON things (note);
    ALTER TABLE things ADD COLUMN owner TEXT;`,
    "id owner",
  );
  expect(sqlite).toContain("STRICT, WITHOUT ROWID");
  expect(postgres.replaceAll(/--.*/g, "").replaceAll(/\s+/g, " ")).toBe(
    'CREATE TABLE things ( id text COLLATE "C" PRIMARY KEY, note text, size bigint NOT NULL CHECK (size >= 0), ' +
      "ms double precision, body bytea, done boolean NOT NULL ); CREATE INDEX things_by_note ON things (note); " +
      'ALTER TABLE things ADD COLUMN owner text COLLATE "C";',
  );
});

test("parts of one step follow each other on each engine", () => {
  expect(together({ sqlite: "a;", postgres: "b;" }, { postgres: "c;" })).toEqual({ sqlite: "a;", postgres: "b;c;" });
});
