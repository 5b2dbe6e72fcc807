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
    ["night train", ["/bus.html", "/report.pdf", "/train"]],
    ['"night train"', ["/bus.html", "/train"]],
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

  test("finds parts of addresses and titles, and alternatives", async () => {
    const cases: [string, string[]][] = [
      ["inurl:BUS", ["/bus.html"]],
      ["ten inurl:example.com/t", ["/train"]],
      ["ten -inurl:example", ["/report.pdf"]],
      ["inurl:100%_'", []],
      ["allinurl: docs train", ["/train"]],
      ["allintitle: night train", ["/train"]],
      ["night -intitle:train", ["/bus.html", "/report.pdf"]],
      ["sleeper OR grüße", ["/report.pdf", "/train"]],
      ["ten sleeper | late", ["/bus.html", "/train"]],
      ['ten "sleeper car" OR filetype:pdf', ["/report.pdf", "/train"]],
      ["ten intitle:bus OR site:other.org", ["/bus.html", "/report.pdf"]],
      ["ten inurl:bus OR grüße", ["/bus.html", "/report.pdf"]],
      ['inurl:nowhere OR "sleeper car"', ["/train"]],
      ['inurl:nowhere OR "car sleeper"', []],
      ["inurl:nowhere OR intitle:bob", []],
      ["inurl:nowhere OR cars", ["/bus.html", "/train"]],
      ["ten OR !", ["/bus.html", "/report.pdf", "/train"]],
      ['"!!!" OR sleeper', ["/train"]],
      ['sleeper OR "!!!" OR grüße', ["/report.pdf", "/train"]],
      ['sleeper "???"', ["/train"]],
    ];
    for (const [text, expected] of cases) expect([text, (await find(text)).toSorted()]).toEqual([text, expected]);
  });

  test("finds other forms of a word in the page's language", async () => {
    const cases: [string | undefined, string, readonly string[]][] = [
      ["en-GB", "The stations were flooded, happily rebuilt.", ["station", "flood", "stations flooding"]],
      ["de", "Züge fahren zu den Häusern.", ["Zug", "haus", "hausern", "fahrend"]],
      ["fr", "Les chevaux mangeaient des pommes.", ["manger", "pomme", "mangées"]],
      ["es", "Las canciones rápidas de la ciudad.", ["canción", "cancion", "rápido"]],
      ["it", "I gatti dormivano nelle case.", ["gatto", "casa", "dormire"]],
      ["pt-BR", "Os meninos corriam depressa.", ["menino", "correr"]],
      ["nl", "De treinen rijden door de steden.", ["trein", "treinen"]],
      ["ru", "Поезда идут в города.", ["поезд", "поездов", "город"]],
      [undefined, "Die Züge sind in der Stadt und fahren nicht zu dem Haus.", ["zug", "häuser"]],
      ["xx", "The stations were flooded and they are not open.", ["station"]],
    ];
    for (const [language, text, queries] of cases) {
      await store.put(page("/forms", { title: "x", language, text }));
      for (const query of queries) expect([query, await find(query)]).toEqual([query, ["/forms"]]);
    }
  });

  test("words in quotes and of titles are as written, and a stem is no word", async () => {
    await store.put(page("/forms", { title: "Stations", language: "en", text: "Stations were flooded." }));
    expect(await find("station")).toEqual(["/forms"]);
    expect(await find('"station"')).toEqual([]);
    expect(await find("intitle:station")).toEqual([]);
    expect(await find("intitle:stations")).toEqual(["/forms"]);
    expect(await find('"stem en station"')).toEqual([]);
    expect(await find('"flooded station"')).toEqual([]);
    expect(await find("station -flood")).toEqual(["/forms"]);
  });

  test("pages with all words come first, then the best of the others", async () => {
    await store.put(page("/all", { text: "zebra giraffe lion" }));
    await store.put(page("/two", { title: "zebra giraffe", text: "zebra giraffe" }));
    await store.put(page("/one", { title: "lion", text: "lion" }));
    expect((await find("zebra giraffe lion")).slice(0, 2)).toEqual(["/all", "/two"]);
    expect(await find("zebra giraffe lion")).toEqual(["/all", "/two", "/one"]);
    expect(await find('lion zebra "zebra giraffe"')).toEqual(["/all", "/two"]);
    expect(await find("lion zebra giraffe -intitle:zebra")).toEqual(["/all", "/one"]);
    const hits = await store.search({ owner: "alice", query: parseQuery("zebra giraffe lion"), limit: 2, at: T0 });
    expect(hits).toHaveLength(2);
  });

  test("the first words of a long query decide, each once, and a search ends with its time", async () => {
    const others = Array.from({ length: 300 }, (_, index) => `absent${index}`);
    expect(await find(["sleeper", ...others].join(" "))).toEqual(["/train"]);
    expect(await find([...others.slice(0, 40), "sleeper"].join(" "))).toEqual([]);
    expect(await find([...Array.from({ length: 40 }, () => "ABSENT"), "sleeper"].join(" "))).toEqual(["/train"]);
    const query = parseQuery("night");
    const late = { owner: "alice", query, limit: 9, at: T0, until: Date.now() - 60_000 };
    expect(await store.search(late)).toEqual([]);
    expect(await store.search({ ...late, until: Date.now() + 600_000 })).toHaveLength(3);
  });

  test("if nothing is found, a word is taken one letter off", async () => {
    for (const text of ["sleepr", "slepeer", "sleeeper", "sleeper", "zleeper", "sleeper qqqqqq"])
      expect([text, await find(text)]).toEqual([text, ["/train"]]);
    expect(await find("slpr")).toEqual([]);
    expect(await find("ten sleepr")).toContain("/train");
    expect(await find("sleepr filetype:pdf")).toEqual([]);
    expect(await find('"sleepr"')).toEqual([]);
    expect(await find("Bobs", "alice")).toEqual([]);
    await store.put(page("/moscow", { text: "Ночной поезд" }));
    expect(await find("ночнй")).toEqual(["/moscow"]);
  });

  test("pages are of the day on which they were published, or else read", async () => {
    const day = (text: string): number => Date.parse(`${text}T00:00:00Z`);
    await store.put(page("/old", { text: "comet", publishedAt: day("2001-02-03") }));
    await store.put(page("/new", { text: "comet", publishedAt: day("2020-02-03") + 3_600_000 }));
    await store.put(page("/read", { text: "comet", storedAt: day("2010-02-03") }));
    expect((await find("comet after:2010-02-03")).toSorted()).toEqual(["/new", "/read"]);
    expect((await find("comet before:2020-02-04")).toSorted()).toEqual(["/new", "/old", "/read"]);
    expect(await find("comet before:2010-02-03")).toEqual(["/old"]);
    expect(await find("comet after:2002-01-01 before:2011-01-01")).toEqual(["/read"]);
    const [hit] = await store.search({ owner: "alice", query: parseQuery("inurl:old"), limit: 1, at: T0 });
    expect(hit?.datedAt).toBe(day("2001-02-03"));
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
      "bib",
      "night OR bob",
      "inurl:bob OR bob",
      "inurl:org | intitle:bob",
      "sleeper bob night",
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
