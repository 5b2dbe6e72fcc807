import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { decodedSizeOf } from "../../bodies/index.ts";
import { type JsonObject, objectOf, type ObservedUsage, type Usage } from "../../core/index.ts";
import type { StreamObserver } from "../../streaming/index.ts";
import { imageEditCodec, imageGenerationCodec } from "./index.ts";
import { imageEditRequest, imageGenerationRequest } from "./request.ts";

/** Reads the usage of both kinds of upstream; the providers' own readers have separate tests. */
function readUsage(answer: JsonObject): ObservedUsage | undefined {
  const usage = objectOf(answer["usage"]);
  if (usage === undefined) return undefined;
  const { input_tokens, output_tokens, generated_images } = usage as Record<string, number | undefined>;
  return {
    usage: {
      ...(input_tokens === undefined ? {} : { input: input_tokens }),
      ...(generated_images === undefined ? { outputImage: output_tokens ?? 0 } : { images: generated_images }),
      requests: 1,
    },
  };
}

const body = imageGenerationRequest.parse({ model: "openai/m", prompt: "four by four tokens" });
const observing = (): StreamObserver | undefined =>
  imageGenerationCodec.events?.observe(body, readUsage, imageGenerationCodec.bound(body, decodedSizeOf, []));

function observe(): StreamObserver {
  const observer = observing();
  if (observer === undefined) throw new Error("images are streamed");
  return observer;
}

const event = (type: string, data: object): string => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;

const drawn = { b64_json: Buffer.alloc(3_000, 7).toString("base64"), size: "1024x1024", quality: "low", created_at: 5 };
const preview = (index = 0) => event("image_generation.partial_image", { ...drawn, partial_image_index: index });
const completed = (usage?: object, name = "image_generation") =>
  event(`${name}.completed`, { ...drawn, ...(usage === undefined ? {} : { usage }) });
const usageOf = (input: number, output: number) => ({ input_tokens: input, output_tokens: output });

const succeeded = (index: number, size = "2048x2048") =>
  event("image_generation.partial_succeeded", { image_index: index, url: "https://pictures.example/1.jpg", size });
const failedImage = (index: number) =>
  event("image_generation.partial_failed", { image_index: index, error: { code: "OutputImage", message: "no" } });
const finished = (images: number) => event("image_generation.completed", { usage: { generated_images: images } });
const DONE = "data: [DONE]\n\n";
const broken = event("error", { error: { message: "overloaded", code: "server_error" } });

/** The non-zero buckets. */
function counted(observer: StreamObserver): Usage | undefined {
  const { usage } = observer.usage ?? {};
  return usage && Object.fromEntries(Object.entries(usage).filter(([, count]) => count !== 0));
}

function saw(observer: StreamObserver, ...events: readonly string[]): string {
  return events.map((one) => observer.see(Buffer.from(one)).toString()).join("");
}

describe("a stream of OpenAI", () => {
  test("keeps its last event back until the upstream has closed", () => {
    const observer = observe();
    expect(saw(observer, preview(0), preview(1))).toBe(preview(0) + preview(1));
    expect(observer.complete).toBe(false);
    const last = completed(usageOf(5, 272));
    expect(saw(observer, last)).toBe("");
    expect([observer.complete, observer.done, observer.failed]).toEqual([true, false, false]);
    expect(observer.close?.().toString()).toBe(last);
    expect(observer.close?.().toString()).toBe("");
    expect(counted(observer)).toEqual({ images: 1, input: 5, outputImage: 272, requests: 1 });
    expect(observer.usage?.variant).toEqual({ size: "1024x1024", quality: "low" });
  });

  test("of several images keeps the last one alone back, and their usages add up", () => {
    const observer = observe();
    const [first, second] = [completed(usageOf(5, 272)), completed(usageOf(0, 372))];
    expect(saw(observer, first)).toBe("");
    expect(saw(observer, preview())).toBe(first + preview());
    expect(observer.complete).toBe(false);
    expect(saw(observer, second)).toBe("");
    expect(observer.complete).toBe(true);
    expect(observer.close?.().toString()).toBe(second);
    expect(counted(observer)).toEqual({ images: 2, input: 5, outputImage: 644, requests: 1 });
  });

  test("may hold everything in one block, with comments and either line end", () => {
    const observer = observe();
    const block = `${preview()}: keep-alive\n\n${completed(usageOf(5, 272))}: keep-alive\n\n`.replaceAll("\n", "\r\n");
    const shown = saw(observer, block) + (observer.close?.().toString() ?? "");
    expect(shown.length).toBe(block.length);
    expect(shown.endsWith(completed(usageOf(5, 272)).replaceAll("\n", "\r\n"))).toBe(true);
    expect(counted(observer)).toMatchObject({ images: 1, outputImage: 272 });
  });

  test("of an edit has separate names", () => {
    const edit = imageEditRequest.parse({ model: "openai/m", prompt: "x", image: "https://pictures.example/cat.png" });
    const observer = imageEditCodec.events?.observe(edit, readUsage, imageEditCodec.bound(edit, decodedSizeOf, []));
    observer?.see(Buffer.from(completed(usageOf(5, 272), "image_edit")));
    expect(observer?.complete).toBe(true);
    expect(observer?.usage?.usage).toMatchObject({ images: 1, outputImage: 272 });
  });

  test("that somebody ends with [DONE] is over there", () => {
    const observer = observe();
    const last = completed(usageOf(5, 272));
    expect(saw(observer, last, DONE)).toBe(last + DONE);
    expect([observer.done, observer.complete]).toEqual([true, true]);
  });
});

describe("a stream that breaks off", () => {
  test("before anything has come costs nothing that is known here", () => {
    expect(observe().usage).toBeUndefined();
    expect(observe().outputBytes).toBe(0);
  });

  test("after a preview is charged as the image that was begun", () => {
    const observer = observe();
    saw(observer, preview(0), preview(1));
    // 19 bytes of prompt are 5 tokens; a square of low quality has 272.
    expect(counted(observer)).toEqual({ input: 5, outputImage: 272, requests: 1 });
    expect(observer.complete).toBe(false);
  });

  test("within its second image is charged for the first and that one", () => {
    const observer = observe();
    saw(observer, completed(usageOf(7, 300)), preview());
    expect(counted(observer)).toEqual({ images: 1, input: 7, outputImage: 572, requests: 1 });
  });

  test("with an image without usage is charged as that image", () => {
    const observer = observe();
    saw(observer, preview(), completed());
    expect(observer.complete).toBe(true);
    expect(counted(observer)).toEqual({ images: 1, input: 5, outputImage: 272, requests: 1 });
  });

  test("with the upstream's own error has failed, and an image that was only started is free", () => {
    const observer = observe();
    expect(saw(observer, preview(), broken)).toBe(preview() + broken);
    expect([observer.failed, observer.done, observer.complete]).toEqual([true, true, false]);
    expect(observer.usage).toBeUndefined();
  });

  test("by an error without a name has failed, too", () => {
    for (const data of [`{"error":{"message":"no"}}`, `{"type":"error","error":{}}`]) {
      const observer = observe();
      saw(observer, `data: ${data}\n\n`);
      expect(observer.failed).toBe(true);
    }
  });
});

describe("a stream of BytePlus", () => {
  test("holds its usage back until [DONE], and that counts", () => {
    const observer = observe();
    expect(saw(observer, succeeded(0), failedImage(1), succeeded(2))).toBe(
      succeeded(0) + failedImage(1) + succeeded(2),
    );
    expect(counted(observer)).toEqual({ images: 2, input: 5, requests: 1 });
    expect(saw(observer, finished(2))).toBe("");
    expect(observer.done).toBe(false);
    expect(saw(observer, DONE)).toBe(finished(2) + DONE);
    expect([observer.done, observer.complete, observer.failed]).toEqual([true, true, false]);
    expect(counted(observer)).toEqual({ images: 2, requests: 1 });
    expect(observer.usage?.variant?.size).toBe("2048x2048");
  });

  test("that breaks off is charged for the images so far", () => {
    const observer = observe();
    saw(observer, succeeded(0), succeeded(1, "1024x1024"));
    expect(counted(observer)).toMatchObject({ images: 2 });
    // Of two sizes: charged at the highest price.
    expect(observer.usage?.variant).toEqual({ size: undefined, quality: undefined });
    expect(observer.complete).toBe(false);
  });

  test("in which everything failed is complete, and free", () => {
    const observer = observe();
    saw(observer, failedImage(0), finished(0), DONE);
    expect(observer.complete).toBe(true);
    expect(observer.usage?.usage).toMatchObject({ images: 0 });
  });
});

test("a repeated prompt cannot be mistaken for an image or a usage", () => {
  const observer = observe();
  const said = String.raw`"b64_json":"x","usage":{"output_tokens":9}`;
  saw(observer, event("image_generation.completed", { revised_prompt: said, ...drawn, usage: usageOf(1, 2) }));
  expect(counted(observer)).toEqual({ images: 1, input: 1, outputImage: 2, requests: 1 });
});

test("bytes pass unchanged and in order, however events follow each other", () => {
  const comment = ": keep-alive\n\n";
  const any = fc.constantFrom(preview(), completed(usageOf(1, 2)), succeeded(0), finished(1), "event: x\ndata: {\n\n");
  const property = fc.property(fc.array(fc.tuple(any, fc.nat(1)), { maxLength: 12 }), (events) => {
    const observer = observe();
    const blocks = events.map(([one, comments]) => one + comment.repeat(comments));
    const shown = saw(observer, ...blocks) + (observer.close?.().toString() ?? "");
    const bare = (text: string) => text.replaceAll(comment, "");
    expect(bare(shown)).toBe(bare(blocks.join("")));
    expect(shown.length).toBe(blocks.join("").length);
  });
  fc.assert(property, { numRuns: 200 });
});

test("a large image is not copied", () => {
  const observer = observe();
  const bytes = Buffer.from(preview());
  expect(observer.see(bytes).buffer).toBe(bytes.buffer);
});
