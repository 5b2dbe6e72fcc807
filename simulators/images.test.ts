import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import OpenAI from "openai";

import { type SimulatorName, type Simulators, startSimulators } from "./index.ts";
import { asArray, asObject, type JsonObject } from "./shared/json.ts";
import { bodyOf, eventData, eventsOf, failureOf, member, post, type Reply } from "./testing/client.ts";
import { decodedImage, formOf, imageFile, imageUrl, postForm } from "./testing/media.ts";

let simulators: Simulators;

beforeAll(async () => {
  simulators = await startSimulators();
});
afterAll(() => simulators.stop());

const client = (provider: SimulatorName): OpenAI => {
  return new OpenAI({ baseURL: simulators.providers[provider], apiKey: "good-key", maxRetries: 0 });
};
const ask = (provider: SimulatorName, path: string, body: unknown): Promise<Reply> => {
  return post(simulators.providers[provider] + path, body);
};
const textAt = (reply: Reply, ...path: readonly (string | number)[]): string => String(member(bodyOf(reply), ...path));

async function fetched(url: unknown): Promise<string> {
  return decodedImage(await (await fetch(String(url))).bytes());
}

describe("openai", () => {
  const generate = (body: object): Promise<Reply> => {
    return ask("openai", "/images/generations", { model: "gpt-image-1", prompt: "a red fox", ...body });
  };

  test.each(["png", "jpeg", "webp"] as const)("generates %s of the asked size, with usage", async (output_format) => {
    const asked = { model: "gpt-image-1", prompt: "a red fox", size: "1536x1024", quality: "high", n: 2 } as const;
    const answer = await client("openai").images.generate({ ...asked, output_format });
    expect(answer).toMatchObject({ output_format, size: "1536x1024", quality: "high", background: "opaque" });
    const images = (answer.data ?? []).map(({ b64_json }) => b64_json ?? "");
    expect(new Set(images).size).toBe(2);
    for (const image of images) expect(await decodedImage(image)).toBe(`${output_format} 1536x1024`);
    // Nine characters are three tokens; a square of high quality is 4,160.
    const details = { input_tokens_details: { text_tokens: 3, image_tokens: 0 } };
    expect(answer.usage).toMatchObject({ input_tokens: 3, output_tokens: 12_480, total_tokens: 12_483, ...details });
  });

  test("streams partial images and then the whole one with its usage", async () => {
    const stream = await client("openai").images.generate({
      model: "gpt-image-2",
      prompt: "a red fox",
      size: "1280x720",
      quality: "low",
      stream: true,
      partial_images: 2,
    });
    const types: string[] = [];
    let usage = 0;
    for await (const event of stream) {
      types.push(event.type);
      expect(await decodedImage(event.b64_json)).toBe("png 1280x720");
      if (event.type === "image_generation.completed") usage = event.usage.output_tokens;
    }
    const partial = "image_generation.partial_image";
    expect(types).toEqual([partial, partial, "image_generation.completed"]);
    expect(usage).toBe(Math.round((272 * 1_280 * 720) / 1_024 ** 2) + 200);
  });

  test("edits images and a mask in a form, or images in JSON", async () => {
    const files = [imageFile(640, 480), imageFile(512, 512, "jpeg"), imageFile(16, 16, "webp")];
    const asked = { model: "gpt-image-1.5", prompt: "add a hat", size: "1024x1024", quality: "low" } as const;
    const answer = await client("openai").images.edit({ ...asked, image: files, mask: imageFile(640, 480) });
    expect(await decodedImage(answer.data?.[0]?.b64_json ?? "")).toBe("png 1024x1024");
    // A base of 65, and 129 for each tile: two for 640x480 and for its mask.
    expect(answer.usage?.input_tokens_details).toEqual({ text_tokens: 3, image_tokens: 2 * 323 + 2 * 194 });
    const images = [{ image_url: await imageUrl(640, 480) }, { file_id: "file-1" }];
    const json = await ask("openai", "/images/edits", { ...asked, size: "auto", images });
    expect(await decodedImage(textAt(json, "data", 0, "b64_json"))).toBe("png 1536x1024");
    const events = eventsOf(
      await ask("openai", "/images/edits", { ...asked, images, stream: true, partial_images: 1 }),
    );
    expect(events.map(({ event }) => event)).toEqual(["image_edit.partial_image", "image_edit.completed"]);
  });

  test("records a form's parts with the hash of each file", async () => {
    const file = imageFile(64, 64);
    const sha256 = new Bun.CryptoHasher("sha256").update(await file.bytes()).digest("hex");
    simulators.clear();
    await client("openai").images.edit({ model: "gpt-image-1+slow-1", prompt: "a hat", image: file });
    const parts = simulators.requests().at(-1)?.parts ?? [];
    expect(parts.find(({ name }) => name === "image")).toMatchObject({
      filename: "image.png",
      size: file.size,
      sha256,
    });
    expect(parts.find(({ name }) => name === "model")).toMatchObject({ text: "gpt-image-1+slow-1" });
  });

  test("gives the same form the same answer, whatever its boundary", async () => {
    const form = (): FormData => formOf({ model: "gpt-image-1", prompt: "a hat", image: imageFile(64, 64) });
    const url = `${simulators.providers.openai}/images/edits`;
    expect((await postForm(url, form())).text).toBe((await postForm(url, form())).text);
  });

  test("older models answer an address or base64, and no usage", async () => {
    const answer = await client("openai").images.generate({ model: "dall-e-3", prompt: "a fox", size: "1792x1024" });
    expect(answer.usage).toBeUndefined();
    expect(answer.data?.[0]?.revised_prompt).toContain("a fox");
    expect(await fetched(answer.data?.[0]?.url)).toBe("png 1792x1024");
    const inline = await generate({ model: "dall-e-2", size: "256x256", response_format: "b64_json" });
    expect(await decodedImage(textAt(inline, "data", 0, "b64_json"))).toBe("png 256x256");
  });

  test.each([
    ["response_format", { response_format: "b64_json" }],
    ["style", { style: "vivid" }],
    ["n", { n: 11 }],
    ["size", { size: "1000x1000" }],
    ["size", { model: "gpt-image-2", size: "3840x1024" }],
    ["size", { model: "gpt-image-2", size: "1000x1000" }],
    ["quality", { quality: "hd" }],
    ["background", { background: "transparent", output_format: "jpeg" }],
    ["output_compression", { output_compression: 50 }],
    ["partial_images", { partial_images: 1 }],
    ["n", { model: "dall-e-3", n: 2 }],
    ["output_format", { model: "dall-e-2", output_format: "png" }],
    ["prompt", { prompt: "x".repeat(32_001) }],
    ["prompt", { prompt: null }],
  ])("refuses a wrong %s: %j", async (param, body) => {
    const reply = await generate(body);
    expect(reply.status).toBe(400);
    expect(member(bodyOf(reply), "error", "param")).toBe(param);
  });

  test("refuses prompts like the safety system, files that are not images, and broken forms", async () => {
    expect(textAt(await generate({ prompt: "refuse:violence" }), "error", "code")).toBe("moderation_blocked");
    const model = "gpt-image-1";
    const url = `${simulators.providers.openai}/images/edits`;
    const forms: readonly [form: FormData, code: string][] = [
      [formOf({ model, prompt: "x", image: new File(["no"], "a.png") }), "invalid_image_file"],
      [formOf({ model, prompt: "x" }), "missing_required_parameter"],
      [formOf({ model, image: imageFile(8, 8) }), "missing_required_parameter"],
      [formOf({ model, prompt: "x", image: imageFile(8, 8), mask: imageFile(16, 8) }), "invalid_mask"],
      [formOf({ model, prompt: "x", image: imageFile(8, 8), colour: "red" }), "unknown_parameter"],
      [formOf({ model: "missing-x", prompt: "x", image: imageFile(8, 8) }), "model_not_found"],
      [formOf({ model: "dall-e-2", prompt: "x", image: imageFile(8, 9) }), "invalid_image"],
    ];
    for (const [form, code] of forms) expect(textAt(await postForm(url, form), "error", "code")).toBe(code);
    const headers = { "content-type": "multipart/form-data; boundary=x" };
    expect((await post(url, "--x\r\nbroken", headers)).text).toContain("multipart");
  });

  test("faults: by the model in a form, between events, and as an event", async () => {
    const edit = { prompt: "x", image: imageFile(8, 8) };
    const failed = failureOf(client("openai").images.edit({ ...edit, model: "gpt-image-1+status-429" }));
    expect(await failed).toMatchObject({ status: 429 });
    const broken = eventsOf(await generate({ model: "gpt-image-1+error-1", stream: true, partial_images: 2 }));
    expect(broken.map(({ event }) => event)).toEqual(["image_generation.partial_image", "error"]);
  });
});

describe("xai", () => {
  const generate = (body: object): Promise<Reply> => {
    return ask("xai", "/images/generations", { model: "grok-imagine-image", prompt: "a fox", ...body });
  };

  test("makes JPEG by ratio and resolution, without created, for a cost", async () => {
    const reply = await generate({ n: 2, aspect_ratio: "16:9", resolution: "2k" });
    expect(Object.keys(asObject(bodyOf(reply)))).toEqual(["data", "usage"]);
    expect(await fetched(textAt(reply, "data", 1, "url"))).toBe("jpeg 2736x1536");
    expect(member(bodyOf(reply), "usage")).toEqual({ cost_in_usd_ticks: 400_000_000 });
    const answer = await client("xai").images.generate({
      model: "grok-imagine-image",
      prompt: "a fox",
      response_format: "b64_json",
    });
    expect(await decodedImage(answer.data?.[0]?.b64_json ?? "")).toBe("jpeg 1024x1024");
  });

  test("edits in JSON alone, one image or several", async () => {
    const edit = (body: object): Promise<Reply> => {
      return ask("xai", "/images/edits", { model: "grok-imagine-image", prompt: "a hat", ...body });
    };
    const url = await imageUrl(640, 480);
    expect(await fetched(textAt(await edit({ image: { url } }), "data", 0, "url"))).toBe("jpeg 640x480");
    const several = { images: [{ type: "image_url", url }, { file_id: "file_1" }], aspect_ratio: "2:1" };
    expect(await fetched(textAt(await edit(several), "data", 0, "url"))).toBe("jpeg 1456x720");
    for (const wrong of [
      {},
      { image: { url }, images: [{ url }] },
      { images: Array.from({ length: 6 }, () => ({ url })) },
      { image: {} },
    ]) {
      expect([400, 422]).toContain((await edit(wrong)).status);
    }
    const broken = { image: { url: "data:image/png;base64,AAAA" } };
    expect((await edit(broken)).status).toBe(400);
    const form = client("xai").images.edit({ model: "grok-imagine-image", prompt: "x", image: imageFile(8, 8) });
    expect(await failureOf(form)).toMatchObject({ status: 415 });
  });

  test("refuses OpenAI's sizes, and withholds moderated images in a 200", async () => {
    for (const body of [{ size: "1024x1024" }, { style: "vivid" }, { aspect_ratio: "5:7" }, { n: 11 }]) {
      expect([400, 422]).toContain((await generate(body)).status);
    }
    const reply = await generate({ prompt: "refuse:violence" });
    expect(reply.status).toBe(200);
    expect(member(bodyOf(reply), "data", 0)).toMatchObject({ respect_moderation: false });
    expect(member(bodyOf(reply), "data", 0)).not.toHaveProperty("url");
  });
});

describe("byteplus", () => {
  const model = "seedream-4-0-250828";
  const generate = (body: object): Promise<Reply> => {
    return ask("byteplus", "/images/generations", { model, prompt: "a fox", ...body });
  };

  test("one image of 2048 pixels, counted by its area", async () => {
    const reply = await generate({ watermark: false });
    expect(await fetched(textAt(reply, "data", 0, "url"))).toBe("jpeg 2048x2048");
    expect(member(bodyOf(reply), "data", 0, "size")).toBe("2048x2048");
    expect(member(bodyOf(reply), "usage")).toEqual({
      generated_images: 1,
      output_tokens: 16_384,
      total_tokens: 16_384,
    });
    const newer = {
      model: "seedream-5-0-260128",
      size: "2560x1440",
      response_format: "b64_json",
      output_format: "png",
    };
    expect(await decodedImage(textAt(await generate(newer), "data", 0, "b64_json"))).toBe("png 2560x1440");
    const worded = await generate({ prompt: "a fox, 16:9", size: "1K" });
    expect(await fetched(textAt(worded, "data", 0, "url"))).toBe("jpeg 1360x768");
  });

  test("a sequence with a failure inside the 200, which is not counted", async () => {
    const sequence = {
      prompt: "3 images of a fox fail:2",
      sequential_image_generation: "auto",
      sequential_image_generation_options: { max_images: 4 },
      size: "1280x720",
      image: [await imageUrl(640, 480)],
    };
    const reply = await generate(sequence);
    const data = asArray(member(bodyOf(reply), "data")).map(asObject);
    expect(data.map((item) => Object.keys(item))).toEqual([["url", "size"], ["error"], ["url", "size"]]);
    const usage = { generated_images: 2, input_images: 1, output_tokens: 7_200, total_tokens: 7_200 };
    expect(member(bodyOf(reply), "usage")).toEqual(usage);
    const streamed = await generate({ ...sequence, stream: true });
    expect(eventsOf(streamed).map(({ event }) => event)).toEqual([
      "image_generation.partial_succeeded",
      "image_generation.partial_failed",
      "image_generation.partial_succeeded",
      "image_generation.completed",
      null,
    ]);
    expect(eventData(streamed.text).at(-1)).toBe("[DONE]");
    expect(member(eventsOf(streamed)[3]?.data, "usage")).toEqual(usage);
  });

  test.each([
    { n: 2 },
    { quality: "hd" },
    { seed: 7 },
    { output_format: "png" },
    { size: "640x480" },
    { size: "4096x100" },
    { size: "3K" },
    { model: "seedream-4-5-251128", size: "1024x1024" },
    { model: "seedream-3-0-t2i-250415", stream: true },
    { image: "data:image/png;base64,AAAA" },
    { prompt: "refuse:violence" },
  ])("refuses %j", async (body) => {
    const reply = await generate(body);
    expect(reply.status).toBe(400);
    expect(member(bodyOf(reply), "error", "type")).toBe("BadRequest");
  });
});

describe("google", () => {
  const model = "gemini-3-pro-image";
  const generate = (text: string, config: JsonObject = {}, more: JsonObject[] = [], name = model): Promise<Reply> => {
    const contents = [{ role: "user", parts: [{ text }, ...more] }];
    return ask("google", `/v1beta/models/${name}:generateContent`, { contents, generationConfig: config });
  };
  const partsOf = (reply: Reply): JsonObject[] => {
    return asArray(member(bodyOf(reply), "candidates", 0, "content", "parts")).map(asObject);
  };
  const drawn = (part: JsonObject | undefined): Promise<string> => {
    return decodedImage(String(member(part, "inlineData", "data")));
  };

  test("draws by ratio and size, with its own count of tokens", async () => {
    const reply = await generate("a fox!!!", { imageConfig: { aspectRatio: "16:9", imageSize: "2K" } });
    const [spoken, picture] = partsOf(reply);
    expect(spoken?.["text"]).toBeString();
    expect(await drawn(picture)).toBe("png 2736x1536");
    expect(picture?.["thoughtSignature"]).toBeString();
    expect(member(bodyOf(reply), "usageMetadata")).toEqual({
      promptTokenCount: 2,
      candidatesTokenCount: 1_124,
      totalTokenCount: 1_254,
      promptTokensDetails: [{ modality: "TEXT", tokenCount: 2 }],
      candidatesTokensDetails: [
        { modality: "TEXT", tokenCount: 4 },
        { modality: "IMAGE", tokenCount: 1_120 },
      ],
      thoughtsTokenCount: 128,
    });
  });

  test("edits at the image's own ratio; drafts are thoughts; pictures alone where asked", async () => {
    const data = (await imageUrl(640, 480)).slice("data:image/png;base64,".length);
    const inlineData = { mimeType: "image/png", data };
    const thinkingConfig = { includeThoughts: true };
    const reply = await generate("a hat", { responseModalities: ["IMAGE"], thinkingConfig }, [{ inlineData }]);
    const parts = partsOf(reply);
    expect(parts.map((part) => part["thought"] === true)).toEqual([true, true, false]);
    expect(await drawn(parts[2])).toBe("png 1184x880");
    expect(parts[1]?.["inlineData"]).not.toEqual(parts[2]?.["inlineData"]);
    const first = await generate("a hat", { responseModalities: ["IMAGE"] }, [], "gemini-2.5-flash-image");
    expect(member(bodyOf(first), "usageMetadata")).toMatchObject({
      candidatesTokenCount: 1_290,
      totalTokenCount: 1_292,
    });
    const said = await generate("hello", {}, [], "gemini-3.5-flash");
    expect(partsOf(said)[0]?.["text"]).toContain("You said: hello");
  });

  test("no picture is a 200 in three ways", async () => {
    const blocked = await generate("refuse:prompt");
    expect([blocked.status, textAt(blocked, "promptFeedback", "blockReason")]).toEqual([200, "PROHIBITED_CONTENT"]);
    expect(bodyOf(blocked)).not.toHaveProperty("candidates");
    const unsafe = await generate("refuse:violence");
    expect(textAt(unsafe, "candidates", 0, "finishReason")).toBe("IMAGE_SAFETY");
    expect(partsOf(unsafe)).toEqual([]);
    expect(partsOf(await generate("textonly")).map((part) => Object.keys(part))).toEqual([["text"]]);
  });

  test("streams parts with alt=sse, and one list without", async () => {
    const path = `/v1beta/models/${model}:streamGenerateContent`;
    const body = { contents: [{ parts: [{ text: "a fox" }] }] };
    const events = eventsOf(await ask("google", `${path}?alt=sse`, body));
    expect(member(events.at(-1)?.data, "candidates", 0, "finishReason")).toBe("STOP");
    expect(await drawn(asObject(member(events.at(-1)?.data, "candidates", 0, "content", "parts", 0)))).toBe(
      "png 1024x1024",
    );
    expect(asArray(bodyOf(await ask("google", path, body)))).toHaveLength(events.length);
  });

  test.each([
    { imageConfig: { aspectRatio: "5:7" } },
    { imageConfig: { imageSize: "1k" } },
    { imageConfig: { outputMimeType: "image/png" } },
    { candidateCount: 2 },
    { n: 2 },
  ])("refuses %j", async (config) => {
    expect((await generate("x", config)).status).toBe(400);
  });

  test("refuses unsupported options, and files that are not images", async () => {
    const small = { imageConfig: { imageSize: "2K" } };
    expect((await generate("x", small, [], "gemini-2.5-flash-image")).status).toBe(400);
    expect((await generate("x", { responseModalities: ["IMAGE"] }, [], "gemini-3.5-flash")).status).toBe(400);
    const broken = [{ inlineData: { mimeType: "image/png", data: "AAAA" } }];
    expect((await generate("x", {}, broken)).status).toBe(400);
    expect((await generate("x", {}, [], "missing-image")).status).toBe(404);
    expect((await generate("x", {}, [], `${model}+status-503`)).status).toBe(503);
  });
});
