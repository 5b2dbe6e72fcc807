/** `tollgate webhooks secret`, and the source of the encryption's key. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStorage } from "../kit/storage.ts";
import { type PostgresServer, runCli, startPostgres, tablesWith } from "../kit/index.ts";

let postgres: PostgresServer;
let folder: string;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.stop());
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tollgate-secret-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const key = "the key of a test with more than 32 characters";

async function commandsOn(storage: string, variables: Record<string, string> = {}) {
  const run = (...args: string[]) => runCli([...args, "--storage", storage], variables, folder);
  expect((await run("token", "create", "--user", "alice")).code).toBe(0);
  return (...args: string[]) => run("webhooks", "secret", ...args);
}

describe("on SQLite", () => {
  const storage = (): string => `sqlite:${join(folder, "t.db")}`;

  test("the secret of a renamed user is one, by the new name and by the id", async () => {
    const secret = await commandsOn(storage());
    const first = await secret("--user", "alice", "--json");
    expect((await runCli(["user", "rename", "alice", "anna", "--storage", storage()], {}, folder)).code).toBe(0);
    const again = await secret("--user", "anna", "--rotate", "--json");
    expect(JSON.parse(again.stdout)).toMatchObject({
      user: "anna",
      user_id: "alice",
      previous_signs_until: expect.stringMatching(/Z$/) as string,
    });
    expect(first.code).toBe(0);
  });

  test("a secret is printed once and stored encrypted, with a key file beside the database", async () => {
    const secret = await commandsOn(storage());
    const made = await secret("--user", "alice");
    expect(made.code).toBe(0);
    expect(made.stdout).toMatch(/^whsec_[A-Za-z0-9+/]{43}=\n$/);
    expect(made.stderr).toBe("It is shown only now. Webhook secret of alice.\n");
    const file = join(folder, "t.db.key");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const opened = await openStorage(storage());
    expect(await tablesWith(opened, made.stdout.trim().slice("whsec_".length))).toEqual([]);
    expect(await tablesWith(opened, (await Bun.file(file).text()).trim())).toEqual([]);
    await opened.close();

    const again = await secret("--user", "alice");
    expect(again).toEqual({
      code: 1,
      stdout: "",
      stderr: "tollgate: user alice has a webhook secret, which can't be shown again; --rotate replaces it\n",
    });
    const rotated = await secret("--user", "alice", "--rotate", "--json");
    expect([rotated.code, rotated.stderr]).toEqual([0, ""]);
    const { secret: second, ...rest } = JSON.parse(rotated.stdout) as Record<string, string>;
    expect(second).not.toBe(made.stdout.trim());
    const day = Date.parse(rest["previous_signs_until"] ?? "") - Date.now();
    expect(Object.keys(rest)).toEqual(["user", "user_id", "previous_signs_until"]);
    expect(day / 3_600_000).toBeCloseTo(24, 0);
  });

  test("a key from the environment makes no file", async () => {
    const secret = await commandsOn(storage(), { TOLLGATE_SECRET_KEY: key });
    expect((await secret("--user", "alice", "--json")).code).toBe(0);
    expect(existsSync(join(folder, "t.db.key"))).toBe(false);
  });

  test("an unknown user, and a key that is too short, are refused", async () => {
    const secret = await commandsOn(storage());
    expect(await secret("--user", "nobody")).toMatchObject({ code: 1, stderr: "tollgate: there is no user nobody\n" });
    writeFileSync(join(folder, "tollgate.yaml"), "webhooks: { encryption_key: short }\n");
    const { code, stderr } = await secret("--user", "alice");
    expect([code, stderr]).toEqual([
      1,
      "tollgate: config: webhooks.encryption_key: use at least 32 random characters, as of openssl rand -base64 32\n",
    ]);
  });
});

describe("on Postgres", () => {
  test("a secret needs a key from the operator", async () => {
    const url = await postgres.createDatabase();
    const without = await commandsOn(url);
    const refused = await without("--user", "alice");
    expect([refused.code, refused.stderr]).toEqual([
      1,
      "tollgate: on Postgres webhook secrets need a key: set webhooks.encryption_key or TOLLGATE_SECRET_KEY\n",
    ]);
    const secret = await commandsOn(url, { TOLLGATE_SECRET_KEY: key });
    const made = await secret("--user", "alice", "--json");
    expect(JSON.parse(made.stdout)).toMatchObject({ user: "alice", previous_signs_until: null });
  });
});
