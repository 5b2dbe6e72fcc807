/** OpenAI's own clients, with nothing changed but the address, the token and the model's prefix. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { OpenAIRealtimeWebSocket } from "openai/realtime/websocket";
import OpenAI from "openai";
import { RealtimeAgent, RealtimeSession, tool } from "@openai/agents-realtime";
import { z } from "zod";
import { cleanEnvironment, type Gateway, root, startGateway } from "../kit/index.ts";
import { model, realtimeScene } from "./realtime-scene.ts";

describe("OpenAI's SDK", () => {
  const scene = realtimeScene("SQLite");
  /** The SDK insists on TLS, which this gateway has not. */
  const onURL = (url: URL): void => {
    url.protocol = "ws:";
  };
  const newClient = (apiKey = scene.token): OpenAI => new OpenAI({ baseURL: `${scene.gateway.url}/v1`, apiKey });

  async function speak(realtime: OpenAIRealtimeWebSocket): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    realtime.on("error", reject);
    realtime.on("session.created", () => {
      realtime.send({ type: "session.update", session: { type: "realtime", output_modalities: ["text"] } });
      realtime.send({
        type: "conversation.item.create",
        item: { type: "message", role: "user", content: [{ type: "input_text", text: "words:3" }] },
      });
      realtime.send({ type: "response.create" });
    });
    realtime.on("response.output_text.done", ({ text }) => resolve(text));
    try {
      return await promise;
    } finally {
      realtime.close();
    }
  }

  test("its client for browsers: a text turn", async () => {
    const realtime = new OpenAIRealtimeWebSocket({ model, dangerouslyAllowBrowser: true, onURL }, newClient());
    expect(await speak(realtime)).toBe("word word word");
    expect(await scene.spent()).toBeGreaterThan(0n);
  });

  test("creates a client secret, and a browser's client uses it", async () => {
    const secret = await newClient().realtime.clientSecrets.create({
      expires_after: { anchor: "created_at", seconds: 30 },
      session: { type: "realtime", model, instructions: "Be brief." },
    });
    expect(secret.value).toStartWith("ek_");
    const realtime = new OpenAIRealtimeWebSocket(
      { model, dangerouslyAllowBrowser: true, onURL },
      newClient(secret.value),
    );
    const { promise, resolve, reject } = Promise.withResolvers<string | undefined>();
    realtime.on("error", reject);
    realtime.on("session.updated", ({ session }) =>
      resolve("instructions" in session ? session.instructions : undefined),
    );
    expect(await promise).toBe("Be brief.");
    realtime.close();
  });
});

/** A program of a user of OpenAI's SDK, which knows of the gateway its address, a token and nothing else. */
const speaker = `
import OpenAI from "openai";
import { OpenAIRealtimeWS } from "openai/realtime/ws";
const client = new OpenAI({ baseURL: process.env.TOLLGATE_URL + "/v1", apiKey: process.env.TOLLGATE_TOKEN });
await client.models.list();
const realtime = new OpenAIRealtimeWS({ model: "openai/gpt-realtime" }, client);
realtime.on("session.created", () => {
  realtime.send({ type: "session.update", session: { type: "realtime", output_modalities: ["text"] } });
  realtime.send({
    type: "conversation.item.create",
    item: { type: "message", role: "user", content: [{ type: "input_text", text: "words:3" }] },
  });
  realtime.send({ type: "response.create" });
});
realtime.on("response.output_text.done", ({ text }) => {
  console.log(text);
  realtime.close();
});
`;

describe("OpenAI's SDK with the gateway's own TLS", () => {
  let gateway: Gateway;
  beforeAll(async () => {
    gateway = await startGateway({
      providers: { openai: { kind: "openai", base_url: "https://api.openai.com/v1" } },
      arguments: ["--sandbox", "--tls"],
    });
  });
  afterAll(async () => {
    await gateway.stop();
  });

  test.each([
    ["Node.js", "node", ["--input-type=module", "-e"]],
    ["Bun", process.execPath, ["-e"]],
  ])("on %s: a text turn over wss, with the certificate of the sandbox", async (_, program, options) => {
    const { tokens, authority } = gateway.banner as { tokens: { user: string }; authority: string };
    const speak = async (variables: Record<string, string>) => {
      const child = Bun.spawn([program, ...options, speaker], {
        cwd: root,
        env: cleanEnvironment({ TOLLGATE_URL: gateway.url, TOLLGATE_TOKEN: tokens.user, ...variables }),
        stdout: "pipe",
        stderr: "pipe",
      });
      const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
      return { stdout, stderr, code };
    };
    expect(await speak({ NODE_EXTRA_CA_CERTS: authority })).toEqual({
      stdout: "word word word\n",
      stderr: "",
      code: 0,
    });
    expect((await speak({})).code).not.toBe(0);
  });
});

describe("OpenAI's SDK for agents", () => {
  const scene = realtimeScene("SQLite");

  test("a spoken turn with a tool", async () => {
    const calls: string[] = [];
    const weather = tool({
      name: "get_weather",
      description: "The weather of a city",
      parameters: z.object({ city: z.string() }),
      execute({ city }) {
        calls.push(city);
        return "sunny";
      },
    });
    const agent = new RealtimeAgent({ name: "Assistant", instructions: "Be brief.", tools: [weather] });
    const session = new RealtimeSession(agent, { transport: "websocket", model });
    const audio: number[] = [];
    const spoke = Promise.withResolvers<void>();
    session.on("audio", ({ data }) => void audio.push(data.byteLength));
    session.on("audio_stopped", () => spoke.resolve());
    session.on("error", ({ error }) => spoke.reject(new Error(JSON.stringify(error))));
    await session.connect({
      apiKey: scene.token,
      url: `${scene.gateway.url.replace("http", "ws")}/v1/realtime?model=${model}`,
    });
    session.sendMessage("Weather in Paris?");
    await spoke.promise;
    expect(calls).toHaveLength(1);
    expect(audio.length).toBeGreaterThan(0);
    session.close();
    // The sound ends before its response, which is charged while the session closes.
    expect(await scene.spent()).toBeGreaterThan(0n);
    expect((await scene.generations()).map(({ outcome }) => outcome)).toEqual(["complete", "complete"]);
  });
});
