import { describe, expect, test } from "bun:test";
import OpenAI, { APIError } from "openai";
import { GatewayError, type JsonObject } from "../../core/index.ts";
import { dataOf, eventsOf } from "../../streaming/index.ts";
import { errorsBy } from "../../../test/kit/schemas.ts";
import { imageEditCodec, imageGenerationCodec } from "./index.ts";
import { type ImageEditRequest, imageGenerationRequest } from "./request.ts";

const asked = { model: "google/m", prompt: "a cat" };
const body = imageGenerationRequest.parse(asked);
const edit: ImageEditRequest = { ...asked, prompt: body.prompt };

const usage = {
  input_tokens: 2,
  output_tokens: 1_290,
  total_tokens: 1_292,
  input_tokens_details: { text_tokens: 2, image_tokens: 0 },
};
const image = { b64_json: "AAAA" };

const textOf = (answer: JsonObject, more: object = {}) =>
  imageGenerationCodec.events?.ofAnswer({ ...body, ...more }, answer) ?? "";
const told = (text: string) =>
  [...eventsOf(Buffer.from(text))].map((event) => JSON.parse(dataOf(event) ?? "") as JsonObject);

/** The official client's result for these bytes. */
async function throughSdk(text: string): Promise<unknown[]> {
  const client = new OpenAI({
    apiKey: "sk-test",
    baseURL: "http://gateway.test/v1",
    maxRetries: 0,
    fetch: () => Promise.resolve(new Response(text, { headers: { "content-type": "text/event-stream" } })),
  });
  const events: unknown[] = [];
  for await (const event of await client.images.generate({ ...asked, stream: true })) events.push(event);
  return events;
}

describe("a whole answer", () => {
  test("becomes an event for each image, with the usage of all at the last", () => {
    const answer = { created: 7, data: [image, { b64_json: "BBBB" }], size: "1024x1024", output_format: "png", usage };
    const plain = { created_at: 7, size: "1024x1024", quality: "auto", background: "auto", output_format: "png" };
    expect(told(textOf(answer))).toEqual([
      { type: "image_generation.completed", b64_json: "AAAA", ...plain },
      { type: "image_generation.completed", b64_json: "BBBB", ...plain, usage },
    ]);
  });

  test("names its events in their own lines as well", () => {
    expect(textOf({ data: [image] })).toMatch(/^event: image_generation\.completed\ndata: \{.*\}\n\n$/);
    expect(imageEditCodec.events?.ofAnswer(edit, { data: [image] })).toStartWith("event: image_edit.completed\n");
  });

  test("is described by the answer, else by the request, and by the available facts", () => {
    const request = { size: "1536x1024", quality: "high", background: "opaque", output_format: "webp" };
    const { created_at, ...described } = told(textOf({ data: [image] }, request))[0] ?? {};
    expect(created_at).toBe(0);
    expect(described).toEqual({ type: "image_generation.completed", ...image, ...request });
    const [jpeg] = told(
      textOf({ data: [{ ...image, mime_type: "image/jpeg", size: "2048x2048", revised_prompt: "" }] }),
    );
    expect(jpeg).toMatchObject({ output_format: "jpeg", size: "2048x2048", revised_prompt: "" });
  });

  test("by its address stays by its address", () => {
    const url = "https://pictures.example/1.png";
    expect(told(textOf({ data: [{ url }] }))[0]).toMatchObject({ url });
  });

  test("is by OpenAI's schemas", () => {
    const answer = {
      data: [image],
      size: "1024x1024",
      quality: "low",
      background: "opaque",
      output_format: "png",
      usage,
    };
    for (const [name, codec] of [
      ["ImageGenCompletedEvent", imageGenerationCodec],
      ["ImageEditCompletedEvent", imageEditCodec],
    ] as const) {
      const [event] = told(codec.events?.ofAnswer(edit, answer) ?? "");
      expect(errorsBy("openai", name, event)).toBe("");
    }
  });

  test("is read by the official client", async () => {
    expect(await throughSdk(textOf({ data: [image, image], usage }))).toMatchObject([image, { ...image, usage }]);
  });
});

describe("failed images", () => {
  const error = { code: "OutputImageSensitiveContentDetected", message: "may contain sensitive information" };

  test("comes after the images, with its place", async () => {
    const text = textOf({ data: [{ error }, image], usage });
    expect(told(text)).toMatchObject([
      { type: "image_generation.completed", usage },
      { type: "image_generation.partial_failed", image_index: 0, error },
    ]);
    expect(await throughSdk(text).catch((thrown: unknown) => thrown)).toBeInstanceOf(APIError);
  });

  test("is the error if all images were withheld", async () => {
    const text = textOf({ data: [{ respect_moderation: false }], usage: { cost_in_usd_ticks: 5 } });
    expect(told(text)).toMatchObject([{ type: "error", error: { code: "moderation_blocked" } }]);
    expect(await throughSdk(text).catch((thrown: unknown) => thrown)).toMatchObject({ code: "moderation_blocked" });
  });
});

test("the official client throws at a stream that has broken", async () => {
  const error = new GatewayError("upstream_interrupted", "The upstream's stream broke off.");
  const text = imageGenerationCodec.events?.errorEvent(error) ?? "";
  expect(text).toStartWith("event: error\ndata: ");
  const thrown: unknown = await throughSdk(textOf({ data: [image] }) + text).catch((reason: unknown) => reason);
  expect(thrown).toBeInstanceOf(APIError);
  expect(thrown).toMatchObject({ code: "upstream_interrupted", type: "upstream_error" });
});
