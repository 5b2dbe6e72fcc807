/** The contract of every `TextIndexStore`, on either engine: the query filters, and that nobody finds another's pages. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Storage } from "../../src/storage/index.ts";
import { openStorage } from "../kit/storage.ts";
import { openWebStores, parseQuery, type TextIndexStore } from "../../src/web/index.ts";
import { type PostgresServer, startPostgres } from "../kit/index.ts";

let postgres: PostgresServer;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.stop());

const T0 = 2 ** 42;

describe.each([
  ["SQLite", () => Promise.resolve("sqlite::memory:")],
  ["Postgres", () => postgres.createDatabase()],
] as const)("the text index on %s", (_engine, newStorage) => {
  let storage: Storage;
  let store: TextIndexStore;

  const page = (path: string, rest: Partial<Parameters<TextIndexStore["put"]>[0]> = {}) => ({
    owner: "alice",
    key: path,
    url: `https://www.docs.example.com${path}`,
    title: "A page",
    description: "About nothing",
    text: "Words of a text",
    storedAt: T0,
    keptUntil: T0 + 100,
    ...rest,
  });

  beforeEach(async () => {
    storage = await openStorage(await newStorage());
    store = openWebStores(storage).textIndex;
    await store.put(page("/train", { title: "The night train", text: "It leaves at ten. The sleeper car is full." }));
    await store.put(
      page("/bus.html", { title: "The bus", text: "The bus passes the night train at ten, the car is late." }),
    );
    await store.put(
      page("/report.pdf", { title: "Report", url: "https://other.org/report.pdf", text: "Ten night trains, grüße." }),
    );
    await store.put(page("/train", { owner: "bob", title: "The night train of Bob", url: "https://bob.org/train" }));
  });
  afterEach(() => storage.close());

  const find = async (text: string, owner = "alice", at = T0): Promise<string[]> => {
    const hits = await store.search({ owner, query: parseQuery(text), limit: 10, at });
    return hits.map(({ url }) => new URL(url).pathname);
  };

  test.each<[string, string[]]>([
    ["night train", ["/bus.html", "/train"]],
    ["NIGHT", ["/bus.html", "/report.pdf", "/train"]],
    ["grüße", ["/report.pdf"]],
    ["the sleeper", ["/train"]],
    ["absent", []],
    ['"sleeper car"', ["/train"]],
    ['"car sleeper"', []],
    ["night -bus", ["/report.pdf", "/train"]],
    ['night -"sleeper car"', ["/bus.html", "/report.pdf"]],
    ["intitle:train", ["/train"]],
    ['intitle:"night train"', ["/train"]],
    ["ten site:example.com", ["/bus.html", "/train"]],
    ["ten site:other.org site:nowhere.org", ["/report.pdf"]],
    ["ten -site:example.com", ["/report.pdf"]],
    ["ten site:ample.com", []],
    ["ten -site:docs.example.com -site:other.org", []],
    ["ten site:com site:org", ["/bus.html", "/report.pdf", "/train"]],
    ['"night train" intitle:"the bus"', ["/bus.html"]],
    ['intitle:"bus the"', []],
    ["ten filetype:pdf", ["/report.pdf"]],
    ["ten filetype:pdf filetype:html", ["/bus.html", "/report.pdf"]],
    ["site:docs.example.com", ["/bus.html", "/train"]],
    ["-bus", ["/report.pdf", "/train"]],
    ["ten -filetype:pdf -filetype:html", ["/train"]],
    ["grusse", ["/report.pdf"]],
  ])("finds %s", async (text, expected) => {
    expect((await find(text)).toSorted()).toEqual(expected);
  });

  test.each<[string, string[]]>([
    ["москва", ["/world"]],
    ["МОСКВЕ", ["/world"]],
    ["ежик", ["/world"]],
    ["intitle:москва", ["/world"]],
    ["東京", ["/world"]],
    ["東京に行き", ["/world"]],
    ["京東", []],
    ["intitle:歴史", ["/world"]],
    ["night -東京", ["/bus.html", "/report.pdf", "/train"]],
    ["สวัสดี", ["/world"]],
    ["नमस्ते", ["/world"]],
    ["서울", ["/world"]],
    ["ZURICH", ["/world"]],
    ["zürich", ["/world"]],
    ["node.js", ["/world"]],
    ["3.14", ["/world"]],
    ["14.3", []],
    ["A.B.C", ["/world"]],
    ["foo_bar", ["/world"]],
    ["don't", ["/world"]],
    [`intitle:${"\ufdf0".repeat(480)}`, []],
  ])("finds %s in any script, however the database reads texts", async (text, expected) => {
    const words =
      "Ёжик в Москве. 私は東京に行きました。 สวัสดีชาวโลก नमस्ते दुनिया 서울 Zürich Node.js 3.14 A.B.C foo_bar don't";
    await store.put(page("/world", { title: "Москва 東京の歴史 night", text: words }));
    expect((await find(text)).toSorted()).toEqual(expected);
  });

  test("a title counts more than a text", async () => {
    expect(await find("bus")).toEqual(["/bus.html"]);
    await store.put(page("/mention", { text: "A bus, somewhere in a long text about other things." }));
    expect(await find("bus")).toEqual(["/bus.html", "/mention"]);
  });

  test("nobody finds another's pages, whatever the query contains", async () => {
    for (const text of [
      "bob",
      "site:bob.org",
      'owner : "6f626f62"',
      "o626f62",
      'night" OR "bob',
      "night) OR (bob",
      "title:bob",
      "':* | bob",
    ]) {
      expect(await find(text)).not.toContain("/train-of-bob");
      const hits = await store.search({ owner: "alice", query: parseQuery(text), limit: 10, at: T0 });
      expect(hits.filter(({ url }) => url.includes("bob.org"))).toEqual([]);
    }
    expect(await find("night", "bob")).toEqual(["/train"]);
    expect(await find("night", "carol")).toEqual([]);
  });

  test("a text that reads like the index's own marks changes no filter", async () => {
    const hex = Buffer.from("com.example.").toString("hex");
    const text = `ten site:com.example. s${hex} type:pdf e${Buffer.from("pdf").toString("hex")} title:train 'title:train'`;
    await store.put(page("/fake", { url: "https://fake.org/fake", text }));
    expect((await find("ten site:example.com")).toSorted()).toEqual(["/bus.html", "/train"]);
    expect(await find("ten filetype:pdf")).toEqual(["/report.pdf"]);
    expect(await find("intitle:train")).toEqual(["/train"]);
    expect(await find("ten site:it's\\")).toEqual([]);
  });

  test.each([
    "*",
    '"',
    "''",
    "AND",
    "NOT night",
    "a NEAR b",
    "(((",
    "\\",
    "^x",
    "{title}",
    "x:y",
    "%",
    "é",
    "\u{1f642}",
    "-",
    "night & !train | x",
  ])("survives %s", async (text) => {
    expect(Array.isArray(await find(text))).toBe(true);
  });

  test("a page is replaced, expires, and makes room", async () => {
    await store.put(page("/train", { title: "Renamed", text: "nothing else", storedAt: T0 + 1 }));
    expect(await find("sleeper")).toEqual([]);
    expect(await find("renamed")).toEqual(["/train"]);
    expect(await find("renamed", "alice", T0 + 100)).toEqual([]);
    await store.trim("alice", 1);
    expect((await find("site:example.com site:other.org")).toSorted()).toEqual(["/train"]);
    expect(await find("night", "bob")).toEqual(["/train"]);
    await store.deleteExpired(T0 + 100);
    expect(await find("renamed")).toEqual([]);
  });
});
