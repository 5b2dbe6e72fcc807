/** OpenAI's SDK for Azure, and requests as other clients of Azure send them: the model is in the address. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { AzureOpenAI, toFile } from "openai";
import { formOf, imageFile, soundFile } from "../../simulators/testing/media.ts";
import { type Caller, lastReceived, type Rig, startRig } from "../kit/index.ts";

const apiVersion = "2024-10-21";
const chatModel = "openai/gpt-4o-mini";

let rig: Rig;
let caller: Caller;
let azure: AzureOpenAI;
beforeAll(async () => {
  rig = await startRig({ config: { upstream: { retries: 0 } } });
  caller = await rig.caller();
  azure = new AzureOpenAI({ endpoint: rig.gateway.url, apiKey: caller.token, apiVersion, maxRetries: 0 });
});
beforeEach(() => rig.simulators.clear());
afterAll(async () => {
  await rig.expectBalancedBooks();
  await rig.stop();
});

const messages = [{ role: "user" as const, content: "Hello" }];
const said = "You said: Hello. That is all I have to say.";

function send(path: string, body: object | FormData | undefined, headers: Record<string, string> = {}) {
  const isForm = body instanceof FormData;
  return fetch(rig.gateway.url + path, {
    method: body === undefined ? "GET" : "POST",
    headers: { "api-key": caller.token, ...(isForm ? {} : { "content-type": "application/json" }), ...headers },
    ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
  });
}

interface Answer {
  choices?: { message: { content: string } }[];
  error?: { code: string; message: string };
}

const answerOf = async (response: Response): Promise<Answer> => (await response.json()) as Answer;

describe("the SDK", () => {
  test.each([chatModel, "anthropic/claude-haiku-4-5", "google/gemini-2.5-flash"])("chats with %s", async (model) => {
    const { choices } = await azure.chat.completions.create({ model, messages });
    expect(choices[0]?.message.content).toBe(said);
  });

  test("streams", async () => {
    const stream = await azure.chat.completions.create({ model: "anthropic/claude-haiku-4-5", messages, stream: true });
    const chunks = await Array.fromAsync(stream);
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("")).toBe(said);
  });

  test("has a deployment whose name wins over the model's", async () => {
    const options = { endpoint: rig.gateway.url, apiKey: caller.token, apiVersion, deployment: chatModel };
    const answer = await new AzureOpenAI(options).chat.completions.create({ model: "other/model", messages });
    expect(answer.model).toStartWith("gpt-4o-mini");
  });

  test("makes responses, embeddings, images and sound, and reads models and files", async () => {
    const response = await azure.responses.create({ model: "google/gemini-2.5-flash", input: "Hello" });
    expect(response.output_text).toBe(said);
    expect((await azure.responses.retrieve(response.id)).id).toBe(response.id);
    const { data } = await azure.embeddings.create({ model: "openai/text-embedding-3-small", input: "Hello" });
    expect(data[0]?.embedding.length).toBeGreaterThan(0);
    const made = await azure.images.generate({ model: "google/gemini-2.5-flash-image", prompt: "a fox" });
    expect(made.data).toHaveLength(1);
    const image = imageFile(64, 64, "png");
    const edited = await azure.images.edit({ model: "openai/gpt-image-1", image, prompt: "a fox", size: "1024x1024" });
    expect(edited.data).toHaveLength(1);
    const speech = await azure.audio.speech.create({ model: "openai/tts-1", voice: "alloy", input: "Hello" });
    const file = await toFile(await speech.arrayBuffer(), "hello.mp3");
    expect((await azure.audio.transcriptions.create({ model: "xai/grok-stt", file })).text).not.toBe("");
    expect((await azure.models.list()).data.map(({ id }) => id)).toContain(chatModel);
    expect((await azure.files.list()).data).toEqual([]);
    expect(lastReceived(rig).path).not.toContain("api-version");
  });

  test("opens WebSockets", async () => {
    const url = `${rig.gateway.url.replace("http", "ws")}/openai/v1/responses?api-version=${apiVersion}`;
    const socket = new WebSocket(url, { headers: { authorization: `Bearer ${caller.token}` } });
    const opened = new Promise((resolve) => {
      socket.addEventListener("open", () => resolve("open"));
      socket.addEventListener("error", () => resolve("refused"));
    });
    expect(await opened).toBe("open");
    socket.close();
  });

  test("reads errors", async () => {
    const refused = azure.chat.completions.create({ model: "nobody/model", messages });
    expect(await refused.catch((error: unknown) => error)).toMatchObject({ status: 404, code: "model_not_routed" });
  });
});

describe("an address", () => {
  test.each([
    `/openai/deployments/openai%2Fgpt-4o-mini/chat/completions?api-version=${apiVersion}`,
    "/openai/deployments/openai/gpt-4o-mini/chat/completions",
  ])("%s is the model of a body without one", async (path) => {
    expect((await answerOf(await send(path, { messages }))).choices?.[0]?.message.content).toBe(said);
  });

  test("is the model of a form without one, and the answer costs as much", async () => {
    const sent = async (path: string, fields: object) => {
      const form = formOf({ ...fields, file: soundFile(7.2, "mp3") });
      const response = await send(path, form);
      expect(response.status).toBe(200);
      const names = lastReceived(rig).parts?.map(({ name }) => name);
      expect(names?.filter((name) => name === "model")).toEqual(["model"]);
      return [await response.json(), response.headers.get("x-tollgate-credits")];
    };
    const path = "/openai/deployments/openai%2Fwhisper-1/audio/transcriptions";
    const plain = await sent("/v1/audio/transcriptions", { model: "openai/whisper-1" });
    expect(await sent(path, {})).toEqual(plain);
    expect(await sent(path, { model: "other/model" })).toEqual(plain);
  });

  test("is part of what a retry key was used with", async () => {
    const form = () => formOf({ file: soundFile(1, "mp3") });
    const key = { "idempotency-key": "azure-1" };
    const at = (model: string) => `/openai/deployments/${model}/audio/transcriptions`;
    const first = await send(at("openai%2Fwhisper-1"), form(), key);
    const again = await send(at("openai%2Fwhisper-1"), form(), key);
    expect([first.status, again.status, await again.text()]).toEqual([200, 200, await first.text()]);
    expect((await send(at("openai%2Fgpt-4o-transcribe"), form(), key)).status).toBe(409);
  });

  test("without a version is that of any client", async () => {
    const body = { model: chatModel, messages };
    expect((await send("/openai/v1/chat/completions", body)).status).toBe(200);
    expect((await send(`/openai/chat/completions?api-version=${apiVersion}`, body)).status).toBe(200);
  });

  test.each([
    "/openai/deployments/openai%2Fgpt-4o-mini/nothing",
    "/openai/deployments/openai%2Fgpt-4o-mini",
    "/openai/deployments//chat/completions",
    "/openai/deployments/openai%2Fgpt-4o-mini/user/info",
    "/openai/nothing",
    "/openai/",
  ])("%s is none", async (path) => {
    const { error } = await answerOf(await send(path, { model: chatModel, messages }));
    expect(error?.code).toBe("route_not_found");
  });

  test("needs a token, and gives no more than its own", async () => {
    const path = "/openai/deployments/openai%2Fgpt-4o-mini/chat/completions";
    expect((await send(path, { messages }, { "api-key": "" })).status).toBe(401);
    const mine = await azure.responses.create({ model: chatModel, input: "Hello" });
    const { token } = await rig.caller();
    expect((await send(`/openai/v1/responses/${mine.id}`, undefined, { "api-key": token })).status).toBe(404);
    const narrow = await rig.gateway.token({ user: "narrow", models: ["anthropic/*"] });
    expect((await send(path, { messages }, { "api-key": narrow })).status).toBe(404);
  });
});
