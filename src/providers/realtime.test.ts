/** How the usage of realtime sessions is read, and how their settings are converted. */
import { describe, expect, test } from "bun:test";
import { createProvider } from "./registry.ts";
import type { RealtimeApi } from "./realtime-api.ts";

function apiOf(kind: "openai" | "xai"): RealtimeApi {
  const api = createProvider({ kind, baseUrl: "https://upstream.test" }).operations.realtime?.realtime;
  if (api === undefined) throw new Error("no sessions");
  return api;
}

describe("the usage of a response", () => {
  // The figures of the example in OpenAI's reference of `response.done`.
  const usage = {
    total_tokens: 253,
    input_tokens: 132,
    output_tokens: 121,
    input_token_details: {
      text_tokens: 119,
      audio_tokens: 13,
      image_tokens: 0,
      cached_tokens: 64,
      cached_tokens_details: { text_tokens: 64, audio_tokens: 0, image_tokens: 0 },
    },
    output_token_details: { text_tokens: 30, audio_tokens: 91 },
  };

  test("is split into disjoint buckets", () => {
    expect(apiOf("openai").readUsage(usage)).toEqual({
      usage: { input: 55, cacheRead: 64, inputAudio: 13, cacheAudioRead: 0, output: 30, outputAudio: 91, requests: 1 },
    });
  });

  test.each([
    [
      "images",
      {
        input_tokens: 10,
        output_tokens: 0,
        input_token_details: { image_tokens: 10, cached_tokens_details: { image_tokens: 4 } },
      },
      { inputImage: 6, cacheImageRead: 4 },
    ],
    [
      "cached tokens without their kinds",
      {
        input_tokens: 20,
        output_tokens: 0,
        input_token_details: { text_tokens: 5, audio_tokens: 15, cached_tokens: 8 },
      },
      { input: 0, cacheRead: 5, inputAudio: 12, cacheAudioRead: 3 },
    ],
    ["no details", { input_tokens: 20, output_tokens: 7 }, { inputAudio: 20, outputAudio: 7 }],
    [
      "more cached than read",
      {
        input_tokens: 5,
        output_tokens: 1,
        input_token_details: { text_tokens: 5, cached_tokens_details: { text_tokens: 99 } },
      },
      { input: 0, cacheRead: 5 },
    ],
  ])("with %s", (_, given, buckets) => {
    expect(apiOf("openai").readUsage(given)?.usage).toMatchObject(buckets);
  });

  test.each([
    undefined,
    null,
    {},
    { input_tokens: 0, output_tokens: 0 },
    { input_tokens: "9" },
    { input_tokens: -5 },
    "x",
  ])("%j counts nothing", (given) => {
    expect(apiOf("openai").readUsage(given)).toBeUndefined();
  });
});

describe("a session", () => {
  test.each([
    [
      { voice: "marin", modalities: ["audio", "text"] },
      { type: "realtime", audio: { output: { voice: "marin" } }, output_modalities: ["audio"] },
    ],
    [{ modalities: ["text"] }, { type: "realtime", output_modalities: ["text"] }],
    [
      { voice: "a", audio: { output: { voice: "b", speed: 1 }, input: {} } },
      { type: "realtime", audio: { output: { voice: "b", speed: 1 }, input: {} } },
    ],
    [
      { output_modalities: ["text"], modalities: ["audio"] },
      { type: "realtime", output_modalities: ["text"] },
    ],
  ])("%j has OpenAI's present form", (session, upstream) => {
    expect(apiOf("openai").toUpstreamSession(session, "realtime")).toEqual(upstream);
  });

  test.each([
    [{ voice: "eve", type: "realtime" }, { voice: "eve" }],
    [
      { audio: { output: { voice: "ara" } }, output_modalities: ["text"] },
      { voice: "ara", audio: { output: { voice: "ara" } }, modalities: ["text"] },
    ],
  ])("%j has xAI's form", (session, upstream) => {
    expect(apiOf("xai").toUpstreamSession(session, "realtime")).toEqual(upstream);
  });
});
