import { expect, test } from "bun:test";
import { geminiTranslation } from "../index.ts";

const read = (members: object) =>
  geminiTranslation.readRequest({ model: "openai/x", contents: { parts: { text: "Hi" } }, ...members });

test("words that are names of every object's members are unknown words", () => {
  for (const word of ["constructor", "__proto__", "toString"]) {
    expect(read({ serviceTier: word }).serviceTier).toBeUndefined();
    const data = { inlineData: { mimeType: `audio/${word}`, data: "AAAA" } };
    const [turn] = read({ contents: { parts: data } }).turns;
    expect(turn?.parts).toMatchObject([{ kind: "audio", format: word.toLowerCase() }]);
  }
});
