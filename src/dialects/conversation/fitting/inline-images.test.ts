import { expect, test } from "bun:test";
import { translations } from "../../index.ts";
import { fetchedTextBytes, imageAddresses, withFetchedImages } from "./inline-images.ts";

test("a document that several parts have is decoded once, and counts in each", () => {
  const url = "https://a.test/notes";
  const document = { type: "document", source: { type: "url", url } };
  const content = [document, document, { type: "text", text: "Read them." }, document];
  const conversation = translations.messages.readRequest({
    model: "a",
    max_tokens: 9,
    messages: [{ role: "user", content }],
  });
  expect(imageAddresses(conversation, ["file"])).toMatchObject([{ url, at: "messages.0.content.0", uses: 3 }]);
  const data = Buffer.from("a note").toString("base64");
  const source = { kind: "base64", mediaType: "text/plain", data } as const;
  const images = new Map([[url, { source, uses: 3 }]]);
  const parts = withFetchedImages(conversation, images).turns.flatMap((turn) => turn.parts);
  const sources = parts.flatMap((part) => (part.kind === "file" ? [part.source] : []));
  expect(sources).toEqual([1, 2, 3].map(() => ({ kind: "text", text: "a note" })));
  expect(new Set(sources).size).toBe(1);
  expect(fetchedTextBytes(images)).toBe(3 * "a note".length);
});
