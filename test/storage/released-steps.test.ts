/** Released steps of the schema never change: databases that have taken them would differ from new ones. */
import { expect, test } from "bun:test";
import { schema } from "../../src/app/schema.ts";
import { webFileSteps } from "../../src/web/index.ts";
import { sqliteSteps } from "../kit/storage.ts";

const postgresSteps = schema.steps.flatMap(({ postgres }) => postgres ?? []);

/** Of the steps up to the last released one; without comments, and with any white space. */
function fingerprintOf(steps: readonly string[], count: number): string {
  const released = steps.slice(0, count).map((step) => step.replaceAll(/--.*/g, "").replaceAll(/\s+/g, " ").trim());
  return new Bun.CryptoHasher("sha256").update(JSON.stringify(released)).digest("hex").slice(0, 16);
}

test.each([
  ["SQLite", sqliteSteps, 20, "6722a4ce903be771"],
  ["the web's file on SQLite", webFileSteps.map(({ sqlite }) => sqlite), 5, "0ad3caa52d94d5b8"],
  // The functions of the twentieth step are defined in the one that changed them last.
  ["Postgres", postgresSteps, 20, "cf6e4e938757b776"],
] as const)("the steps of %s are as they were released", (_, steps, count, fingerprint) => {
  expect(fingerprintOf(steps, count)).toBe(fingerprint);
});
