/** OpenAI's own clients, with nothing changed but the address, the token and the model's prefix. */
import { describe, expect, test } from "bun:test";
import { type AddressInfo, connect } from "node:net";
import { createServer } from "node:tls";
import { OpenAIRealtimeWebSocket } from "openai/realtime/websocket";
import { OpenAIRealtimeWS } from "openai/realtime/ws";
import OpenAI from "openai";
import { RealtimeAgent, RealtimeSession, tool } from "@openai/agents-realtime";
import { z } from "zod";
import { selfSigned } from "../../src/upstream/__fixtures__/certificates.ts";
import { model, realtimeScene } from "./realtime-scene.ts";

/** Terminates TLS in front of a port. */
function startTlsProxy(target: number): { port: number; stop: () => void } {
  const server = createServer(selfSigned({ name: "gateway", hosts: ["127.0.0.1"] }), (outer) => {
    const inner = connect(target, "127.0.0.1");
    outer.pipe(inner).pipe(outer);
    outer.on("error", () => inner.destroy());
    inner.on("error", () => outer.destroy());
  });
  server.listen(0, "127.0.0.1");
  const { port } = server.address() as AddressInfo;
  return { port, stop: () => void server.close() };
}

describe("OpenAI's SDK", () => {
  const scene = realtimeScene("SQLite");
  /** The SDK always speaks TLS, which a proxy in front of the gateway would terminate. */
  const onURL = (url: URL): void => {
    url.protocol = "ws:";
  };
  const newClient = (apiKey = scene.token): OpenAI => new OpenAI({ baseURL: `${scene.gateway.url}/v1`, apiKey });

  async function speak(realtime: OpenAIRealtimeWebSocket | OpenAIRealtimeWS): Promise<string> {
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

  test("its client for servers, through a proxy that speaks TLS: a text turn", async () => {
    const proxy = startTlsProxy(Number(new URL(scene.gateway.url).port));
    try {
      const client = new OpenAI({ baseURL: `https://127.0.0.1:${proxy.port}/v1`, apiKey: scene.token });
      const realtime = new OpenAIRealtimeWS({ model, options: { rejectUnauthorized: false } }, client);
      expect(await speak(realtime)).toBe("word word word");
    } finally {
      proxy.stop();
    }
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
