/** `tollgate migrate`, and `storage_migrate: manual`: nothing is migrated but by that command. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Database } from "bun:sqlite";
import { schema } from "../../src/app/schema.ts";
import { openStorage } from "../kit/storage.ts";
import { engines, root, runCli, sharedPostgres } from "../kit/index.ts";

const furtherStep = join(import.meta.dir, "__fixtures__/further-step.ts");

const postgres = sharedPostgres();
let folder: string;
let config: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tollgate-migrate-"));
  config = join(folder, "tollgate.yaml");
  writeFileSync(config, "storage_migrate: manual\n");
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const run = (storage: string, ...args: string[]) => runCli([...args, "--config", config, "--storage", storage]);
/** By a next version. */
const runNext = (storage: string, ...args: string[]) =>
  runCli([...args, "--config", config, "--storage", storage], {}, root, furtherStep);

describe.each(engines)("on %s,", (engine) => {
  const known = schema.steps.filter((step) => step[engine === "SQLite" ? "sqlite" : "postgres"] !== undefined).length;
  const lacks = (steps: string): string =>
    `tollgate: storage: its schema lacks ${steps} of this Tollgate, and storage_migrate is manual; run: tollgate migrate --apply\n`;

  test("nothing is created or migrated but by migrate --apply, and a plan names every step", async () => {
    const url = engine === "Postgres" ? await postgres.createEmptyDatabase() : `sqlite:${join(folder, "t.db")}`;
    const others = engine === "SQLite" ? [["token", "list"], ["nodes"], ["ledger", "timezone", "UTC"]] : [];
    for (const command of [["serve", "--port", "0"], ...others])
      expect(await run(url, ...command)).toEqual({ code: 1, stdout: "", stderr: lacks(`${known} steps`) });
    if (engine === "SQLite") expect(existsSync(join(folder, "t.db"))).toBe(false);
    const planned = await run(url, "migrate", "--plan", "--json");
    expect(JSON.parse(planned.stdout)).toMatchObject({
      applied: false,
      places: [{ version: 0, oldest: 0, next_version: known, steps: { length: known } }],
    });
    expect(await run(url, "nodes")).toMatchObject({ code: 1 });
    expect(await run(url, "migrate", "--apply")).toMatchObject({ code: 0, stderr: "" });
    expect(await run(url, "nodes")).toMatchObject({ code: 0 });
    const again = await run(url, "migrate", "--apply");
    expect(again.stdout).toEndWith(`: schema ${known}, no step is missing\n`);
  });

  test("a next version waits for it, and this one works before and after", async () => {
    const url = engine === "Postgres" ? await postgres.createDatabase() : `sqlite:${join(folder, "t.db")}`;
    await (await openStorage(url)).close();
    expect(await runNext(url, "nodes")).toEqual({ code: 1, stdout: "", stderr: lacks("a step") });
    const planned = (await runNext(url, "migrate", "--plan")).stdout;
    expect(planned).toContain(`: schema ${known} would be migrated to ${known + 1}\n`);
    expect(planned).toContain("CREATE TABLE further_notes");
    expect(planned).toEndWith("Gateways of the version that made it so far go on, and start again.\n");
    expect(planned).not.toContain("secret");
    expect(await run(url, "nodes")).toMatchObject({ code: 0 });
    expect((await runNext(url, "migrate", "--apply")).stdout).toContain(`was migrated to ${known + 1}\n`);
    expect(await runNext(url, "nodes")).toMatchObject({ code: 0, stderr: "" });
    expect(await run(url, "nodes")).toMatchObject({ code: 0, stderr: "" });
    expect(JSON.parse((await run(url, "migrate", "--plan", "--json")).stdout)).toMatchObject({
      places: [{ version: known + 1, oldest: known, next_version: known + 1, steps: [] }],
    });
  });
});

test("the file of the web's tables is planned and migrated too, once it is there", async () => {
  const path = join(folder, "t.db");
  const storage = await openStorage(`sqlite:${path}`);
  await storage.close();
  const web = new Database(`${path}-web`, { create: true });
  web.close();
  const planned = await run(`sqlite:${path}`, "migrate", "--plan", "--json");
  expect(JSON.parse(planned.stdout)).toMatchObject({ places: [{ place: path }, { place: `${path}-web`, version: 0 }] });
  expect((await run(`sqlite:${path}`, "serve", "--port", "0")).stderr).toContain("storage_migrate is manual");
  expect(await run(`sqlite:${path}`, "migrate", "--apply")).toMatchObject({ code: 0, stderr: "" });
  expect((await run(`sqlite:${path}`, "migrate", "--plan")).stdout.match(/no step is missing/g)).toHaveLength(2);
});

test("the command wants to know which of both", async () => {
  for (const both of [[], ["--plan", "--apply"]])
    expect(await run(`sqlite:${join(folder, "t.db")}`, "migrate", ...both)).toMatchObject({
      code: 1,
      stderr: "tollgate: migrate: either --plan or --apply\n",
    });
});
