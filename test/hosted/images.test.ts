/** The hosted tool for images, run by the gateway's own tools, for a model that knows chat alone. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import { type JsonObject, objectOf } from "../../src/core/index.ts";
import { openGenerationStore } from "../../src/generations/index.ts";
import { oneCredit, post, until } from "../kit/index.ts";
import { hostedScene, type HostedScene, model, type ModelAnswer } from "./hosted-scene.ts";

const painter = "pictures/gpt-image-1";

/** Where a provider has put its images. */
const pictures = (): string => `127.0.0.1:${shelf?.port}`;
let shelf: ReturnType<typeof Bun.serve> | undefined;
beforeAll(() => {
  const png = { headers: { "content-type": "image/png" } };
  shelf = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: ({ url }) =>
      url.endsWith("/cat.png") ? new Response(Buffer.from(data, "base64"), png) : new Response("gone", { status: 410 }),
  });
});
afterAll(() => shelf?.stop(true));

const at = hostedScene(
  {
    mcp: { models: { image: painter, image_edit: painter } },
    // A round costs a hundredth of a credit.
    pricing: {
      models: { "plain/model": { requests_kcount: 10 }, [painter]: { input_mtok: 5, output_image_mtok: 40 } },
    },
  },
  { privateHosts: () => [pictures()] },
);
const ROUND = oneCredit / 100n;

const openai = ({ rig, caller }: HostedScene): OpenAI =>
  new OpenAI({ baseURL: `${rig.gateway.url}/v1`, apiKey: caller.token, maxRetries: 0 });

const draw = (prompt: string, more: JsonObject = {}): ModelAnswer => ({
  calls: [{ name: "image_generation", args: { prompt, ...more } }],
});
const done: ModelAnswer = { text: "Done." };
const data = "iVBORw0KGgo=";
const tool = { type: "image_generation" as const };
const ask = { model, input: "Draw a cat.", tools: [tool] };
const sent = ({ drawn }: HostedScene): unknown => drawn.map(({ body }) => objectOf(JSON.parse(body)));
const plain = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value)
      .replaceAll(/_0[a-z0-9]{24}/g, "")
      .replaceAll(',"parsed":null', ""),
  );

test("an image is made with the options of the tool; its events, item and price are those of both", async () => {
  const scene = at();
  const before = await scene.caller.closed();
  const options = { size: "1024x1024", quality: "low", background: "opaque", moderation: "low" } as const;
  const asked = { ...ask, tools: [{ ...tool, ...options, partial_images: 2 }] };
  scene.answers({ text: "Here it comes.", ...draw("a cat") }, done);
  const stream = openai(scene).responses.stream(asked);
  const names: string[] = [];
  for await (const { type } of stream) if (type.includes("image")) names.push(type.replace("response.", ""));
  expect(names).toEqual(["in_progress", "generating", "completed"].map((name) => `image_generation_call.${name}`));
  const { output } = await stream.finalResponse();
  expect(output).toMatchObject([
    { type: "message" },
    {
      type: "image_generation_call",
      status: "completed",
      result: data,
      revised_prompt: "a red cat",
      size: "1024x1024",
      quality: "low",
      background: "opaque",
      output_format: "png",
      action: "generate",
    },
    { type: "message" },
  ]);
  expect(sent(scene)).toEqual([{ model: "gpt-image-1", prompt: "a cat", n: 1, ...options }]);
  expect((await scene.caller.closed()) - before).toBe((41n * oneCredit) / 1000n + 2n * ROUND);
  scene.answers({ text: "Here it comes.", ...draw("a cat") }, done);
  const whole = await openai(scene).responses.create(asked);
  expect(plain(whole.output)).toEqual(plain(output));
  const parts = await fetch(`${scene.rig.gateway.url}/v1/generations?parent_id=${whole.id.replace("resp_", "req_")}`, {
    headers: { authorization: `Bearer ${scene.caller.token}` },
  });
  const { data: listed } = (await parts.json()) as { data: { operation: string }[] };
  expect(listed.map(({ operation }) => operation).toSorted()).toEqual(["image_generation", "responses", "responses"]);
});

describe("an edit", () => {
  const picture = `data:image/png;base64,${data}`;
  const asked = {
    ...ask,
    input: [
      {
        role: "user" as const,
        content: [{ type: "input_image" as const, image_url: picture, detail: "auto" as const }],
      },
    ],
  };

  test.each([
    ["that the model chooses", tool, { edit: true }, "/edits"],
    ["that the model does not choose", tool, {}, "/generations"],
    ["that the tool demands", { ...tool, action: "edit" as const }, {}, "/edits"],
    ["that the tool excludes", { ...tool, action: "generate" as const }, { edit: true }, "/generations"],
  ])("%s", async (_title, own, args, path) => {
    const scene = at();
    scene.answers(draw("blue", args), done);
    await openai(scene).responses.create({ ...asked, tools: [own] });
    expect(scene.drawn.map((each) => each.path.replace("/pictures/images", ""))).toEqual([path]);
    if (path === "/edits") expect(scene.drawn[0]?.body).toContain('name="image"; filename="file-0.png"');
    const properties = objectOf(
      objectOf(objectOf(scene.asked[0]?.tools?.[0]?.function)?.["parameters"])?.["properties"],
    );
    expect(Object.keys(properties ?? {})).toEqual(own === tool ? ["prompt", "edit"] : ["prompt"]);
  });

  test("is of the image made before, in this answer or by id in a later one", async () => {
    const scene = at();
    scene.answers(draw("a cat"), draw("blue", { edit: true }), done);
    const first = await openai(scene).responses.create({ ...ask, store: true });
    expect(scene.drawn.map(({ path }) => path)).toEqual(["/pictures/images/generations", "/pictures/images/edits"]);
    for (const next of [
      { previous_response_id: first.id, input: "Make it blue." },
      {
        input: [
          { type: "image_generation_call", id: first.output[0]?.id } as never,
          { role: "user", content: "Blue." },
        ],
      },
      {
        input: [...(first.output as OpenAI.Responses.ResponseInputItem[]), { role: "user" as const, content: "Blue." }],
      },
    ] as OpenAI.Responses.ResponseCreateParamsNonStreaming[]) {
      scene.answers(draw("blue", { edit: true }), done);
      await openai(scene).responses.create({ ...ask, ...next });
      expect(scene.drawn.map(({ path }) => path)).toEqual(["/pictures/images/edits"]);
      // The model sees the image too.
      expect(JSON.stringify(scene.asked[0]?.messages)).toContain(data);
    }
  });

  test("of nothing is a result that says so, and so are a mask at the provider and another user's image", async () => {
    const scene = at();
    scene.answers(draw("blue", { edit: true }), done);
    const { output } = await openai(scene).responses.create(ask);
    expect(output[0]).toMatchObject({ type: "image_generation_call", status: "failed", result: null });
    expect(scene.asked[1]?.messages.at(-1)?.content).toContain("no image in this conversation");
    expect(scene.drawn).toEqual([]);
    const masked = { ...tool, input_image_mask: { file_id: "file-1" } };
    const refused = await scene.post("/v1/responses", { input: "Hi", tools: [masked] });
    expect(await refused.text()).toContain("input_image_mask");
    scene.answers(draw("a cat"), done);
    const made = await openai(scene).responses.create({ ...ask, store: true });
    const apiKey = await scene.rig.gateway.token({ user: "eve" });
    const eve = new OpenAI({ baseURL: `${scene.rig.gateway.url}/v1`, apiKey, maxRetries: 0 });
    scene.answers(draw("blue", { edit: true }), done);
    const stolen = { type: "image_generation_call", id: made.output[0]?.id } as never;
    const answer = eve.responses.create({ ...ask, input: [stolen, { role: "user", content: "Blue." }] });
    await answer.catch(() => undefined);
    expect(scene.drawn).toEqual([]);
    expect(JSON.stringify(scene.asked)).not.toContain(data);
  });
});

test("a refusal of the provider, and a model without an image, are results; `max_tool_calls` holds", async () => {
  const scene = at();
  const { answer } = scene.painter;
  const error = { message: "Your request was rejected by the safety system.", code: "moderation_blocked" };
  scene.painter.answer = () =>
    Response.json({ error: { ...error, type: "image_generation_user_error" } }, { status: 400 });
  scene.answers(draw("bad"), draw(" "), done);
  const before = await scene.caller.closed();
  const response = await scene.post("/v1/responses", { ...ask, max_tool_calls: 2 });
  scene.painter.answer = answer;
  const { output } = (await response.json()) as { output: JsonObject[] };
  expect(output.map(({ type, status }) => [type, status])).toEqual([
    ["image_generation_call", "failed"],
    ["image_generation_call", "failed"],
    ["message", "completed"],
  ]);
  expect(JSON.stringify(scene.asked.at(-1)?.messages)).toContain("rejected by the safety system");
  expect(scene.drawn).toHaveLength(1);
  expect((await scene.caller.closed()) - before).toBe(3n * ROUND);
});

test("an image is made in the background too, and hanging up ends it", async () => {
  const scene = at();
  scene.answers(draw("a cat"), done);
  const { id } = await openai(scene).responses.create({ ...ask, background: true });
  await until("it is done", async () => (await openai(scene).responses.retrieve(id)).status === "completed");
  const { output } = await openai(scene).responses.retrieve(id);
  expect(output[0]).toMatchObject({ type: "image_generation_call", status: "completed", result: data });
  const { answer } = scene.painter;
  const reached = Promise.withResolvers<void>();
  const made = Promise.withResolvers<void>();
  scene.painter.answer = async () => {
    reached.resolve();
    await made.promise;
    return answer();
  };
  scene.answers(draw("a cat"), done);
  const before = await scene.caller.closed();
  const leaving = new AbortController();
  const body = { ...ask, stream: true };
  const left = await post(scene.rig, "/v1/responses", scene.caller.token, body, { signal: leaving.signal });
  const reading = left.text().catch(() => undefined);
  await reached.promise;
  leaving.abort();
  await reading;
  const store = openGenerationStore(scene.rig.gateway.storage);
  const call = left.headers.get("x-request-id") ?? "";
  const ended = await until("the call has ended", async () => (await store.find(call, scene.caller.user)) ?? false);
  made.resolve();
  scene.painter.answer = answer;
  expect(ended.outcome).toBe("abandoned");
  // The image is made all the same, and charged as on its own route; the model is not asked again.
  expect((await scene.caller.closed()) - before).toBe((41n * oneCredit) / 1000n + ROUND);
  expect(scene.asked).toHaveLength(1);
});

describe("an image that the provider gives as a link", () => {
  const usage = { input_tokens: 200, output_tokens: 1_000, total_tokens: 1_200 };
  const linked = async (url: string, ...answers: ModelAnswer[]) => {
    const scene = at();
    const { answer } = scene.painter;
    scene.painter.answer = () => Response.json({ created: 1, data: [{ url }], usage });
    scene.answers(...answers);
    const before = await scene.caller.closed();
    const { output } = await openai(scene).responses.create(ask);
    scene.painter.answer = answer;
    return { scene, output, charged: (await scene.caller.closed()) - before };
  };

  test("is read there", async () => {
    const { output } = await linked(`http://${pictures()}/cat.png`, draw("a cat"), done);
    expect(output[0]).toMatchObject({ type: "image_generation_call", status: "completed", result: data });
  });

  test.each([
    ["is gone", () => `http://${pictures()}/gone.png`, "answered with 410"],
    ["may not be opened", () => "http://127.0.0.1:9/x.png", "can't be read"],
  ])("and %s is paid for once", async (_title, url, reason) => {
    const { scene, output, charged } = await linked(url(), draw("a cat"), draw("a cat"), done);
    expect(output.map((item) => ("status" in item ? item.status : ""))).toEqual(["failed", "failed", "completed"]);
    expect(JSON.stringify(scene.asked.at(-1)?.messages)).toContain(reason);
    expect(scene.drawn).toHaveLength(1);
    expect(charged).toBe((41n * oneCredit) / 1000n + 3n * ROUND);
  });
});

test("images of one round are made two at a time", async () => {
  const scene = at();
  const { answer } = scene.painter;
  let [running, most] = [0, 0];
  const both = Promise.withResolvers<void>();
  scene.painter.answer = async () => {
    running += 1;
    most = Math.max(most, running);
    if (running === 2) both.resolve();
    await both.promise;
    // Others that are under way would come meanwhile.
    await scene.rig.gateway.token({ user: "other" });
    running -= 1;
    return answer();
  };
  scene.answers(
    { calls: Array.from({ length: 6 }, () => ({ name: "image_generation", args: { prompt: "a cat" } })) },
    done,
  );
  const { output } = await openai(scene).responses.create(ask);
  scene.painter.answer = answer;
  expect(output.map((item) => ("status" in item ? item.status : ""))).toEqual(
    Array.from({ length: 7 }, () => "completed"),
  );
  expect([scene.drawn.length, most]).toEqual([6, 2]);
});

test("a model that nobody here has, and partial images, are named in the headers", async () => {
  const scene = at();
  const changesFor = async (more: object): Promise<string | null> => {
    scene.answers(draw("a cat"), done);
    const answer = await scene.post("/v1/responses", { input: "Hi", tools: [{ ...tool, ...more }] });
    expect(JSON.parse(scene.drawn[0]?.body ?? "")).toMatchObject({ model: "gpt-image-1" });
    return answer.headers.get("x-tollgate-changes");
  };
  expect(await changesFor({ model: painter })).toBeNull();
  expect(await changesFor({ model: "gpt-image-9" })).toBe("images");
  expect(await changesFor({ partial_images: 1 })).toBe("images");
});

test("an image that can't be paid ends the answer, with what there is", async () => {
  const scene = at();
  const token = await scene.rig.gateway.token({ user: "poor", credits: 2n * ROUND });
  const poor = new OpenAI({ baseURL: `${scene.rig.gateway.url}/v1`, apiKey: token, maxRetries: 0 });
  scene.answers({ text: "Here it comes.", ...draw("a cat") }, done);
  const { status, incomplete_details: details, output } = await poor.responses.create(ask);
  expect([status, details?.reason]).toEqual(["incomplete", "max_output_tokens"]);
  expect(output.map(({ type }) => type)).toEqual(["message", "image_generation_call"]);
  expect(scene.drawn).toEqual([]);
});

test("a token without the right gets no images, a forced tool is refused by its name", async () => {
  const scene = at();
  const token = await scene.rig.gateway.token({ user: "limited", tools: ["*", "!image_generate"] });
  const limited = new OpenAI({ baseURL: `${scene.rig.gateway.url}/v1`, apiKey: token, maxRetries: 0 });
  scene.answers(done);
  const { response } = await limited.responses.create(ask).withResponse();
  expect(response.headers.get("x-tollgate-dropped-tools")).toBe("image_generation");
  const forced = limited.responses.create({ ...ask, tool_choice: { type: "image_generation" } });
  expect(await forced.catch((thrown: Error) => thrown.message)).toContain("image_generation");
});
