/** OpenAI's SDK against a gateway in front of the simulated providers. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "bun:test";
import OpenAI, { toFile } from "openai";
import { query, type Rig, startRig } from "../kit/index.ts";

const clip = readFileSync(new URL("../../simulators/shared/videos/clip.mp4", import.meta.url));
/** A job waits for a second and runs for three. */
const JOB_MS = 4_000;

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({
    config: {
      pricing: {
        models: {
          "openai/*": { output_video_seconds: { "720p": 0.1 } },
          "xai/*": { output_video_seconds: 0.05 },
          "byteplus/*": { output_video_mtok: 7 },
        },
      },
    },
  });
});
afterAll(() => rig.stop());

async function newClient(): Promise<{ client: OpenAI; closed: () => Promise<bigint> }> {
  const caller = await rig.caller();
  const { token, user } = caller;
  await rig.gateway.cli("credits", "grant", "--user", user, "--amount", "10");
  return {
    client: new OpenAI({ baseURL: `${rig.gateway.url}/v1`, apiKey: token, maxRetries: 0 }),
    closed: () => caller.closed(),
  };
}

/** The simulated jobs come to their end, and the next look-up asks for it. */
async function finishJobs(): Promise<void> {
  rig.simulators.advance(JOB_MS);
  await query(rig.gateway.storage, "UPDATE videos SET polled_at = 1");
}

/** The status of a refusal. */
async function statusOf(call: Promise<unknown>): Promise<unknown> {
  const thrown: unknown = await call.catch((reason: unknown) => reason);
  return thrown instanceof OpenAI.APIError ? thrown.status : thrown;
}

test("a video is created, looked up, downloaded, changed, listed and deleted", async () => {
  const { client, closed } = await newClient();
  const created = await client.videos.create({
    model: "openai/sora-2",
    prompt: "a cat",
    seconds: "4",
    size: "1280x720",
  });
  expect(created).toMatchObject({ object: "video", status: "queued", model: "sora-2", seconds: "4", progress: 0 });
  await finishJobs();
  const done = await client.videos.retrieve(created.id);
  expect(done).toMatchObject({ id: created.id, status: "completed", progress: 100, prompt: "a cat" });
  const content = await client.videos.downloadContent(created.id);
  expect(content.headers.get("content-type")).toBe("video/mp4");
  expect(Buffer.from(await content.arrayBuffer()).equals(clip)).toBe(true);
  const part = await client.videos.downloadContent(created.id, {}, { headers: { range: "bytes=4-7" } });
  expect([part.status, await part.text()]).toEqual([206, "ftyp"]);

  const edited = await client.videos.edit({ prompt: "more light", video: { id: created.id } });
  const longer = await client.videos.extend({ prompt: "go on", video: { id: created.id }, seconds: "8" });
  await finishJobs();
  expect(await client.videos.retrieve(edited.id)).toMatchObject({
    status: "completed",
    remixed_from_video_id: created.id,
  });
  expect(await client.videos.retrieve(longer.id)).toMatchObject({ status: "completed", seconds: "12" });

  const listed: string[] = [];
  for await (const { id } of client.videos.list({ limit: 2 })) listed.push(id);
  expect(listed).toEqual([longer.id, edited.id, created.id]);
  expect(await client.videos.delete(created.id)).toEqual({ id: created.id, object: "video.deleted", deleted: true });
  expect(await statusOf(client.videos.retrieve(created.id))).toBe(404);
  // Four seconds twice, and eight that were added.
  expect(await closed()).toBe(1_600_000_000n);
});

test("an image that is sent along, in a form, begins the video of each provider", async () => {
  const { client } = await newClient();
  const png = Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==",
    "base64",
  );
  for (const model of ["openai/sora-2", "xai/grok-imagine-video", "byteplus/seedance-1-5-pro-251215"]) {
    const input_reference = await toFile(png, "first.png", { type: "image/png" });
    const job = await client.videos.create({ model, prompt: "it moves", input_reference });
    expect(job.status, model).toBe("queued");
  }
  await finishJobs();
});

test.each([
  ["xai/grok-imagine-video", 400_000_000n],
  // 1280 × 720 × 24 × 8 / 1024 tokens, at 7 credits a million.
  ["byteplus/seedance-1-5-pro-251215", 1_209_600_000n],
])("%s: the life of a job, whose address plays without a key", async (model, credits) => {
  const { client, closed } = await newClient();
  const options = { model, prompt: "a cat", seconds: "8", size: "1280x720" } as const;
  const { id } = await client.videos.create(model.startsWith("xai") ? { model, prompt: "a cat" } : options);
  await finishJobs();
  const done = (await client.videos.retrieve(id)) as OpenAI.Video & { output: { type: string; url: string }[] };
  expect(done).toMatchObject({ status: "completed", seconds: "8", output: [{ type: "video" }] });
  expect(typeof done.expires_at).toBe("number");
  const downloaded = await fetch(done.output[0]?.url ?? "");
  expect(Buffer.from(await downloaded.arrayBuffer()).equals(clip)).toBe(true);
  expect(await closed()).toBe(credits);
});

test.each([
  ["openai/sora-2", "fail", 0n],
  ["openai/sora-2", "block", 0n],
  ["xai/grok-imagine-video", "fail", 0n],
  ["xai/grok-imagine-video", "fail-billed", 400_000_000n],
  ["xai/grok-imagine-video", "expire", 0n],
  // Withheld, and billed.
  ["xai/grok-imagine-video", "block", 400_000_000n],
  ["byteplus/seedance-1-5-pro-251215", "fail", 0n],
  ["byteplus/seedance-1-5-pro-251215", "expire", 0n],
])("%s: a job that ends by video:%s has failed, and costs what the provider bills", async (model, word, credits) => {
  const { client, closed } = await newClient();
  const { id } = await client.videos.create({ model, prompt: `x video:${word}` });
  await finishJobs();
  const { status, error } = await client.videos.retrieve(id);
  expect(status).toBe("failed");
  expect(error?.code).toBeString();
  expect(await closed()).toBe(credits);
});

test("BytePlus's: a queued job is cancelled, one that runs is not", async () => {
  const { client, closed } = await newClient();
  const create = () => client.videos.create({ model: "byteplus/seedance-1-5-pro-251215", prompt: "x" });
  const waiting = await create();
  expect(await client.videos.delete(waiting.id)).toMatchObject({ deleted: true });
  const running = await create();
  rig.simulators.advance(2_000);
  expect(await statusOf(client.videos.delete(running.id))).toBe(409);
  await finishJobs();
  expect(await client.videos.retrieve(running.id)).toMatchObject({ status: "completed" });
  expect(await closed()).toBeGreaterThan(0n);
});

test("the models are listed with their operations and prices", async () => {
  const { client } = await newClient();
  const { data } = await client.models.list();
  const listed = new Map(data.map((model) => [model.id, model as unknown as Record<string, unknown>]));
  const all = ["video_generation", "video_edit", "video_extension"];
  expect(listed.get("openai/sora-2")).toMatchObject({
    operations: all,
    pricing: { output_video_seconds: { "720p": 0.1 } },
  });
  expect(listed.get("xai/grok-imagine-video")).toMatchObject({ operations: all });
  expect(listed.get("byteplus/seedance-1-5-pro-251215")).toMatchObject({ operations: ["video_generation"] });
  expect(listed.get("openai/gpt-5-mini")).toMatchObject({ operations: ["chat", "messages", "responses", "gemini"] });
});

test("the books balance", () => rig.expectBalancedBooks());
