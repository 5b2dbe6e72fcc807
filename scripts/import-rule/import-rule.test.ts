import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { root } from "../shared/steps.ts";
import { checkTree } from "./check-tree.ts";

/** A small tree in which every rule holds; each case below changes one file of it. */
const soundTree: Readonly<Record<string, string>> = {
  "src/core/index.ts": `export * from "./money.ts";`,
  "src/core/money.ts": `export type Money = bigint; export class MoneyError extends Error {}`,
  "src/storage/index.ts": `export class Storage {} export const openStorage = (): Storage => new Storage();`,
  "src/storage/sqlite.ts": `export const all = "SELECT id FROM tokens";`,
  "src/ledger/index.ts": `import type { Storage } from "../storage/index.ts"; export type Ledger = { storage: Storage };`,
  "src/ledger/sql/schema.ts": `export const STEP = "CREATE TABLE holds (id)";`,
  "src/ledger/sql/hold.ts": `export const hold = "INSERT INTO transfers VALUES (?)";`,
  "src/auth/index.ts": `import { MoneyError } from "../core/index.ts"; export const fail = () => new MoneyError();`,
  "src/providers/index.ts": `import "./openai/index.ts"; import "./xai/index.ts"; import "./shared/list.ts";`,
  "src/providers/openai/index.ts": `import "../shared/list.ts"; import "./chat.ts";`,
  "src/providers/openai/chat.ts": `export const name = "openai";`,
  "src/providers/xai/index.ts": `export const name = "xai";`,
  "src/providers/shared/list.ts": `export const list = 1;`,
  "src/calls/index.ts": `import type { Ledger } from "../ledger/index.ts"; export type Call = { ledger: Ledger };`,
  "src/calls/__fixtures__/scene.ts": `import { openLedger } from "../../ledger/index.ts"; openLedger();`,
  "src/http/chat/chat.ts": `export const contract = { surface: "openai", status: 200 };`,
  "src/http/index.ts": `import "./chat/chat.ts"; import type { Call } from "../calls/index.ts"; export type C = Call;`,
  "src/openapi/index.ts": `import "../http/index.ts";`,
  "src/app/routing.ts": `import { openStorage } from "../storage/index.ts"; export const storage = openStorage();`,
  "src/app/schema.ts": `import "../ledger/sql/schema.ts";`,
  "src/app/app.ts": `import "./routing.ts"; import { openStorage } from "../storage/index.ts"; openStorage();`,
  "src/cli/main.ts": `import "../app/app.ts"; import { openStorage } from "../storage/index.ts"; openStorage();`,
  "src/cli/version.ts": `import manifest from "../../package.json"; export const { version } = manifest;`,
  "simulators/index.ts": `export const answer = "SELECT one FROM many";`,
  "src/auth/auth.test.ts": `import { until } from "../../test/kit/until.ts"; until();`,
  "test/kit/until.ts": `export const until = () => undefined;`,
  "test/contract/ledger.test.ts": `import "../../src/ledger/index.ts"; import "../../simulators/index.ts";`,
};

test("a sound tree passes", () => {
  expect(check({})).toEqual([]);
});

describe("every rule reports its violation and the fix", () => {
  const cases: readonly [name: string, path: string, text: string, expected: string][] = [
    [
      "1: upwards",
      "src/core/index.ts",
      `\nimport "../storage/index.ts";`,
      "src/core/index.ts:2 rule 1 (levels) imports src/storage/index.ts: storage is above core; " +
        "move what both need into a lower folder, or take it as an option from app/",
    ],
    ["1: a sibling", "src/auth/index.ts", `import "../ledger/index.ts";`, "ledger is a sibling of auth"],
    ["1: a type only", "src/auth/index.ts", `import type { Call } from "../calls/index.ts";`, "calls is above auth"],
    ["1: a type in place", "src/auth/index.ts", `type A = import("../calls/index.ts").Call;`, "calls is above auth"],
    ["1: when it runs", "src/auth/index.ts", `await import("../calls/index.ts");`, "calls is above auth"],
    ["1: a template", "src/auth/index.ts", "await import(`../calls/index.ts`);", "calls is above auth"],
    ["1: passed on", "src/auth/index.ts", `export * from "../calls/index.ts";`, "calls is above auth"],
    ["1: the cli from below", "src/app/app.ts", `import "../cli/main.ts";`, "cli is above app"],
    ["1: a new folder", "src/misc/index.ts", ``, "misc has no level: put the file into a folder of the layout"],
    ["2: another provider", "src/providers/xai/index.ts", `import "../openai/index.ts";`, "never imports another"],
    ["2: shared", "src/providers/shared/list.ts", `import "../openai/index.ts";`, "shared/ knows no provider"],
    [
      "3: a class",
      "src/ledger/index.ts",
      `import { Storage } from "../storage/index.ts"; new Storage();`,
      "rule 3 (only app/ constructs) new Storage(…): app/ builds it",
    ],
    [
      "3: a factory",
      "src/calls/index.ts",
      `import { openStorage } from "../storage/index.ts"; openStorage();`,
      "openStorage(…): app/ builds it",
    ],
    ["4: SQL in a route", "src/http/index.ts", `const q = "select id from tokens";`, "SQL belongs into storage/"],
    ["4: SQL in a template", "src/ledger/index.ts", "const q = `UPDATE a SET b = ${1}`;", "SQL belongs into storage/"],
    ["4: a name compared", "src/http/index.ts", `if (x === "openai") y();`, `the provider's name "openai"`],
    ["4: a name in a switch", "src/calls/index.ts", `switch (x) { case "xai": y(); }`, `the provider's name "xai"`],
    ["4: a name in a list", "src/http/admin/index.ts", `names.includes("xai");`, `the provider's name "xai"`],
    ["4: a price", "src/http/index.ts", `const p = { input_mtok: 1.25 };`, "holds the price input_mtok"],
    ["5: a simulator", "simulators/index.ts", `import "../src/core/index.ts";`, "simulators/ talks HTTP only"],
    ["5: the console", "console/app.tsx", `import "../src/core/index.ts";`, "console/ talks HTTP only"],
    ["5: src to the kit", "src/auth/index.ts", `import "../../test/kit/until.ts";`, "imports nothing outside of src/"],
    ["5: src to a test", "src/auth/index.ts", `import "../../test/kit.ts";`, "imports nothing outside of src/"],
    [
      "5: src to a simulator",
      "src/cli/sim.ts",
      `import "../../simulators/index.ts";`,
      "start it as a separate process",
    ],
    ["6: an inner file", "src/auth/index.ts", `import "../core/money.ts";`, "export it from src/core/index.ts"],
    ["6: from a test", "test/kit.ts", `import "../src/ledger/sql/hold.ts";`, "export it from src/ledger/index.ts"],
    ["6: a schema", "src/cli/main.ts", `import "../ledger/sql/schema.ts";`, "export it from src/ledger/index.ts"],
    ["6: the registry", "src/providers/index.ts", `import "./openai/chat.ts";`, "src/providers/openai/index.ts and"],
    ["a file and itself", "src/core/money.ts", `import "./money.ts";`, "no cycles the file imports itself"],
    [
      "a circle",
      "src/core/money.ts",
      `import type {} from "./index.ts";`,
      "a circle of src/core/index.ts, src/core/money.ts; move what they share",
    ],
  ];

  test.each(cases)("%s", (_, path, text, expected) => {
    expect(check({ [path]: text }).join("\n")).toContain(expected);
  });

  test("a file that cannot be parsed doesn't pass", () => {
    expect(() => check({ "src/core/index.ts": "export const = ;" })).toThrow("src/core/index.ts cannot be parsed");
  });
});

describe("the command", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "tollgate-import-rule-"));
    for (const [path, text] of Object.entries(soundTree)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await Bun.write(join(folder, path), text);
    }
  });
  afterAll(() => rm(folder, { recursive: true }));

  test("exits 0 on a sound tree, 1 on a violation, 1 if there is nothing to check", async () => {
    expect(await runCommand(folder)).toEqual({ code: 0, output: "" });
    await Bun.write(join(folder, "src/auth/index.ts"), `import "../core/money.ts";`);
    const broken = await runCommand(folder);
    expect(broken.code).toBe(1);
    expect(broken.output).toStartWith("src/auth/index.ts:1  rule 6 (index.ts only): ");
    expect((await runCommand(join(folder, "src", "core"))).code).toBe(1);
  });
});

function check(changes: Record<string, string>): string[] {
  const violations = checkTree(new Map(Object.entries({ ...soundTree, ...changes })));
  return violations.map(({ path, line, rule, advice }) => `${path}:${line} ${rule} ${advice}`);
}

async function runCommand(folder: string): Promise<{ code: number; output: string }> {
  const script = join(root, "scripts", "import-rule.ts");
  const child = Bun.spawn([process.execPath, script, folder], { stdio: ["ignore", "pipe", "pipe"] });
  const [output, code] = await Promise.all([child.stderr.text(), child.exited]);
  return { code, output };
}
