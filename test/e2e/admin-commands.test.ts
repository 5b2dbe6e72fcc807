/** The commands on people and money over `--server`: the same as on the storage, each with one row in the audit log. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { createAccounts } from "../../src/app/accounts.ts";
import { commands } from "../../src/cli/index.ts";
import { operatorOf, type Rig, runCli, startRig } from "../kit/index.ts";

const folder = mkdtempSync(join(tmpdir(), "tollgate-commands-"));
let rig: Rig;
let owner: string;
beforeAll(async () => {
  rig = await startRig();
  owner = await rig.gateway.token({ user: "root", role: "owner", credits: 0n });
});
afterAll(async () => {
  await rig.stop();
  rmSync(folder, { recursive: true, force: true });
});

const { runJson } = operatorOf(() => rig.gateway);

/** Runs a command against the server, from a folder without a configuration or a storage. */
async function remote(args: readonly string[], token = owner) {
  const { code, stdout, stderr } = await runCli(
    [...args, "--server", `${rig.gateway.url}/`],
    { TOLLGATE_TOKEN: token },
    folder,
  );
  return { code, stdout, stderr };
}

async function remoteJson(...args: string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await remote([...args, "--json"]);
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: "" });
  return JSON.parse(stdout) as Record<string, unknown>;
}

/** The acts in their order, with the row that each writes; ID is the id of the thing that the last creation made. */
const acts: readonly [act: string, ...args: string[]][] = [
  ["organisation.create", "organisation", "create", "acme", "--token-policy", "max_tokens=3,max_expires=30d"],
  ["organisation.change", "organisation", "set", "acme", "--max-budget", "12.5", "--markup", "1.5"],
  ["organisation.change", "organisation", "disable", "acme"],
  ["organisation.change", "organisation", "enable", "acme"],
  ["organisation.change", "organisation", "rename", "acme", "acme-2"],
  ["project.create", "project", "create", "site", "--organisation", "acme-2"],
  ["project.change", "project", "set", "site", "--rpm", "9"],
  ["project.change", "project", "disable", "site"],
  ["project.change", "project", "enable", "site"],
  ["project.change", "project", "rename", "site", "site-2"],
  ["project.move", "project", "move", "site-2", "--organisation", "none"],
  ["project.delete", "project", "delete", "site-2"],
  ["user.create", "user", "create", "ann", "--organisation", "acme-2", "--rpm", "5", "--max-budget", "3"],
  ["user.change", "user", "set", "ann", "--models", "openai/*", "--rpm", "none", "--expires", "30d"],
  ["user.change", "user", "disable", "ann"],
  ["user.change", "user", "enable", "ann"],
  ["user.change", "user", "rename", "ann", "anna"],
  ["user.move", "user", "move", "anna", "--organisation", "none"],
  ["credits.grant", "credits", "grant", "--user", "anna", "--amount", "7"],
  ["credits.grant", "credits", "grant", "--user", "anna", "--amount", "-7"],
  ["model_group.create", "group", "create", "frontier", "--models", "openai/*"],
  ["model_group.change", "group", "set", "frontier", "--models", "xai/*"],
  ["budget.create", "budget", "create", "--user", "anna", "--max-budget", "3", "--period", "weekly"],
  ["budget.change", "budget", "set", "ID", "--raise-by", "2", "--raise-until", "2099-01-01"],
  ["budget.delete", "budget", "delete", "ID"],
  ["model_group.delete", "group", "delete", "frontier"],
  ["token.create", "token", "create", "--user", "anna", "--role", "member", "--rpm", "7"],
  ["token.change", "token", "set", "ID", "--name", "for CI"],
  ["token.change", "token", "pause", "ID"],
  ["token.change", "token", "resume", "ID"],
  ["token.rotate", "token", "rotate", "ID", "--overlap", "1m"],
  ["token.revoke", "token", "revoke", "ID"],
  ["user.delete", "user", "delete", "anna"],
  ["organisation.delete", "organisation", "delete", "acme-2"],
];

/** Acts on the storage alone. */
const storageActs: readonly [act: string, ...args: string[]][] = [
  ["target.disable", "providers", "disable", "openai", "--for", "1h"],
  ["target.enable", "providers", "enable", "openai"],
  ["webhook_secret.create", "webhooks", "secret", "--user", "root"],
  ["webhook_secret.rotate", "webhooks", "secret", "--user", "root", "--rotate"],
  ["config.reload", "config", "reload"],
  ["ledger.timezone", "ledger", "timezone", "UTC"],
];

/** Those that other tests show: they need old entries, a refused key, or several rows for several things. */
const shownElsewhere = [
  "ledger seal",
  "ledger remove",
  "providers test",
  "realtime end",
  "people apply",
  "account set",
  "credits refund",
  "import litellm",
  "tools approve",
  "batches cancel",
];

test("every command that may have a reason is in these tables", async () => {
  const program = new Command();
  for (const load of Object.values(commands)) (await load())(program);
  const namesOf = (command: Command, above: string): string[] => {
    const name = `${above} ${command.name()}`.trim();
    const own = command.options.some(({ long }) => long === "--reason") ? [name] : [];
    return [...own, ...command.commands.flatMap((each) => namesOf(each, name))];
  };
  const acting = program.commands.flatMap((command) => namesOf(command, ""));
  const shown = new Set([...acts, ...storageActs].map(([, ...words]) => words.slice(0, 2).join(" ")));
  expect(acting.filter((name) => !shown.has(name)).toSorted()).toEqual(shownElsewhere.toSorted());
});

const auditLog = () =>
  createAccounts(
    rig.gateway.storage,
    { clock: Date.now, randomBytes: (size) => crypto.getRandomValues(new Uint8Array(size)) },
    "test",
  ).log;

test("an act on the storage has one row, by the user of the operating system", async () => {
  const log = auditLog();
  const last = async () => (await log.list({ limit: 1 }))[0];
  for (const [act, ...args] of storageActs) {
    const before = (await last())?.number ?? 0;
    await runJson(...args, "--reason", "a test");
    const actor = expect.stringMatching(/^cli:/) as string;
    expect(await last()).toMatchObject({ act, number: before + 1, actor, reason: "a test" });
  }
  expect((await log.verify()).fault).toBeUndefined();
});

test("each act has one row, with its caller, address, request and reason, and a dry run has none", async () => {
  const log = auditLog();
  const last = async () => (await log.list({ limit: 1 }))[0];
  let id = "";
  for (const [index, [act, ...args]] of acts.entries()) {
    const before = (await last())?.number ?? 0;
    const words = args.map((word) => (word === "ID" ? id : word));
    if (index % 7 === 0) await remoteJson(...words, "--dry-run", "--reason", "no");
    const answer = await remoteJson(...words, "--reason", `größe ${index}`);
    if (act.endsWith(".create")) id = String(answer["id"]);
    const row = await last();
    expect(row).toMatchObject({
      act,
      number: before + 1,
      actor: `token:${owner.split("_")[1]}`,
      address: "127.0.0.1",
      requestId: expect.stringMatching(/^req_/) as string,
      reason: `größe ${index}`,
    });
    expect(JSON.stringify(row)).not.toContain(typeof answer["token"] === "string" ? answer["token"] : "no secret");
  }
  expect((await log.verify()).fault).toBeUndefined();
});

test("lists and single things are the same from the storage", async () => {
  await runJson(
    "user",
    "create",
    "ben",
    "--organisation",
    (await remoteJson("organisation", "create", "labs"))["id"] as string,
  );
  const { id } = await remoteJson("token", "create", "--user", "ben");
  for (const words of [
    ["organisation", "show", "labs"],
    ["user", "list", "--organisation", "labs"],
    ["user", "show", "ben"],
    ["token", "list", "--user", "ben"],
    ["token", "show", String(id)],
    ["audit", "list", "--limit", "3"],
    ["audit", "verify"],
  ])
    expect(await remoteJson(...words)).toEqual(await runJson<Record<string, unknown>>(...words));
});

test("a file of people, and a token whose secret goes into a file", async () => {
  const [file, secrets, secret] = [join(folder, "people.csv"), join(folder, "tokens.csv"), join(folder, "secret")];
  writeFileSync(file, "name,token\neve,true\n");
  expect(await remoteJson("people", "apply", file, "--tokens", secrets)).toMatchObject({ created: ["eve"] });
  expect(readFileSync(secrets, "utf8")).toMatch(/^name,token_id,token\neve,(\w+),tg_\1_/);
  const made = await remoteJson("token", "create", "--user", "eve", "--file", secret);
  expect(made).toMatchObject({ user: "eve", token: null });
  expect(readFileSync(secret, "utf8")).toStartWith(`tg_${String(made["id"])}_`);
  expect(statSync(secret).mode & 0o777).toBe(0o600);
  // A member's own token by default, and nobody else's.
  const own = readFileSync(secret, "utf8").trim();
  expect((await remote(["user", "show", "eve", "--json"], own)).code).toBe(0);
  expect(await remote(["user", "disable", "root"], own)).toEqual({
    code: 1,
    stdout: "",
    stderr: "tollgate: The role member does not have this.\n",
  });
});

test.concurrent.each<[string[], Record<string, string>, RegExp]>([
  [["user", "list", "--server", "nonsense"], { TOLLGATE_TOKEN: "x" }, /^tollgate: --server: "nonsense" is no address/],
  [["user", "list", "--server", "http://127.0.0.1:1"], {}, /^tollgate: --server: set TOLLGATE_TOKEN/],
  [["user", "list", "--server", "http://127.0.0.1:1"], { TOLLGATE_TOKEN: "x" }, /^tollgate: http:\S+ is not reached/],
  [["user", "set", "x", "--server", "http://127.0.0.1:1"], { TOLLGATE_TOKEN: "x" }, /there is nothing to set/],
])("%p is refused in one line", async (args, variables, line) => {
  const { code, stdout, stderr } = await runCli(args, variables, folder);
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr.trimEnd().split("\n")).toHaveLength(1);
  expect(stderr).toMatch(line);
});

test("a row that is changed, removed or cut off is found, and named", async () => {
  const file = join(folder, "tampered.db");
  const storage = ["--storage", `sqlite:${file}`];
  for (const user of ["one", "two"]) await runCli(["token", "create", "--user", user, ...storage], {}, folder);
  const verify = async (): Promise<[number, string]> => {
    const { code, stdout } = await runCli(["audit", "verify", ...storage], {}, folder);
    return [code, stdout];
  };
  const tamper = (statement: string): void => {
    const database = new Database(file);
    for (const trigger of ["audit_is_never_changed", "audit_is_never_deleted"])
      database.run(`DROP TRIGGER IF EXISTS ${trigger}`);
    database.run(statement);
    database.close();
  };
  expect(await verify()).toEqual([0, "The audit log is whole: 4 rows.\n"]);
  tamper("UPDATE audit SET actor = 'cli:nobody' WHERE number = 3");
  expect(await verify()).toEqual([1, "The audit log is not whole: row 3 was changed, or a row before it.\n"]);
  tamper("DELETE FROM audit WHERE number >= 3");
  expect(await verify()).toEqual([1, "The audit log is not whole: row 3 is missing: the log ends at row 4.\n"]);
  tamper("DELETE FROM audit WHERE number = 1");
  expect(await verify()).toEqual([1, "The audit log is not whole: row 1 is missing: row 2 follows.\n"]);
});
