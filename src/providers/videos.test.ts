/** The requests and the states of video jobs, by provider. */
import { describe, expect, test } from "bun:test";
import { type JsonObject, type VideoOperation, type WorkBound } from "../core/index.ts";
import { createProvider, type VideoInput, type VideoSource, type VideoState } from "./index.ts";

type Kind = "openai" | "xai" | "byteplus";

const source: VideoSource = { id: "video_1", seconds: 12, url: "https://a.test/a.mp4" };

function requestsOf(kind: Kind, operation: VideoOperation) {
  const { video } = createProvider({ kind, baseUrl: "https://up.test" }).operations[operation] ?? {};
  if (video === undefined) throw new Error(`${kind} has no ${operation}`);
  return video;
}

const inputOf = (body: JsonObject): VideoInput => ({ body, files: [], isForm: false });

const file = (field: string): VideoInput["files"][number] => ({
  field,
  filename: "a.png",
  contentType: "image/png",
  size: 4,
  milliseconds: undefined,
  read: () => Promise.resolve(Buffer.from("\u0089PNG", "latin1")),
});

describe("the most that a job can use", () => {
  test.each<[Kind, VideoOperation, JsonObject, VideoSource | undefined, number, string | undefined]>([
    ["openai", "video_generation", {}, undefined, 4_000, "720p"],
    ["openai", "video_generation", { seconds: "12", size: "1024x1792" }, undefined, 12_000, "1024p"],
    // The provider chooses: the most expensive size is held.
    ["openai", "video_generation", { size: "auto" }, undefined, 4_000, undefined],
    ["xai", "video_generation", { size: "auto" }, undefined, 8_000, undefined],
    ["xai", "video_generation", { resolution: "auto" }, undefined, 8_000, undefined],
    ["openai", "video_edit", {}, source, 12_000, undefined],
    ["openai", "video_edit", {}, undefined, 20_000, undefined],
    ["openai", "video_extension", { seconds: "8" }, source, 8_000, undefined],
    ["xai", "video_generation", {}, undefined, 8_000, "480p"],
    ["xai", "video_generation", { duration: 15, seconds: "4", resolution: "1080p" }, undefined, 15_000, "1080p"],
    ["xai", "video_generation", { seconds: 4, size: "720x1280" }, undefined, 4_000, "720p"],
    ["xai", "video_edit", {}, source, 8_700, undefined],
    ["xai", "video_extension", {}, source, 6_000, undefined],
  ])("%s %s %j", (kind, operation, body, from, outputVideoMs, size) => {
    expect(requestsOf(kind, operation).bound(inputOf(body), "m", from).outputVideo).toEqual({
      usage: { outputVideoMs },
      variant: size === undefined ? undefined : { size },
    });
  });

  test("counts the images that xAI is sent", () => {
    const requests = requestsOf("xai", "video_generation");
    const body = {
      image: { url: "a" },
      last_frame: { url: "b" },
      keyframes: [{ image: { url: "c" } }],
      reference_images: [{ url: "d" }, { url: "e" }],
    };
    expect(requests.bound({ body, files: [file("input_reference")], isForm: true }, "m", undefined).inputUnits).toEqual(
      {
        inputImages: 6,
      },
    );
  });

  const seconds = (body: JsonObject, model = "seedance-1-5-pro-251215"): number => {
    const { usage } = requestsOf("byteplus", "video_generation").bound(inputOf(body), model, undefined).outputVideo;
    // Of 720p: 970,000 pixels at 24 frames a second, 1,024 pixels a token.
    return ((usage.outputVideo ?? 0) * 1_024) / (970_000 * 24);
  };
  test.each<[string, JsonObject, number]>([
    ["by default", {}, 5],
    ["by its field", { duration: 8 }, 8],
    ["by OpenAI's", { seconds: "10" }, 10],
    ["which the model chooses", { duration: -1 }, 15],
    ["by frames", { frames: 48 }, 2],
    ["by a parameter of the prompt", { prompt: "a cat --dur 12" }, 12],
    [
      "by a parameter in content, if it is longer than the field",
      { duration: 3, content: [{ type: "text", text: "--duration=9" }] },
      9,
    ],
    ["by a parameter that is none", { prompt: "--dur -1" }, 15],
    ["of a draft that is completed", { content: [{ type: "draft_task", draft_task: { id: "cgt-1" } }] }, 15],
    [
      "of a reference video besides its own",
      { duration: 5, content: [{ type: "video_url", video_url: { url: "u" } }] },
      20,
    ],
  ])("BytePlus's: the length %s", (_title, body, length) => {
    expect(seconds(body)).toBeCloseTo(length, 1);
  });

  test("BytePlus's: the pixels of the largest resolution that is named, or of any", () => {
    const share = (body: JsonObject, model?: string): number => seconds(body, model) / 5;
    expect(share({ resolution: "480p" })).toBeCloseTo(450_000 / 970_000, 2);
    expect(share({ resolution: "480p", prompt: "x --rs 1080p" })).toBeCloseTo(2_100_000 / 970_000, 2);
    expect(share({ size: "1920x1080" })).toBeCloseTo(2_100_000 / 970_000, 2);
    expect(share({ resolution: "9000p" })).toBeCloseTo(8_900_000 / 970_000, 2);
    expect(share({ size: "auto" })).toBeCloseTo(8_900_000 / 970_000, 2);
    expect(share({}, "seedance-1-0-pro-250528")).toBeCloseTo(2_100_000 / 970_000, 2);
  });

  test("BytePlus's: searches and the tier that is asked for", () => {
    const requests = requestsOf("byteplus", "video_generation");
    expect(
      requests.bound(inputOf({ tools: [{ type: "web_search" }], service_tier: "flex" }), "m", undefined),
    ).toMatchObject({
      toolUnits: { webSearches: 10 },
      terms: { serviceTier: "flex" },
    });
    expect(requests.bound(inputOf({ service_tier: "default" }), "m", undefined).terms).toBeUndefined();
  });
});

describe("a request", () => {
  test("of OpenAI's passes, a form as a form, with the source's id", async () => {
    const requests = requestsOf("openai", "video_edit");
    const body = {
      prompt: "x",
      model: "openai/sora-2",
      video: { id: "video_1" },
      webhook_url: "https://a.test",
      own: 1,
    };
    expect(await requests.toUpstream(inputOf(body), source)).toEqual({
      json: { prompt: "x", own: 1, video: { id: "video_1" } },
    });
    expect(await requests.toUpstream({ body, files: [], isForm: true }, source)).toEqual({
      form: [
        { name: "prompt", text: "x" },
        { name: "own", text: "1" },
        { name: "video[id]", text: "video_1" },
      ],
    });
  });

  test("of xAI's gets the address of the source, and the fields of its own win", async () => {
    const requests = requestsOf("xai", "video_extension");
    const body = { model: "xai/m", prompt: "x", seconds: "4", duration: 6, video: { id: "video_1" } };
    expect(await requests.toUpstream(inputOf(body), source)).toEqual({
      json: { model: "xai/m", prompt: "x", duration: 6, video: { url: "https://a.test/a.mp4" } },
    });
    expect(() => requests.toUpstream(inputOf(body), { ...source, url: undefined })).toThrow("can't be downloaded");
  });

  test("with a file becomes JSON where the upstream takes no forms", async () => {
    const input = { body: { model: "m", prompt: "x" }, files: [file("input_reference")], isForm: true };
    const data = "data:image/png;base64,iVBORw==";
    expect(await requestsOf("xai", "video_generation").toUpstream(input, undefined)).toEqual({
      json: { model: "m", prompt: "x", image: { url: data } },
    });
    expect(await requestsOf("byteplus", "video_generation").toUpstream(input, undefined)).toEqual({
      json: {
        model: "m",
        content: [
          { type: "text", text: "x" },
          { type: "image_url", image_url: { url: data } },
        ],
      },
    });
  });

  test("of BytePlus's keeps its own content, to which a prompt adds nothing", async () => {
    const content = [{ type: "text", text: "own" }];
    const body = { model: "m", prompt: "x", content, ratio: "1:1", size: "1280x720" };
    expect(await requestsOf("byteplus", "video_generation").toUpstream(inputOf(body), undefined)).toEqual({
      json: { model: "m", content, ratio: "1:1", resolution: "720p" },
    });
  });
});

describe("a job", () => {
  const bound: WorkBound = {
    inputTokens: 0,
    outputTokens: 0,
    choices: 1,
    outputVideo: { usage: { outputVideoMs: 8_000 }, variant: { size: "720p" } },
    inputUnits: { inputImages: 1 },
  };
  const read = (kind: Kind, answer: JsonObject, operation: VideoOperation = "video_generation"): VideoState => {
    const { videos } = createProvider({ kind, baseUrl: "https://up.test" });
    if (videos === undefined) throw new Error(`${kind} makes no videos`);
    return videos.readJob(answer, { operation, bound }, 1_000_000);
  };

  test.each<[Kind, JsonObject, Partial<VideoState>]>([
    ["openai", {}, { status: "queued" }],
    ["openai", { status: "new-word" }, { status: "in_progress", observed: undefined }],
    ["openai", { status: "cancelled" }, { status: "failed", observed: undefined }],
    // By its own length, whatever was asked for.
    [
      "openai",
      { status: "completed", seconds: "4" },
      { observed: { usage: { outputVideoMs: 4_000, requests: 1 }, variant: { size: "720p" } } },
    ],
    [
      "openai",
      { status: "completed", seconds: "60", size: "1792x1024" },
      { observed: { usage: { outputVideoMs: 60_000, requests: 1 }, variant: { size: "1024p" } } },
    ],
    [
      "openai",
      { status: "completed", seconds: "many" },
      { seconds: undefined, observed: { usage: { outputVideoMs: 8_000, requests: 1 }, variant: { size: "720p" } } },
    ],
    ["xai", {}, { status: "in_progress", urls: [] }],
    ["xai", { video: { url: "u", duration: 5 } }, { status: "completed", urls: ["u"], seconds: 5 }],
    ["xai", { status: "done", video: { respect_moderation: false } }, { status: "failed", observed: undefined }],
    ["xai", { status: "expired" }, { status: "failed", error: { code: "expired", message: "The job is expired." } }],
    // Delivered without a length: what was asked for.
    [
      "xai",
      { status: "done", video: { url: "u" } },
      { observed: { usage: { outputVideoMs: 8_000, inputImages: 1, requests: 1 }, variant: { size: "720p" } } },
    ],
    ["byteplus", { status: "succeeded", content: { video_url: "u" }, usage: {} }, { status: "completed", urls: ["u"] }],
    [
      "byteplus",
      { status: "failed", usage: { completion_tokens: 9 } },
      { observed: { usage: { outputVideo: 9, requests: 1 }, variant: { size: "720p", quality: undefined } } },
    ],
  ])("%s %j", (kind, answer, state) => {
    expect(read(kind, answer)).toMatchObject(state);
    if ("observed" in state && state.observed === undefined) expect(read(kind, answer).observed).toBeUndefined();
  });

  test.each<[Kind, JsonObject]>([
    ["openai", { status: "completed", seconds: "60" }],
    ["xai", { status: "done", video: { url: "u", duration: 60 } }],
  ])("%s %j of an extension is billed by the added part: its length is that of the whole", (kind, answer) => {
    expect(read(kind, answer, "video_extension").observed?.usage).toMatchObject({ outputVideoMs: 8_000 });
    expect(read(kind, answer, "video_edit").observed?.usage).toMatchObject({ outputVideoMs: 60_000 });
  });

  test("charges what the answer names: the tier, the sound, the searches", () => {
    const answer = {
      status: "succeeded",
      usage: { completion_tokens: 1_000, tool_usage: { web_search: 2 } },
      service_tier: "flex",
      generate_audio: false,
    };
    expect(read("byteplus", answer).observed).toEqual({
      usage: { outputVideo: 1_000, webSearches: 2, requests: 1 },
      variant: { size: "720p", quality: "silent" },
      terms: { serviceTier: "flex" },
    });
  });
});
