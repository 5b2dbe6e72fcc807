/** The published OpenAPI document and the gateway agree, in requests made up by Schemathesis. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Gateway, root, stopGateways } from "../kit/index.ts";
import { findSchemathesis, readViolations, runSchemathesis, startSandbox } from "./run.ts";

/** A run takes a minute and a half, and ten times that on a busy machine. */
const MILLISECONDS_MAX = 900_000;

const found = await findSchemathesis();
if ("missing" in found) console.warn(`skipped: Schemathesis, since ${found.missing}`);
const python = "python" in found ? found.python : "";

interface Document {
  paths: Record<string, Record<string, { responses: Record<string, unknown> }>>;
}

const readDocument = async () => (await Bun.file(join(root, "openapi.json")).json()) as Document;

test("each listed violation has patterns and a reason of its own", async () => {
  const violations = await readViolations();
  for (const { operation, answer } of violations) expect([new RegExp(operation), new RegExp(answer)]).toHaveLength(2);
  expect(new Set(violations.map(({ reason }) => reason)).size).toBe(violations.length);
});

describe.skipIf("missing" in found)("Schemathesis", () => {
  let gateway: Gateway;
  beforeAll(async () => {
    gateway = await startSandbox();
  });
  afterAll(() => stopGateways());

  test(
    "finds no violation that isn't listed, and no failure of the gateway",
    async () => {
      const { code, output, report } = await runSchemathesis({ python, gateway, seed: 1, examples: 3 });
      expect(code, output).toBe(0);
      const { paths } = await readDocument();
      const operations = Object.values(paths).flatMap((methods) => Object.keys(methods));
      expect(report).toMatchObject({
        complete: true,
        operations: { tested: operations.length, errored: 0, skipped: 0 },
        phases: { coverage: { status: "success" }, fuzzing: { status: "success" }, stateful: { status: "success" } },
        failures: [],
      });
      expect(report.test_cases.errored).toBe(0);
      expect(report.test_cases.generated).toBeGreaterThan(1_000);
      expect(gateway.logLines().filter(({ level }) => Number(level) >= 50)).toEqual([]);
      const audit = await gateway.cli("ledger", "audit");
      expect(audit.code, audit.stdout + audit.stderr).toBe(0);
    },
    MILLISECONDS_MAX,
  );

  test(
    "finds one if the document differs from the gateway",
    async () => {
      const folder = mkdtempSync(join(tmpdir(), "tollgate-schemathesis-"));
      try {
        const document = await readDocument();
        delete document.paths["/v1/generations/{request_id}"]?.["get"]?.responses["404"];
        const file = join(folder, "openapi.json");
        await Bun.write(file, JSON.stringify(document));
        const more = ["--include-operation-id", "getGeneration", "--phases", "coverage"];
        const { code, output } = await runSchemathesis({ python, gateway, document: file, seed: 1, examples: 1, more });
        expect([code, output.includes("Undocumented status code")], output).toEqual([1, true]);
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
    MILLISECONDS_MAX,
  );
});
