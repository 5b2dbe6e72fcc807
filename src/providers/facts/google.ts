import { clientTools, effortAlone, type FactRow, toolNames } from "./row.ts";

/** Google's placeholder for a lost signature. */
export const lostCallSignature = { google: { thought_signature: "skip_thought_signature_validator" } };

/** The limits of Google's OpenAI-compatible layer, and of its own API where that has them too. */
export const googleRows: readonly FactRow[] = [
  {
    fact: "efforts",
    dialects: ["chat"],
    takes: { efforts: ["none", "minimal", "low", "medium", "high"] },
    rule: "efforts none to high",
    source: "gemini.md",
  },
  {
    fact: "sampling",
    dialects: ["chat"],
    takes: { refusedSampling: ["presence_penalty", "frequency_penalty", "seed"] },
    rule: "no penalties, no seed",
    source: "gemini.md",
  },
  {
    fact: "thoughts",
    dialects: ["chat"],
    models: ["gemini-1*", "gemini-2*"],
    takes: { thinkTags: true, lostCallSignature },
    rule: "a signature with the first call of a turn, which may be missing",
    source: "gemini.md",
  },
  {
    fact: "thoughts",
    dialects: ["chat"],
    takes: { thinkTags: true, lostCallSignature, needsCallSignature: true },
    rule: "a signature with the first call of a turn, or its placeholder",
    source: "gemini.md",
  },
  {
    fact: "images",
    takes: { inlineImages: true },
    rule: "images as data, not by their addresses (a Gemini client's own are Google's to fetch)",
    source: "gemini.md",
  },
  effortAlone("gemini.md"),
  clientTools([], "gemini.md"),
  toolNames(64, "gemini.md"),
];
