import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigError, loadConfig, type LoadedConfig } from "../../config/index.ts";
import { Reloader, type ReloadRequest } from "./reloader.ts";
import { SourceWatch } from "./source-watch.ts";

let folder: string;
let file: string;
let key: string;
let applied: [config: LoadedConfig["config"], request: ReloadRequest][];
let needed: string[];
let fails: Error | undefined;
let logged: object[];

const yamlOf = (rest = ""): string =>
  `providers:\n  openai: { kind: openai, base_url: "https://api.openai.com/v1", api_key: "\${file:${key}}" }\n${rest}`;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tollgate-reload-"));
  [file, key] = [join(folder, "tollgate.yaml"), join(folder, "key")];
  writeFileSync(key, "sk-one\n");
  writeFileSync(file, yamlOf());
  [applied, needed, fails, logged] = [[], [], undefined, []];
});
afterEach(() => rmSync(folder, { recursive: true }));

function start(): Reloader {
  const read = ({ text }: { text?: string | undefined } = {}): LoadedConfig =>
    loadConfig({ file, variables: {}, text });
  return new Reloader({
    loaded: read(),
    read,
    apply(next, request) {
      if (fails !== undefined) return Promise.reject(fails);
      applied.push([next.config, request]);
      return Promise.resolve();
    },
    neededFrom: (prefixes) => Promise.resolve(prefixes.includes("openai") ? needed : []),
    logger: { info: (fields) => void logged.push(fields), error: (fields) => void logged.push(fields) },
  });
}

const other = `providers:\n  other: { kind: openai, base_url: "https://api.openai.com/v1", api_key: k }\n`;

describe("a reload", () => {
  test("puts the whole file into force, but for what needs a restart", async () => {
    const reloader = start();
    writeFileSync(file, yamlOf("pricing: { markup: 2 }\nserver: { port: 1 }\n"));
    expect(await reloader.reload()).toEqual({ ok: true, changed: ["pricing.markup"], need_restart: ["server.port"] });
    expect(applied).toMatchObject([[{ pricing: { markup: 2 }, server: { port: 8787 } }, {}]]);
    // It is named until it is restarted.
    expect(await reloader.reload()).toEqual({ ok: true, changed: [], need_restart: ["server.port"] });
  });

  test.each<[string, () => void, string]>([
    ["no YAML", () => writeFileSync(file, "a: ["), "tollgate.yaml"],
    ["an unknown key", () => writeFileSync(file, yamlOf("prices: {}\n")), "prices: unknown key"],
    ["a wrong value", () => writeFileSync(file, yamlOf("pricing: { markup: -1 }\n")), "pricing.markup: "],
    ["no file", () => rmSync(file), "cannot read the file"],
    ["no secret", () => rmSync(key), "providers.openai.api_key: cannot read the file"],
    ["an empty secret", () => writeFileSync(key, "\n"), "providers.openai.api_key: the file"],
    [
      "what can't be applied",
      () => (fails = new ConfigError("routing.routes.x", "no price")),
      "routing.routes.x: no price",
    ],
  ])("with %s changes nothing, and names the key", async (_title, spoil, reason) => {
    const reloader = start();
    const { loaded } = reloader;
    spoil();
    const { ok, error } = await reloader.reload();
    expect(ok).toBe(false);
    expect(error).toContain(reason);
    expect(reloader.loaded).toBe(loaded);
    expect(applied).toEqual([]);
    expect(JSON.stringify(logged)).not.toContain("sk-one");
  });

  test("that only compares changes nothing, and names what would change or why it would be refused", async () => {
    const reloader = start();
    const { loaded } = reloader;
    writeFileSync(file, yamlOf("pricing: { markup: 2 }\nserver: { port: 1 }\n"));
    expect(await reloader.check()).toEqual({ ok: true, changed: ["pricing.markup"], need_restart: ["server.port"] });
    writeFileSync(file, "a: [");
    expect(await reloader.check()).toMatchObject({
      ok: false,
      error: expect.stringContaining("tollgate.yaml") as string,
    });
    needed = ["stored answers of openai: 3"];
    writeFileSync(file, other);
    expect(await reloader.check()).toMatchObject({ ok: false });
    expect(await reloader.check({ force: true })).toMatchObject({ ok: true });
    expect([reloader.loaded, applied, logged]).toEqual([loaded, [], []]);
  });

  test("removes a provider that is needed only by force", async () => {
    const reloader = start();
    needed = ["stored answers of openai: 3"];
    writeFileSync(file, other);
    expect(await reloader.reload()).toMatchObject({
      ok: false,
      error: expect.stringContaining("stored answers of openai: 3") as string,
    });
    expect(await reloader.reload({ force: true })).toMatchObject({ ok: true });
    expect(Object.keys(applied[0]?.[0].providers ?? {})).toEqual(["other"]);
  });

  test("of a provider that others need no more, or that another has as its alias, needs no force", async () => {
    const reloader = start();
    writeFileSync(file, other);
    expect(await reloader.reload()).toMatchObject({ ok: true });
    needed = ["files of openai: 1"];
    writeFileSync(file, other.replace("api_key", "aliases: [openai], api_key"));
    expect(await reloader.reload()).toMatchObject({ ok: true });
  });

  test("of secrets alone leaves the file unread", async () => {
    const reloader = start();
    writeFileSync(file, yamlOf("pricing: { markup: 2 }\n"));
    writeFileSync(key, "sk-two");
    expect(await reloader.reload({ secretsOnly: true })).toMatchObject({ ok: true, changed: ["providers.openai"] });
    expect(applied).toMatchObject([[{ pricing: { markup: 1 }, providers: { openai: { api_key: "sk-two" } } }, {}]]);
    expect(await reloader.reload()).toMatchObject({ changed: ["pricing.markup"] });
  });

  test("waits for the one before", async () => {
    const reloader = start();
    const first = reloader.reload();
    writeFileSync(key, "sk-two");
    expect((await Promise.all([first, reloader.reload(), reloader.reload()])).map(({ ok }) => ok)).toEqual([
      true,
      true,
      true,
    ]);
    expect(applied).toHaveLength(3);
  });
});

describe("a watched file", () => {
  test("that has changed is reloaded once it stays as it is, and a refused one is not tried again at once", async () => {
    const reloader = start();
    let reloads = 0;
    const watch = new SourceWatch({
      inForce: () => reloader.loaded.secretFiles,
      async onChange() {
        reloads += 1;
        return (await reloader.reload({ secretsOnly: true })).ok;
      },
    });
    await watch.look();
    writeFileSync(key, "sk-t");
    await watch.look();
    writeFileSync(key, "sk-two");
    await watch.look();
    expect(reloads).toBe(0);
    await watch.look();
    expect([reloads, reloader.loaded.config.providers["openai"]?.api_key]).toEqual([1, "sk-two"]);
    rmSync(key);
    for (let looks = 0; looks < 5; looks += 1) await watch.look();
    expect([reloads, reloader.loaded.config.providers["openai"]?.api_key]).toEqual([2, "sk-two"]);
    writeFileSync(key, "sk-three");
    await watch.look();
    await watch.look();
    expect([reloads, reloader.loaded.config.providers["openai"]?.api_key]).toEqual([3, "sk-three"]);
  });
});
