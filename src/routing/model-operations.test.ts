import { describe, expect, test } from "bun:test";
import type { ModelKind, PricedModality } from "../pricing/index.ts";
import { createProvider } from "../providers/index.ts";
import { operationsOf } from "./model-operations.ts";

const xai = createProvider({ kind: "xai", baseUrl: "https://x.example" });
const anthropic = createProvider({ kind: "anthropic", baseUrl: "https://a.example" });

const operations = (provider: typeof xai, kind: ModelKind | undefined, ...modalities: PricedModality[]) =>
  operationsOf(provider, { kind, modalities: new Set(modalities) });

const text = ["chat", "messages", "responses", "gemini"];

describe("the operations of a model", () => {
  test("are those of its kind that its provider has; text is translated", () => {
    expect(operations(anthropic, "chat", "text")).toEqual(text as never);
    expect(operations(xai, "transcription", "transcription")).toEqual(["transcription"]);
    expect(operations(xai, "image", "images", "text")).toEqual(["image_generation", "image_edit"]);
    expect(operations(anthropic, "image", "images")).toEqual([]);
    expect(operations(xai, "ocr", "text")).toEqual([]);
  });

  test("in no catalog follow from its price", () => {
    expect(operations(xai, undefined, "text", "embeddings", "speech")).toEqual(text as never);
    expect(operations(xai, undefined, "images")).toEqual(["image_generation", "image_edit"]);
    expect(operations(xai, undefined, "speech")).toEqual(["speech"]);
    expect(operations(anthropic, undefined, "speech")).toEqual([]);
  });
});
