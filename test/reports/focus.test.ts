/** Usage in the columns of FOCUS 1.0, as the validator of its makers sees it. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { createToken } from "../../src/accounts/index.ts";
import { AdminServer } from "../../src/http/admin/__fixtures__/admin-server.ts";
import { insertGeneration, plainGeneration } from "../kit/generations.ts";
import { findPython } from "../kit/index.ts";

const DAY = 86_400_000;

let server: AdminServer;
let csv: string;

beforeAll(async () => {
  server = await AdminServer.open();
  const { token } = await createToken(server.deps, { user: "chief", role: "owner" });
  let number = 0;
  const call = async (owner: string, tokenId: string, more: object): Promise<void> => {
    number += 1;
    const id = `req_${String(number).padStart(25, "0")}`;
    await insertGeneration(server.storage, { id, owner, tokenId, ...plainGeneration, startedAt: 0, ...more });
  };
  for (const [user, organisation] of [
    ["ann", "acme"],
    ["bob", undefined],
  ] as const) {
    const { id } = await createToken(server.deps, { user, organisation });
    await call(user, id, { credits: 1_500_000_000n, listCredits: 1_000_000_000 });
    await call(user, id, { credits: 1n, startedAt: 31 * DAY });
    await call(user, id, { credits: 0n, model: "=cmd|' /C calc'!A0", inputTokens: 0, outputTokens: 0 });
  }
  await server.ask(token, "post /admin/v1/projects", { body: { name: "site", organisation: "acme" } });
  const made = await server.ask(token, "post /admin/v1/tokens", { body: { project: "site" } });
  await call("project:site", String(made.json["id"]), { operation: "image", startedAt: DAY });
  const answer = await server.fetch("/admin/v1/exports?what=usage&format=focus&from=0&to=1970-03-01", {
    authorization: `Bearer ${token}`,
  });
  csv = await answer.text();
});
afterAll(() => server.close());

test("has who pays, for whom, and the charge beside the list price", () => {
  const rows = parse<Record<string, string>>(csv, { columns: true });
  expect(rows).toHaveLength(7);
  const ann = rows.find(({ SubAccountId: id, BilledCost: cost }) => id === "user:ann" && cost === "0.000000001");
  expect(ann).toMatchObject({
    BillingAccountId: "organisation:acme",
    BillingPeriodStart: "1970-02-01T00:00:00Z",
    BillingPeriodEnd: "1970-03-01T00:00:00Z",
    ChargePeriodStart: "1970-02-01T00:00:00Z",
    ChargePeriodEnd: "1970-02-02T00:00:00Z",
    ListCost: "0.0",
    ConsumedQuantity: "10.0",
    ConsumedUnit: "Tokens",
  });
  expect(ann?.["ResourceID"]).toMatch(/^token:/);
  const bob = rows.find(({ SubAccountId: id, BilledCost: cost }) => id === "user:bob" && cost === "1.5");
  expect(bob).toMatchObject({ BillingAccountId: "user:bob", BilledCost: "1.5", EffectiveCost: "1.5", ListCost: "1.0" });
  expect(rows.map(({ SubAccountId: id }) => id)).toContain("project:site");
});

test("passes focus-validator 1.0.0", async () => {
  const found = await findPython("test/reports/focus-requirements.txt");
  if ("missing" in found) return console.warn(`skipped: ${found.missing}`);
  const folder = mkdtempSync(join(tmpdir(), "focus-"));
  const file = join(folder, "focus.csv");
  const wrong = join(folder, "wrong.csv");
  await Promise.all([Bun.write(file, csv), Bun.write(wrong, csv.replaceAll("Usage-Based", "Sometimes"))]);
  // It looks for its list of currencies in the folder that it is installed in.
  const code = `import os, sys, focus_validator
os.chdir(os.path.dirname(os.path.dirname(focus_validator.__file__)))
from focus_validator.main import main
for file in sys.argv[1:]:
    sys.argv[1:] = ["--data-file", file]
    main()
`;
  const child = Bun.spawn([found.python, "-W", "ignore", "-c", code, file, wrong], { stderr: "pipe" });
  const [output, errors] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  // The second one shows that it finds mistakes.
  expect([output.split("\n")[0], errors]).toEqual(["Validation succeeded.", ""]);
  expect(output).toContain("ChargeFrequency_Enum failed");
  rmSync(folder, { recursive: true });
});
