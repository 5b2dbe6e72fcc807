import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { type EncryptionKey, encryptionKey } from "./encryption-key.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tollgate-key-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const besideFile = (): EncryptionKey =>
  encryptionKey({ configured: "", storage: { engine: "sqlite", file: join(folder, "t.db") }, randomBytes });

test("the configured key is used on either engine, and no file is made", () => {
  for (const engine of ["sqlite", "postgres"] as const) {
    const key = encryptionKey({ configured: "own", storage: { engine, file: join(folder, "t.db") }, randomBytes });
    expect([key.find(), key.findOrMake()]).toEqual(["own", "own"]);
  }
  expect(readdirSync(folder)).toEqual([]);
});

test("beside SQLite's file it is made once, for its owner only", () => {
  expect(besideFile().find()).toBeUndefined();
  const made = besideFile().findOrMake();
  expect(Buffer.from(made ?? "", "base64")).toHaveLength(32);
  expect([besideFile().find(), besideFile().findOrMake()]).toEqual([made, made]);
  expect(readdirSync(folder)).toEqual(["t.db.key"]);
  expect(statSync(join(folder, "t.db.key")).mode & 0o777).toBe(0o600);
});

test("processes that make it at the same time agree on one", async () => {
  const script = `
    import { randomBytes } from "node:crypto";
    import { encryptionKey } from "${import.meta.dir}/encryption-key.ts";
    const storage = { engine: "sqlite", file: ${JSON.stringify(join(folder, "t.db"))} };
    console.log(encryptionKey({ configured: "", storage, randomBytes }).findOrMake());
  `;
  const made = await Promise.all(
    Array.from({ length: 4 }, () => {
      const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe", stderr: "inherit" });
      return new Response(child.stdout).text();
    }),
  );
  expect(new Set(made.map((text) => text.trim()))).toEqual(new Set([besideFile().find() ?? ""]));
  expect(readdirSync(folder)).toEqual(["t.db.key"]);
});

test("Postgres has none unless it is configured, and a database in memory has its own", () => {
  const onPostgres = encryptionKey({ configured: "", storage: { engine: "postgres" }, randomBytes });
  expect([onPostgres.find(), onPostgres.findOrMake()]).toEqual([undefined, undefined]);
  const inMemory = encryptionKey({ configured: "", storage: { engine: "sqlite" }, randomBytes });
  expect(inMemory.find()).toBeUndefined();
  expect(inMemory.findOrMake()).toBe(inMemory.find() ?? "");
});

test("a folder that can't be written fails without a half-made file", () => {
  // The superuser may write everywhere.
  if (process.getuid?.() === 0) return;
  chmodSync(folder, 0o500);
  expect(() => besideFile().findOrMake()).toThrow();
  expect(existsSync(join(folder, "t.db.key"))).toBe(false);
  chmodSync(folder, 0o700);
});
