import type { ProviderCorrections } from "./correction.ts";

const pricing = "https://mistral.ai/pricing/api";

export const mistral: ProviderCorrections = {
  corrections: [
    // Mistral's page of Voxtral Mini Transcribe: 0.002 a minute.
    {
      names: ["voxtral-mini-transcribe-2507"],
      source: "https://docs.mistral.ai/models/voxtral-mini-transcribe-25-07",
      kind: "transcription",
      prices: { input_audio_hours: 0.12 },
    },
    {
      names: ["open-mistral-nemo", "open-mistral-nemo-2407", "mistral-nemo"],
      source: "Mistral's price list since September 2024",
      prices: { input_mtok: 0.15, output_mtok: 0.15 },
    },
    {
      names: ["magistral-medium-2506", "magistral-medium-2507", "magistral-medium-2509"],
      source: `${pricing} (the retired snapshots; the name "latest" has moved to Mistral Medium 3.5)`,
      prices: { input_mtok: 2, output_mtok: 5 },
    },
    {
      names: ["magistral-small-2506", "magistral-small-2507", "magistral-small-2509"],
      source: `${pricing} (the retired snapshots; the name "latest" has moved to Mistral Small 4)`,
      prices: { input_mtok: 0.5, output_mtok: 1.5 },
    },
    {
      names: ["mistral-moderation-latest", "mistral-moderation-2411", "mistral-moderation-2603"],
      source: pricing,
      kind: "moderation",
      prices: { input_mtok: 0.1 },
    },
    {
      names: ["mixtral-8x22b-instruct"],
      source: "a name of resellers, which Mistral's API does not have",
      prices: [],
    },
  ],
  families: [
    { family: "*-embed*", kind: "embeddings", source: pricing },
    { family: "mistral-ocr*", kind: "ocr", source: pricing },
    { family: "voxtral-mini*", kind: "transcription", source: pricing },
  ],
};
