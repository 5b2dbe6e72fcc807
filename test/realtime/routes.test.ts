/** Sessions of routes: the target is chosen at the handshake, and another one follows a refused handshake alone. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { post, type Rig, startRig } from "../kit/index.ts";
import { Client, nano } from "./realtime-scene.ts";

const dead = "http://127.0.0.1:9/v1";
const refusing = "openai/gpt-realtime+status-503";

let rig: Rig;
const clients: Client[] = [];
beforeAll(async () => {
  rig = await startRig({
    providers: ({ providers }) => ({
      down: { kind: "openai", base_url: dead, api_key: "unused" },
      other: { kind: "openai", base_url: providers.openai, api_key: "second" },
      shared: { kind: "openai", base_url: providers.openai, api_key: "third", shared_stores: true },
      refused: { kind: "openai", base_url: providers.openai, api_keys: ["one", "two", "three"] },
    }),
    config: {
      upstream: { retries: 2 },
      pricing: {
        models: {
          "other/gpt-realtime": { input_mtok: 1_000_000, output_mtok: 1_000_000 },
          "*": { input_mtok: 1, output_mtok: 2, input_audio_mtok: 1, output_audio_mtok: 2 },
        },
      },
      routing: {
        circuits: false,
        routes: {
          talk: { tiers: [[{ model: "down/m" }, { model: refusing }], [{ model: "openai/gpt-realtime" }]] },
          refusing: { tiers: [[{ model: refusing }, { model: "down/m" }]] },
          limits: { tiers: [[{ model: refusing }, { model: "openai/gpt-realtime", on: ["rate_limited"] }]] },
          dear: { tiers: [[{ model: refusing }, { model: "other/gpt-realtime" }, { model: "openai/gpt-realtime" }]] },
          first: { tiers: [[{ model: "other/gpt-realtime" }, { model: "openai/gpt-realtime" }]] },
          over: {
            over_budget: "next",
            tiers: [[{ model: "other/gpt-realtime" }, { model: "openai/gpt-realtime" }]],
          },
          texts: { tiers: [[{ model: "mistral/m" }, { model: "openai/gpt-realtime" }]] },
          keys: { tiers: [[{ model: "refused/gpt-realtime+status-401" }, { model: "openai/gpt-realtime" }]] },
          hears: { tiers: [[{ model: "down/whisper" }, { model: "openai/gpt-4o-transcribe" }]] },
          stores: { tiers: [[{ model: "shared/gpt-realtime+status-503" }, { model: "openai/gpt-realtime" }]] },
        },
      },
    },
  });
});
beforeEach(() => rig.simulators.clear());
afterEach(async () => {
  for (const { socket } of clients.splice(0)) socket.terminate();
  await rig.expectBalancedBooks();
});
afterAll(() => rig.stop());

interface Opening {
  headers?: Record<string, string>;
  credits?: number;
  models?: string[];
  token?: string;
}

async function tokenOf({ credits, models, token }: Opening): Promise<string> {
  const user = { user: crypto.randomUUID(), ...(models && { models }) };
  return token ?? rig.gateway.token({ ...user, ...(credits !== undefined && { credits: nano(credits) }) });
}

/** A session that answers a question. */
async function open(query: string, opening: Opening = {}): Promise<Client> {
  const headers = { authorization: `Bearer ${await tokenOf(opening)}`, ...opening.headers };
  const client = new Client(`${rig.gateway.url.replace("http", "ws")}/v1/realtime?${query}`, { headers });
  clients.push(client);
  await client.opened;
  await client.event("session.created");
  return client;
}

async function refusal(model: string, opening: Opening = {}): Promise<{ status: number; code: string }> {
  const answer = await fetch(`${rig.gateway.url}/v1/realtime?model=${encodeURIComponent(model)}`, {
    headers: {
      authorization: `Bearer ${await tokenOf(opening)}`,
      upgrade: "websocket",
      connection: "upgrade",
      "sec-websocket-version": "13",
      "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
      ...opening.headers,
    },
  });
  const { error } = (await answer.json()) as { error: { code: string } };
  return { status: answer.status, code: error.code };
}

/** The models of the handshakes that a simulator has received, in their order. */
const asked = (): (string | null)[] =>
  rig.simulators.requests().map(({ path }) => new URL(path, "http://simulator").searchParams.get("model"));

test("a handshake that is refused or not answered goes to the next target, once for each", async () => {
  const client = await open("model=talk");
  await client.ask("words:2");
  expect(asked()).toEqual(["gpt-realtime+status-503", "gpt-realtime"]);
});

test("the session of a target may be updated under the name of its route", async () => {
  const client = await open("model=talk");
  const updated = client.next("session.updated");
  client.send({ type: "session.update", session: { model: "talk", instructions: "Be brief." } });
  expect((await updated)["session"]).toMatchObject({ model: "gpt-realtime" });
});

test("when all refuse, the answer is that of a provider, and nothing is charged", async () => {
  const caller = await rig.caller();
  expect(await refusal("refusing", caller)).toEqual({ status: 503, code: "upstream_refused" });
  expect([await caller.closed(), asked()]).toEqual([0n, ["gpt-realtime+status-503"]]);
});

test("a target is asked only after failures that it is for", async () => {
  expect(await refusal("limits")).toMatchObject({ status: 503 });
  expect(asked()).toEqual(["gpt-realtime+status-503"]);
});

test("a target without credits for its first response is skipped, unless it is the first one", async () => {
  await open("model=dear", { credits: 1 });
  expect(asked()).toEqual(["gpt-realtime+status-503", "gpt-realtime"]);
  rig.simulators.clear();
  expect(await refusal("first", { credits: 1 })).toEqual({ status: 402, code: "insufficient_credits" });
  expect(asked()).toEqual([]);
  await open("model=over", { credits: 1 });
  expect(asked()).toEqual(["gpt-realtime"]);
});

test("a target without sessions, or that the token may not use, is skipped", async () => {
  await open("model=texts");
  await open("model=dear", { models: ["openai/gpt-realtime"] });
  expect(asked()).toEqual(["gpt-realtime", "gpt-realtime"]);
  expect(await refusal("texts", { models: ["mistral/*"] })).toMatchObject({ status: 404 });
});

test("at most as many requests as the route allows, with the keys of one target too", async () => {
  await open("model=keys");
  expect(asked()).toEqual([...Array.from({ length: 3 }, () => "gpt-realtime+status-401"), "gpt-realtime"]);
});

test("the caller's own targets follow a plain model, and none if it says so", async () => {
  const query = `model=${encodeURIComponent(refusing)}`;
  const fallback = "nobody/m,openai/gpt-realtime";
  await open(query, { headers: { "x-tollgate-fallback": fallback } });
  expect(asked()).toEqual(["gpt-realtime+status-503", "gpt-realtime"]);
  expect(await refusal("talk", { headers: { "x-tollgate-fallback": "none" } })).toEqual({
    status: 502,
    code: "upstream_unreachable",
  });
});

describe("a client secret of a route", () => {
  async function create(session: object, opening: Opening = {}): Promise<{ value: string; session: object }> {
    const answer = await post(rig, "/v1/realtime/client_secrets", await tokenOf(opening), { session });
    expect(answer.status).toBe(200);
    return (await answer.json()) as { value: string; session: object };
  }

  test("keeps the route: each handshake chooses, and sends the settings to the chosen target", async () => {
    const { value, session } = await create({ model: "talk", instructions: "Be brief.", voice: "cedar" });
    expect(session).toMatchObject({ type: "realtime", model: "talk", instructions: "Be brief." });
    const client = await open("model=talk", { token: value });
    expect((await client.event("session.updated"))["session"]).toMatchObject({
      instructions: "Be brief.",
      audio: { output: { voice: "cedar" } },
    });
    await client.ask("words:2");
    expect(asked()).toEqual(["gpt-realtime+status-503", "gpt-realtime"]);
  });

  test("of transcriptions names the model of the chosen target", async () => {
    const { value } = await create({ type: "transcription", model: "hears" });
    const client = await open("", { token: value });
    const updated = await client.event("session.updated");
    expect(updated["session"]).toMatchObject({ audio: { input: { transcription: { model: "gpt-4o-transcribe" } } } });
  });

  test("opens no target that refuses its settings", async () => {
    const credits = 10_000;
    const { value } = await create({ model: "stores", prompt: { id: "pmpt_1" } }, { credits });
    expect(await refusal("stores", { token: value })).toEqual({ status: 503, code: "upstream_refused" });
    expect(asked()).toEqual(["gpt-realtime+status-503"]);
  });

  test("has the rights of its token, for each target", async () => {
    const { value } = await create({ model: "dear" }, { models: ["openai/*"] });
    await open("", { token: value });
    expect(asked()).toEqual(["gpt-realtime+status-503", "gpt-realtime"]);
  });
});
