/** Speech of upstreams with their own format. */
import { describe, expect, test } from "bun:test";
import { GatewayError, type JsonObject } from "../core/index.ts";
import type { UpstreamRequests } from "./provider.ts";
import { createProvider, type ProviderChoice } from "./registry.ts";

type Upstream = Pick<ProviderChoice, "kind" | "preset">;

const xai: Upstream = { kind: "xai" };
const mistral: Upstream = { kind: "openai-compatible", preset: "mistral" };

async function reshaped(upstream: Upstream, more: JsonObject): Promise<UpstreamRequests> {
  const { speech } = createProvider({ ...upstream, baseUrl: "https://upstream.example" }).operations;
  const body = { model: "up/voice", input: "Hello.", ...more };
  const call = await speech?.toUpstream?.({ body, files: [] }, "voice");
  if (call === undefined) throw new Error("not reshaped");
  return call;
}

async function refusal(upstream: Upstream, more: JsonObject): Promise<string | undefined> {
  try {
    await reshaped(upstream, more);
    return undefined;
  } catch (thrown) {
    return thrown instanceof GatewayError && thrown.status === 422 ? thrown.param : String(thrown);
  }
}

describe("at xAI", () => {
  const plain = { text: "Hello.", language: "auto", output_format: { codec: "mp3" } };
  test.each<[JsonObject, JsonObject]>([
    [{}, plain],
    [{ voice: "eve" }, { ...plain, voice_id: "eve" }],
    [{ voice: { id: "abcd1234" } }, { ...plain, voice_id: "abcd1234" }],
    // An unknown voice, which only xAI can check.
    [
      { voice: "alloy", speed: 0.7 },
      { ...plain, voice_id: "alloy", speed: 0.7 },
    ],
    [{ response_format: "mp3", stream_format: "audio", instructions: "" }, plain],
    [{ response_format: "wav" }, { ...plain, output_format: { codec: "wav", sample_rate: 24_000 } }],
    [
      { response_format: "pcm", speed: null },
      { ...plain, output_format: { codec: "pcm", sample_rate: 24_000 } },
    ],
    [
      { language: "de", text_normalization: true, output_format: { bit_rate: 64_000 } },
      { ...plain, language: "de", text_normalization: true, output_format: { codec: "mp3", bit_rate: 64_000 } },
    ],
  ])("%j is sent as %j, and the answer's bytes are passed through", async (more, json) => {
    expect(await reshaped(xai, more)).toEqual({ requests: [{ json }] });
  });

  test("events are generated from a whole answer", async () => {
    const call = await reshaped(xai, { stream_format: "sse" });
    expect(call.requests).toEqual([{ json: { ...plain, with_timestamps: true } }]);
    expect(call.answer?.([{ audio: "AAAA", content_type: "audio/mpeg", duration: 1 }], 0)).toEqual({ audio: "AAAA" });
  });

  test.each<[JsonObject, string]>([
    [{ response_format: "opus" }, "response_format"],
    [{ response_format: "aac" }, "response_format"],
    [{ response_format: "flac" }, "response_format"],
    [{ response_format: "constructor" }, "response_format"],
    [{ instructions: "Whisper." }, "instructions"],
    [{ speed: 0.69 }, "speed"],
    [{ speed: 1.51 }, "speed"],
  ])("%j is refused: %s", async (more, field) => {
    expect(await refusal(xai, more)).toBe(field);
  });
});

describe("at Mistral", () => {
  const plain = { model: "up/voice", input: "Hello.", response_format: "mp3" };
  const audio = Buffer.from([0xff, 0xf3, 0x84, 0xc0, 0x00]);
  const answer = { audio_data: audio.toString("base64") };

  test.each<[JsonObject, JsonObject, string]>([
    [{}, plain, "audio/mpeg"],
    [{ voice: "neutral_male", speed: 1 }, { ...plain, voice_id: "neutral_male" }, "audio/mpeg"],
    [
      { voice: { id: "v1" }, response_format: "opus" },
      { ...plain, voice_id: "v1", response_format: "opus" },
      "audio/opus",
    ],
    [
      { response_format: "pcm", ref_audio: "AAAA" },
      { ...plain, response_format: "pcm", ref_audio: "AAAA" },
      "audio/pcm",
    ],
    [{ stream_format: "audio", stream: true }, plain, "audio/mpeg"],
  ])("%j is sent as %j and answered with the audio", async (more, json, contentType) => {
    const call = await reshaped(mistral, more);
    expect(call.requests).toEqual([{ json }]);
    expect(call.answer?.([answer], 0)).toEqual({ bytes: audio, contentType });
  });

  test("events are generated from the whole answer", async () => {
    const call = await reshaped(mistral, { stream_format: "sse" });
    expect(call.requests).toEqual([{ json: plain }]);
    expect(call.answer?.([answer], 0)).toEqual({ audio: answer.audio_data });
  });

  test("an answer without audio is an error", async () => {
    const call = await reshaped(mistral, {});
    expect(() => call.answer?.([{ audio_data: null }], 0)).toThrow("contains no audio");
  });

  test.each<[JsonObject, string]>([
    [{ response_format: "aac" }, "response_format"],
    [{ instructions: "Whisper." }, "instructions"],
    [{ speed: 1.1 }, "speed"],
  ])("%j is refused: %s", async (more, field) => {
    expect(await refusal(mistral, more)).toBe(field);
  });
});

test("an answer in JSON without audio is a failure", () => {
  for (const [upstream, member] of [
    [xai, "audio"],
    [mistral, "audio_data"],
  ] as const) {
    const { speech } = createProvider({ ...upstream, baseUrl: "https://upstream.example" }).operations;
    const failed = [{ [member]: "" }, { [member]: null }, { error: "no voice" }].map((each) => speech?.isFailure(each));
    expect(failed).toEqual([true, true, true]);
    expect(speech?.isFailure({ [member]: "AAAA" })).toBe(false);
  }
});
