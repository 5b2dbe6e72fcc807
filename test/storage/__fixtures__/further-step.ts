/**
 * Loaded before a gateway or a command: a next version, whose schema has one more step. It adds a table, and a column to each table
 * that calls write to.
 */
import { schema } from "../../../src/app/schema.ts";
import { bothEngines, type SchemaStep } from "../../../src/storage/index.ts";

const steps = schema.steps as SchemaStep[];
const oldest = steps.at(-1);
if (oldest === undefined) throw new Error("the schema has no step");
const columns = ["accounts", "holds", "entries", "tokens", "jobs", "nodes"].map(
  (table) => `ALTER TABLE ${table} ADD COLUMN further_note TEXT;`,
);
const step = bothEngines(`
  CREATE TABLE further_notes (
    id    INTEGER PRIMARY KEY,
    note  TEXT NOT NULL
  ) STRICT;
  ${columns.join("\n  ")}
`);
steps.push({ ...step, oldest });
