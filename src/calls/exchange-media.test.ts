import { expect, test } from "bun:test";
import { parseBody } from "../bodies/index.ts";
import { imageGenerationCodec, imageGenerationRequest } from "../media/index.ts";
import { targetOf, textOf } from "../sending/__fixtures__/upstreams.ts";
import { openMediaExchange } from "./exchange-media.ts";

async function open(body: { model: string; [member: string]: unknown }) {
  const received = parseBody(Buffer.from(JSON.stringify(body)), imageGenerationRequest, imageGenerationCodec.measured);
  const bound = imageGenerationCodec.bound(received.body, received.sizeOf, []);
  const target = targetOf(body.model, ["image_generation"]);
  const randomBytes = (size: number) => new Uint8Array(size);
  return openMediaExchange({ target, received, bound, at: 0, randomBytes, isForOpenai: false }, imageGenerationCodec);
}

async function requestsOf(n: number) {
  return (await open({ model: "byteplus/seedream-4-0", prompt: "a 🐈", size: "auto", n })).requests();
}

test("equal requests share one body in memory", async () => {
  const [first, ...others] = await requestsOf(10);
  expect(others).toHaveLength(9);
  for (const { body } of others) expect(body).toBe(first.body);
  if (!(first.body instanceof Blob)) throw new Error("a body that is copied for each request");
  expect(await first.body.json()).toEqual({ model: "seedream-4-0", prompt: "a 🐈" });
});

test("a single one has the client's own bytes", async () => {
  const [{ body }] = await requestsOf(1);
  expect(textOf(body)).toBe('{"model":"seedream-4-0","prompt":"a 🐈"}');
});

test("a stream that breaks off has read all of a prompt, however long that is", async () => {
  const exchange = await open({ model: "openai/gpt-image-1", prompt: "x".repeat(4_000), stream: true });
  const observer = exchange.observe?.(() => ({})).observer;
  const preview = { type: "image_generation.partial_image", b64_json: "AAAA", size: "1024x1024", quality: "low" };
  observer?.see(Buffer.from(`event: ${preview.type}\ndata: ${JSON.stringify(preview)}\n\n`));
  expect(observer?.usage?.usage).toMatchObject({ input: 1_000, outputImage: 272 });
});

test("a failure in the upstream's own format is translated, one in OpenAI's format passes through", async () => {
  const said = { error: { code: 400, message: "unable to process input image", status: "INVALID_ARGUMENT" } };
  const google = await open({ model: "google/gemini-2.5-flash-image", prompt: "a" });
  expect(JSON.parse(google.failure(400, JSON.stringify(said)))).toEqual({
    error: { message: said.error.message, type: "INVALID_ARGUMENT", code: "400", param: null },
  });
  const openai = await open({ model: "openai/gpt-image-1", prompt: "a" });
  expect(openai.failure(400, '{ "error": "as it is" }')).toBe('{ "error": "as it is" }');
});
