import { describe, expect, test } from "bun:test";
import { passes } from "./passes.ts";
import { parseQuery } from "./query.ts";
import { datesText, queryText } from "./query-text.ts";

const none = {
  words: [],
  phrases: [],
  excluded: [],
  sites: [],
  excludedSites: [],
  filetypes: [],
  excludedFiletypes: [],
  titles: [],
  excludedTitles: [],
  addresses: [],
  excludedAddresses: [],
  alternatives: [],
  ignored: [],
};

const word = (text: string) => ({ kind: "word" as const, text });

test.each<[string, object]>([
  ["night train", { words: ["night", "train"] }],
  ['"night train" sleeper', { phrases: ["night train"], words: ["sleeper"] }],
  ['train -bus -"by car"', { words: ["train"], excluded: ["bus", "by car"] }],
  ["site:https://www.Example.com/a train", { sites: ["example.com"], words: ["train"] }],
  ["-site:*.example.com x", { excludedSites: ["example.com"], words: ["x"] }],
  ["filetype:.PDF filetype:docx", { filetypes: ["pdf", "docx"] }],
  ['intitle:train intitle:"night train"', { titles: ["train", "night train"] }],
  ['unclosed "quote', { words: ["unclosed", '"quote'] }],
  ['- site: ""', { words: ["-"] }],
  [
    "site:Bücher.example. -site:example.org:8080/x",
    { sites: ["xn--bcher-kva.example"], excludedSites: ["example.org"] },
  ],
  ["-filetype:pdf filetype:tar.gz filetype:.", { excludedFiletypes: ["pdf"], filetypes: ["gz"] }],
  ["night OR day train", { words: ["train"], alternatives: [[word("night"), word("day")]] }],
  [
    'a b|"c d" | intitle:e OR inurl:/f g',
    {
      words: ["a", "g"],
      alternatives: [
        [word("b"), { kind: "phrase", text: "c d" }, { kind: "title", text: "e" }, { kind: "address", text: "/f" }],
      ],
    },
  ],
  ["OR night OR", { words: ["night"] }],
  ["night or day", { words: ["night", "or", "day"] }],
  ['"a|b OR c"', { phrases: ["a|b OR c"] }],
  ["site:a.org OR site:b.org x", { sites: ["a.org", "b.org"], words: ["x"] }],
  ["a OR -b c", { words: ["a", "c"], excluded: ["b"] }],
  ["a OR after:2024-01-02", { words: ["a"], since: Date.UTC(2024, 0, 2) }],
  ['intitle: train intitle: "night train" x', { titles: ["train", "night train"], words: ["x"] }],
  ["site: example.com the site: nothing", { sites: ["example.com"], words: ["the", "site:", "nothing"] }],
  [
    "inurl:Blog -inurl:tag -intitle:old x",
    { addresses: ["Blog"], excludedAddresses: ["tag"], excludedTitles: ["old"], words: ["x"] },
  ],
  ["allintitle: night train site:a.org x", { titles: ["night", "train"], sites: ["a.org"], words: ["x"] }],
  ["x allinurl:blog -2024", { words: ["x"], addresses: ["blog"], excludedAddresses: ["2024"] }],
  ["after:2024-02-28 before:2024-03-01", { since: Date.UTC(2024, 1, 28), until: Date.UTC(2024, 2, 1) }],
  ["after:2024-02-30 before:soon x", { ignored: ["after:2024-02-30", "before:soon"], words: ["x"] }],
  ["related:example.com -link:a.org x", { ignored: ["related:example.com", "-link:a.org"], words: ["x"] }],
  ['intitle:"!" -"?" site:"/" filetype:"-" x', { words: ["x"] }],
])("%s is read", (text, expected) => {
  const { words, ...rest } = parseQuery(text);
  const { words: expectedWords = [], ...others } = expected as Partial<typeof none>;
  expect(rest).toEqual({ ...none, ...others, words: undefined } as never);
  if (text !== '- site: ""') expect(words).toEqual([...expectedWords]);
});

describe("nothing in a query is a command of the engine", () => {
  test.each([
    ["!images cats", "images cats"],
    ["cats !!wp :de <3 ?x", "cats wp de 3 x"],
    ['"a !wp b"', '"a wp b"'],
    ["-!wp", "-wp"],
    ['intitle:"!wp x"', 'intitle:"wp x"'],
    ["!!!", ""],
    ['"!wp cats', "wp cats"],
    ['cats !"!"!wp', "cats wp"],
    ['site:"a.org !wp b"', "site:a.org"],
    ['filetype:"pdf !wp"', "filetype:wp"],
    ["cats\u001c!wp\u0085:de", "cats wp de"],
    ['intitle:"!" site: cats', "cats"],
  ])("%s", (text, expected) => {
    expect(queryText(parseQuery(text))).toBe(expected);
  });
});

test("an engine that knows filters gets them", () => {
  const text =
    'night (day OR "by sea") "by train" -bus intitle:"sleeper car" site:a.org site:b.org -site:c.org filetype:pdf -filetype:doc inurl:x after:2024-01-02 related:a.org';
  expect(queryText(parseQuery(text))).toBe(
    'night "by train" (day OR "by sea") -bus intitle:"sleeper car" inurl:x (site:a.org OR site:b.org) -site:c.org filetype:pdf -filetype:doc',
  );
  expect(datesText(parseQuery("a after:2024-01-02 before:2024-02-03"))).toBe("after:2024-01-02 before:2024-02-03");
});

test.each([
  ["site:example.com", true],
  ["site:docs.example.com", true],
  ["site:ample.com", false],
  ["-site:example.com", false],
  ["filetype:pdf", true],
  ["filetype:html", false],
  ["-filetype:pdf", false],
  ["-filetype:html", true],
  ["intitle:train", true],
  ["intitle:trai", false],
  ["-sleeper", false],
  ["-sleep", true],
  ['-"two sleeper cars"', false],
  ["inurl:REPORT", true],
  ["inurl:docs.example", true],
  ["inurl:beach", false],
  ["-inurl:report", false],
  ["allinurl: a report", true],
  ["allintitle: night bus", false],
  ["intitle:bus OR filetype:pdf", true],
  ["intitle:bus | inurl:beach", false],
  ["bus OR sleeper", true],
  ["after:2024-05-02", true],
  ["after:2024-05-03", false],
  ["before:2024-05-02", false],
  ["before:2024-05-03", true],
])("a result is filtered after: %s", (text, expected) => {
  const hit = {
    url: "https://www.docs.example.com/a/Report.PDF?x=1",
    title: "The night train",
    description: "It has two sleeper cars.",
    datedAt: Date.UTC(2024, 4, 2, 12),
  };
  expect(passes(parseQuery(text), hit)).toBe(expected);
});

test.each([
  ["intitle:cafe", "Das Café", true],
  ["intitle:café", "Das cafe\u0301", true],
  ["intitle:strasse", "Die Straße", true],
  ["intitle:ежик", "ЁЖИК", true],
  ["intitle:東京", "私の東京タワー", true],
  ["intitle:京東", "私の東京タワー", false],
  ["-東京", "私の東京タワー", false],
  ["intitle:नमस्ते", "नमस्ते दुनिया", true],
  ["intitle:नमस", "नमस्ते दुनिया", false],
])("words are compared in any script: %s with %s", (text, title, expected) => {
  expect(passes(parseQuery(text), { url: "https://example.com/", title, description: "" })).toBe(expected);
});

test("a result that is no page does not pass", () => {
  const hit = { title: "", description: "" };
  for (const url of ["javascript:alert(1)", "ftp://a.org/", "nothing"])
    expect(passes(parseQuery("x"), { ...hit, url })).toBe(false);
});
