import type { ProviderCorrections } from "./correction.ts";

const pricing = "https://docs.x.ai/developers/pricing";

/** An answer with images, videos or text reports its real price; these are for the hold, and for an answer without it. */
export const xai: ProviderCorrections = {
  tools: {
    // Searches of the web and of X, and runs of code, cost the same.
    prices: { web_searches_kcount: 5, storage_searches_kcount: 2.5 },
    source: `${pricing} ("Tool Invocation Costs")`,
  },
  corrections: [
    {
      names: ["grok-imagine-image", "grok-imagine-image-2026-03-02"],
      source: `${pricing} (the input images of an edit are billed as well)`,
      kind: "image",
      prices: { image: 0.02, input_image: 0.002 },
    },
    // Speech was 4.2 in spring 2026.
    {
      names: ["grok-tts", "grok-voice-tts"],
      source: `${pricing} and the page "Voice Overview"`,
      kind: "speech",
      prices: { input_mchars: 15 },
    },
    {
      names: ["grok-stt", "grok-transcribe"],
      source: `${pricing} and the page "Voice Overview"`,
      kind: "transcription",
      prices: { input_audio_hours: 0.1 },
    },
    {
      names: ["grok-imagine-image-2.0"],
      source: `${pricing} (an image of low quality costs 0.04, every other one 0.06)`,
      kind: "image",
      prices: { image: { low: 0.04, medium: 0.06, high: 0.06 } },
    },
  ],
  families: [{ family: "grok-voice*", kind: "realtime", source: pricing }],
};
