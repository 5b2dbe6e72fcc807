import { describe, expect, test } from "bun:test";
import { parseQuery, passes, queryText } from "./query.ts";

const none = {
  words: [],
  phrases: [],
  excluded: [],
  sites: [],
  excludedSites: [],
  filetypes: [],
  excludedFiletypes: [],
  titles: [],
};

test.each([
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

test("filters are told to an engine that knows them", () => {
  const text =
    'night "by train" -bus intitle:"sleeper car" site:a.org site:b.org -site:c.org filetype:pdf -filetype:doc';
  expect(queryText(parseQuery(text))).toBe(
    'night "by train" -bus intitle:"sleeper car" (site:a.org OR site:b.org) -site:c.org filetype:pdf -filetype:doc',
  );
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
])("a result is filtered after: %s", (text, expected) => {
  const hit = {
    url: "https://www.docs.example.com/a/Report.PDF?x=1",
    title: "The night train",
    description: "It has two sleeper cars.",
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
