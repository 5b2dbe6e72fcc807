import { expect, test } from "bun:test";
import { imageGenerationCodec, imageGenerationRequest } from "../dialects/index.ts";
import { targetOf } from "./__fixtures__/upstreams.ts";
import { openMediaExchange } from "./exchange-media.ts";
import { parseBody } from "./parse-body.ts";

async function requestsOf(n: number) {
  const body = { model: "byteplus/seedream-4-0", prompt: "a 🐈", size: "auto", n };
  const received = parseBody(Buffer.from(JSON.stringify(body)), imageGenerationRequest, imageGenerationCodec.measured);
  const bound = imageGenerationCodec.bound(received.body, received.sizeOf, []);
  const target = targetOf(body.model, ["image_generation"]);
  const randomBytes = (size: number) => new Uint8Array(size);
  const { requests } = await openMediaExchange({ target, received, bound, at: 0, randomBytes }, imageGenerationCodec);
  return requests;
}

test("requests that are the same share one body in memory", async () => {
  const [first, ...others] = await requestsOf(10);
  expect(others).toHaveLength(9);
  for (const { body } of others) expect(body).toBe(first.body);
  if (!(first.body instanceof Blob)) throw new Error("a body that is copied for each request");
  expect(await first.body.json()).toEqual({ model: "seedream-4-0", prompt: "a 🐈" });
});

test("a single one passes in the client's own bytes", async () => {
  const [{ body }] = await requestsOf(1);
  expect(body).toBeInstanceOf(Uint8Array);
});
