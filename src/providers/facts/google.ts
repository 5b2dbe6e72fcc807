import { clientTools, effortAlone, type FactRow, toolNames } from "./row.ts";

/** Google's placeholder for a lost signature. */
const lostCallSignature = { google: { thought_signature: "skip_thought_signature_validator" } };

/** The limits of Google's OpenAI-compatible layer. */
export const googleRows: readonly FactRow[] = [
  {
    fact: "efforts",
    takes: { efforts: ["none", "minimal", "low", "medium", "high"] },
    rule: "efforts none to high",
    source: "gemini.md",
  },
  {
    fact: "sampling",
    takes: { refusedSampling: ["presence_penalty", "frequency_penalty", "seed"] },
    rule: "no penalties, no seed",
    source: "gemini.md",
  },
  {
    fact: "thoughts",
    models: ["gemini-1*", "gemini-2*"],
    takes: { thinkTags: true, lostCallSignature },
    rule: "a signature with the first call of a turn, which may be missing",
    source: "gemini.md",
  },
  {
    fact: "thoughts",
    takes: { thinkTags: true, lostCallSignature, needsCallSignature: true },
    rule: "a signature with the first call of a turn, or its placeholder",
    source: "gemini.md",
  },
  {
    fact: "images",
    takes: { inlineImages: true },
    rule: "images as data, not by their addresses",
    source: "gemini.md",
  },
  effortAlone("gemini.md"),
  clientTools([], "gemini.md"),
  toolNames(64, "gemini.md"),
];
