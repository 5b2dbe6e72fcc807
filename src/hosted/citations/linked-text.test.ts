import { expect, test } from "bun:test";
import { LinkedText } from "./linked-text.ts";
import { Sources } from "./sources.ts";

const sources = new Sources();
sources.add({ url: "https://a.example/page", title: "A", text: "" });

test("a link to a source is a citation of the link, however it arrives; another link is none", () => {
  const text =
    "See ([a](https://a.example/page?utm_source=openai)) and [b](https://b.example/) and [a](https://a.example/page/).";
  for (const chunks of [[text], Array.from(text), text.match(/[^]{1,7}/g) ?? []]) {
    const linked = new LinkedText(sources);
    const found = chunks.flatMap((chunk) => linked.push(chunk)).map(({ start, end }) => text.slice(start, end));
    expect(found).toEqual(["[a](https://a.example/page?utm_source=openai)", "[a](https://a.example/page/)"]);
  }
});

test("places are those of a long text", () => {
  const linked = new LinkedText(sources);
  const before = "x ".repeat(5_000);
  linked.push(before);
  expect(linked.push("[a](https://a.example/page)")).toMatchObject([{ start: 10_000, end: 10_027 }]);
});
