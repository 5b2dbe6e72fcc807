import { afterEach, beforeEach, describe, expect, jest, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { limits } from "../../core/index.ts";
import type { Storage } from "../../storage/index.ts";
import { openStorage } from "../../../test/kit/storage.ts";
import { PriceBook } from "../price-book.ts";
import { openCatalogStore } from "../sql/open.ts";
import { OperatorCatalog } from "./operator-catalog.ts";

const HOUR = 3_600_000;
const address = "https://prices.example/catalog.json?key=secret";

let storage: Storage;
let folder: string;
let now: number;
let logged: [level: string, fields: Record<string, unknown>, message: string][];
let answer: () => Response | Promise<Response>;
let fetched: number;
let opened: OperatorCatalog[];

beforeEach(async () => {
  jest.useFakeTimers();
  storage = await openStorage("sqlite::memory:");
  folder = mkdtempSync(join(tmpdir(), "tollgate-prices-"));
  now = Date.UTC(2026, 10, 24, 12);
  logged = [];
  fetched = 0;
  answer = () => new Response("", { status: 500 });
  opened = [];
});
afterEach(async () => {
  jest.useRealTimers();
  for (const catalog of opened) catalog.close();
  await storage.close();
  rmSync(folder, { recursive: true });
});

async function open(location: string): Promise<OperatorCatalog> {
  const log =
    (level: string) =>
    (fields: object, message: string): void => {
      logged.push([level, { ...fields }, message]);
    };
  const catalog = await OperatorCatalog.open({
    location,
    refreshMs: 6 * HOUR,
    store: openCatalogStore(storage),
    fetch: async () => {
      fetched += 1;
      return answer();
    },
    clock: () => now,
    log: { info: log("info"), warn: log("warn") },
  });
  opened.push(catalog);
  return catalog;
}

/** Lets time pass, and everything that is due finish. */
async function advance(milliseconds: number): Promise<void> {
  now += milliseconds;
  jest.advanceTimersByTime(milliseconds);
  for (let turn = 0; turn < 20; turn += 1) await new Promise<void>((resolve) => setImmediate(resolve));
}

const catalogOf = (input: number, name = "gpt-4o"): string =>
  JSON.stringify({
    format: 1,
    providers: { openai: { models: { [name]: { prices: { input_mtok: input, output_mtok: 9 }, source: "a test" } } } },
  });

/** The price of input tokens in force, and its layer. */
function priceOf(catalog: OperatorCatalog, model = "gpt-4o"): [input: unknown, layer: string] | undefined {
  const price = catalog.layers.find("openai", model, now);
  return price && [price.table.input_mtok, price.layer];
}

const SHOWN = "catalog https://prices.example/catalog.json";

describe("a catalog at an address", () => {
  test("lies over the built-in one, model by model, and its layer does not show the query", async () => {
    answer = () => new Response(catalogOf(1));
    const catalog = await open(address);
    expect(priceOf(catalog)).toEqual([1, SHOWN]);
    expect(priceOf(catalog, "gpt-4o-mini")).toEqual([0.15, "built-in"]);
    expect(logged).toEqual([
      ["info", { catalog: "https://prices.example/catalog.json" }, "a price catalog is in force"],
    ]);
    const book = new PriceBook({
      operatorPrices: { "openai/gpt-4o": { output_mtok: 2 } },
      unpriced: "refuse",
      catalogs: catalog.layers,
      clock: () => now,
    });
    const priced = book.lookup({ id: "openai/gpt-4o", model: "gpt-4o", priceProvider: "openai" });
    expect(priced).toMatchObject({
      source: "config",
      rates: { input: { base: 10n ** 9n }, output: { base: 2n * 10n ** 9n } },
    });
  });

  test("is read again on its interval", async () => {
    answer = () => new Response(catalogOf(1));
    const catalog = await open(address);
    answer = () => new Response(catalogOf(2));
    await advance(6 * HOUR - 1);
    expect(priceOf(catalog)).toEqual([1, SHOWN]);
    await advance(1);
    expect(priceOf(catalog)).toEqual([2, SHOWN]);
    await advance(6 * HOUR);
    expect(fetched).toBe(3);
    // Content that is unchanged is not announced.
    expect(logged).toHaveLength(2);
  });

  test.each<[string, () => Response | Promise<Response>, string]>([
    ["is no JSON", () => new Response("<html>"), "it is no JSON: "],
    ["lacks its format", () => new Response("{}"), "format: "],
    [
      "has an unknown key",
      () => new Response(catalogOf(3).replace("output_mtok", "output")),
      "providers.openai.models.gpt-4o.prices",
    ],
    ["has a negative price", () => new Response(catalogOf(-3)), "providers.openai.models.gpt-4o.prices"],
    [
      "lists a name twice",
      () => new Response(catalogOf(3).replace('"prices"', '"aliases":["gpt-4o"],"prices"')),
      "providers.openai.models.gpt-4o: is listed twice",
    ],
    ["is missing", () => new Response("", { status: 404 }), "its address answered 404"],
    [
      "has moved",
      () => new Response("", { status: 302, headers: { location: "https://elsewhere.example" } }),
      "its address answered 302",
    ],
    ["cannot be reached", () => Promise.reject(new Error("refused")), "it cannot be read: refused"],
    ["is too long", () => new Response(" ".repeat(limits.priceCatalogBytesMax + 1)), "it is longer than "],
  ])("that %s is refused with its reason, and the previous one stays", async (_title, bad, reason) => {
    answer = () => new Response(catalogOf(1));
    const catalog = await open(address);
    answer = bad;
    await advance(6 * HOUR);
    expect(priceOf(catalog)).toEqual([1, SHOWN]);
    const [level, fields, message] = logged[1] ?? [];
    expect([level, message]).toEqual(["warn", "the price catalog was refused; the previous one stays in force"]);
    expect(String(fields?.["reason"])).toStartWith(reason);
    expect(JSON.stringify(logged)).not.toContain("secret");
    // It is tried again soon.
    answer = () => new Response(catalogOf(2));
    await advance(10 * 60_000);
    expect(priceOf(catalog)).toEqual([2, SHOWN]);
  });

  test("that never answers is given up after ten seconds", async () => {
    answer = () => Promise.reject(new DOMException("The operation timed out.", "TimeoutError"));
    const catalog = await open(address);
    expect(priceOf(catalog)).toEqual([2.5, "built-in"]);
    expect(logged.map(([, , message]) => message)).toEqual([
      "the price catalog was refused; the built-in one alone is in force",
    ]);
  });
});

describe("the last good catalog", () => {
  test("is stored, and used at once by the next start, without a request while it is young", async () => {
    answer = () => new Response(catalogOf(1));
    (await open(address)).close();
    answer = () => Promise.reject(new Error("unreachable"));
    now += HOUR;
    const next = await open(address);
    expect(fetched).toBe(1);
    expect(priceOf(next)).toEqual([1, SHOWN]);
    // It was read an hour ago, so it is due in five hours.
    await advance(5 * HOUR - 1);
    expect(fetched).toBe(1);
    await advance(1);
    expect(fetched).toBe(2);
    expect(priceOf(next)).toEqual([1, SHOWN]);
  });

  test("is used by the next start even if it is old, while its address is asked again", async () => {
    answer = () => new Response(catalogOf(1));
    (await open(address)).close();
    now += 48 * HOUR;
    answer = () => new Response(catalogOf(2));
    const next = await open(address);
    expect(priceOf(next)).toEqual([1, SHOWN]);
    await advance(1);
    expect(priceOf(next)).toEqual([2, SHOWN]);
  });

  test("is not replaced by a bad one", async () => {
    answer = () => new Response(catalogOf(1));
    const first = await open(address);
    answer = () => new Response("{");
    await advance(6 * HOUR);
    first.close();
    expect(priceOf(await open(address))).toEqual([1, SHOWN]);
  });

  test("of another location is not used", async () => {
    answer = () => new Response(catalogOf(1));
    (await open(address)).close();
    answer = () => Promise.reject(new Error("unreachable"));
    const other = await open("https://other.example/catalog.json");
    expect(priceOf(other)).toEqual([2.5, "built-in"]);
  });
});

describe("a catalog in a file", () => {
  test("is read at each start and on the interval", async () => {
    const file = join(folder, "prices.json");
    writeFileSync(file, catalogOf(1));
    const catalog = await open(file);
    expect(priceOf(catalog)).toEqual([1, `catalog ${file}`]);
    writeFileSync(file, catalogOf(2));
    const restarted = await open(file);
    expect(priceOf(restarted)).toEqual([2, `catalog ${file}`]);
    expect(fetched).toBe(0);
  });

  test("that is bad is refused, and the stored one is used", async () => {
    const file = join(folder, "prices.json");
    writeFileSync(file, catalogOf(1));
    (await open(file)).close();
    writeFileSync(file, "not a catalog");
    expect(priceOf(await open(file))).toEqual([1, `catalog ${file}`]);
    expect(logged.at(-1)?.[2]).toBe("the price catalog was refused; the previous one stays in force");
  });

  test("that is missing leaves the built-in one", async () => {
    expect(priceOf(await open(join(folder, "missing.json")))).toEqual([2.5, "built-in"]);
    expect(String(logged[0]?.[1]["reason"])).toStartWith("it cannot be read: ENOENT");
  });
});

test("the built-in catalog has the format of an operator's", async () => {
  const builtIn = Bun.file(new URL("../catalog/catalog.json", import.meta.url));
  const text = await builtIn.text();
  answer = () => new Response(text);
  expect(priceOf(await open(address))).toEqual([2.5, SHOWN]);
});

describe("a catalog that another process has read", () => {
  test("is taken within seconds, and read again when that one would", async () => {
    answer = () => new Response(catalogOf(1));
    const one = await open(address);
    await advance(HOUR);
    const other = await open(address);
    expect([fetched, one.hash]).toEqual([1, other.hash]);
    answer = () => new Response(catalogOf(2));
    await advance(HOUR);
    await one.refresh();
    expect([priceOf(one), priceOf(other)]).toEqual([
      [2, SHOWN],
      [1, SHOWN],
    ]);
    await advance(5_000);
    expect([fetched, priceOf(other), other.hash]).toEqual([2, [2, SHOWN], one.hash]);
    // It would have been read after six hours.
    await advance(5 * HOUR);
    expect(fetched).toBe(2);
  });

  test("of another location is none of its own, and a storage that fails leaves it as it is", async () => {
    answer = () => new Response(catalogOf(1));
    const one = await open(address);
    await openCatalogStore(storage).put("https://elsewhere.example", { text: catalogOf(3), readAt: now + 1 });
    await advance(5_000);
    expect(priceOf(one)).toEqual([1, SHOWN]);
    await openCatalogStore(storage).put(address, { text: "no catalog", readAt: now + 1 });
    await advance(5_000);
    await advance(5_000);
    expect([priceOf(one), logged.filter(([level]) => level === "warn").length]).toEqual([[1, SHOWN], 1]);
  });
});
