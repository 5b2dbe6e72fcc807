import { afterEach, beforeEach, expect, test } from "bun:test";
import { decodedSizeOf } from "../../bodies/index.ts";
import { imageGenerationCodec, imageGenerationRequest } from "../../media/index.ts";
import { idleMsMax, startTime, stopTime, StreamScene, tick } from "../__fixtures__/stream-scene.ts";

beforeEach(startTime);
afterEach(stopTime);

const image = `event: image_generation.completed
data: {"type":"image_generation.completed","b64_json":"AAAA","usage":{"input_tokens":1,"output_tokens":2}}\n\n`;

function imageScene(): StreamScene {
  const body = imageGenerationRequest.parse({ model: "m", prompt: "a cat", n: 2, stream: true });
  const bound = imageGenerationCodec.bound(body, decodedSizeOf, []);
  const observer = imageGenerationCodec.events?.observe(body, () => ({ usage: { outputImage: 2 } }), bound);
  if (observer === undefined) throw new Error("images are not streamed");
  return new StreamScene({ observer });
}

const breaks: [string, (scene: StreamScene) => Promise<void>][] = [
  ["breaks off", (scene) => scene.fail(new Error("ECONNRESET"))],
  ["falls silent", () => tick(idleMsMax + 1)],
];

test.each(breaks)("a retained image reaches its client if the upstream %s: it is charged", async (_, end) => {
  const scene = imageScene();
  await scene.send(image);
  expect(scene.got).toBe("");
  await end(scene);
  expect(scene.got).toStartWith(image);
  expect(scene.got.slice(image.length)).toContain('"error"');
  expect([scene.closed, scene.outcomes]).toEqual([true, ["interrupted"]]);
});

test("half an event after it is dropped", async () => {
  const scene = imageScene();
  await scene.send(image, "event: image_generation.part");
  await scene.fail(new Error("ECONNRESET"));
  expect(scene.got).toStartWith(`${image}data: {"error"`);
});
