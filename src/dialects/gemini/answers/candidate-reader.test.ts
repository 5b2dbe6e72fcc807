import { expect, test } from "bun:test";
import type { AnswerEvent } from "../../conversation/index.ts";
import { CandidateReader } from "./candidate-reader.ts";

const context = { origin: "google", callId: "1", model: "gemini-3-pro", readUsage: () => undefined };

function eventsOf(chunks: readonly object[]): string[] {
  const reader = new CandidateReader(0, context);
  const events: AnswerEvent[] = [];
  for (const chunk of chunks) reader.read({ ...chunk }, events);
  return events.map((event) => (event.type === "block-start" ? `start ${event.block.kind}` : event.type));
}

const parts = (...all: object[]) => ({ content: { parts: all } });
const pages = { groundingMetadata: { groundingChunks: [{ web: { uri: "https://a.example", title: "a" } }] } };

test("pages that come after the signature behind a text belong to the text", () => {
  const whole = ["start text", "delta", "citation", "block-end", "start reasoning", "signature", "block-end", "stop"];
  expect(eventsOf([parts({ text: "a", thoughtSignature: "c2ln" }), pages, { finishReason: "STOP" }])).toEqual(whole);
  expect(
    eventsOf([
      parts({ text: "a" }),
      { ...parts({ text: "", thoughtSignature: "c2ln" }), ...pages },
      { finishReason: "STOP" },
    ]),
  ).toEqual(whole);
  expect(eventsOf([{ ...parts({ text: "a", thoughtSignature: "c2ln" }), ...pages, finishReason: "STOP" }])).toEqual(
    whole,
  );
});

test("more content ends the text with its signature", () => {
  expect(
    eventsOf([
      parts({ text: "a", thoughtSignature: "c2ln" }, { text: "" }),
      parts({ text: "b", thoughtSignature: "c2lo" }),
      { finishReason: "STOP" },
    ]).filter((name) => name.startsWith("start") || name === "signature"),
  ).toEqual(["start text", "start reasoning", "signature", "start text", "start reasoning", "signature"]);
});
