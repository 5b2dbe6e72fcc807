/** Storages with the tables of all features, for tests of any folder of src/. */
import { schema } from "../../src/app/schema.ts";
import { stepsFor } from "../../src/storage/index.ts";

export { changeTimezone, openStorage } from "../../src/app/storage.ts";

/** The steps of the schema on SQLite. */
export const sqliteSteps: readonly string[] = schema.steps.flatMap(({ sqlite }) => sqlite ?? []);

/** The same, as a start takes them. */
export const engineSteps = stepsFor("sqlite", schema.steps);
