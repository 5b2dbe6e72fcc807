/** The names of models in sessions: under the contract's prefixes, by aliases, and as clients write them. */
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { type Simulators, startSimulators } from "../../simulators/index.ts";
import { type Gateway, simulatedKey, startGateway } from "../kit/index.ts";
import { Client } from "./realtime-scene.ts";

let simulators: Simulators;
let gateway: Gateway;
const clients: Client[] = [];
beforeAll(async () => {
  simulators = await startSimulators();
  const { xai, openai } = simulators.providers;
  gateway = await startGateway({
    providers: {
      provider_x: { kind: "xai", base_url: xai, api_key: simulatedKey },
      provider_a: { kind: "openai", base_url: openai, api_key: simulatedKey },
    },
    config: {
      models: {
        aliases: {
          voice: "provider_a/gpt-realtime",
          "team/*": "provider_a/*",
          listener: "provider_a/gpt-4o-transcribe",
        },
      },
    },
  });
});
afterEach(() => {
  for (const { socket } of clients.splice(0)) socket.terminate();
});
afterAll(async () => {
  await gateway.stop();
  await simulators.stop();
});

async function open(query: string): Promise<Client> {
  const token = await gateway.token();
  const client = new Client(`${gateway.url.replace("http", "ws")}/v1/realtime?${query}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  clients.push(client);
  await client.opened;
  return client;
}

test("intent=transcription without a model uses the first provider that transcribes, whatever its prefix", async () => {
  const client = await open("intent=transcription");
  expect(simulators.sockets().at(-1)?.path).toBe("/openai/v1/realtime?intent=transcription");
  const updated = client.next("session.updated");
  const input = { transcription: { model: "gpt-4o-transcribe" }, turn_detection: null };
  client.send({ type: "session.update", session: { type: "transcription", audio: { input } } });
  await updated;
});

const realtimeNames = ["voice", "team/gpt-realtime", "provider_a/gpt-realtime", "gpt-realtime"];
test.each(realtimeNames.flatMap((opened) => realtimeNames.map((named) => [opened, named] as const)))(
  "a session of %s may be updated as %s",
  async (opened, named) => {
    const client = await open(`model=${opened === "gpt-realtime" ? "voice" : opened}`);
    const updated = client.next("session.updated");
    client.send({ type: "session.update", session: { type: "realtime", model: named, instructions: "Be brief." } });
    expect((await updated)["session"]).toMatchObject({ instructions: "Be brief." });
    const sent = JSON.parse(simulators.sockets().at(-1)?.messages.at(-1) ?? "") as { session: object };
    expect(sent.session).toMatchObject({ model: "gpt-realtime" });
  },
);

test("a session of a transcription model may be updated by an alias of it", async () => {
  const client = await open("intent=transcription&model=listener");
  await client.event("session.updated");
  const updated = client.next("session.updated");
  const input = { transcription: { model: "listener" }, turn_detection: null };
  client.send({ type: "session.update", session: { type: "transcription", audio: { input } } });
  await updated;
  const sent = simulators.sockets().at(-1)?.messages.at(-1) ?? "";
  expect(sent).toContain(`"model":"gpt-4o-transcribe"`);
});

test.each(["provider_a/gpt-realtime-mini", "listener", "team/other", "nobody/gpt-realtime", "", 5])(
  "another model, %p, is refused",
  async (named) => {
    const client = await open("model=voice");
    client.send({ type: "session.update", session: { type: "realtime", model: named } });
    expect((await client.event("error"))["error"]).toMatchObject({ code: "validation_failed", param: "session.model" });
    const refused = client.next("error");
    client.send({ type: "response.create", response: { model: named } });
    expect((await refused)["error"]).toMatchObject({ code: "validation_failed", param: "response.model" });
  },
);
