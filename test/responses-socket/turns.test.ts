/** Responses over a WebSocket: turns, continuations, errors, and the books. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { startGateway, startRig, type Caller, type Rig, until } from "../kit/index.ts";
import { Client } from "../realtime/realtime-scene.ts";

let rig: Rig;
const clients: Client[] = [];
beforeAll(async () => {
  rig = await startRig();
});
afterEach(async () => {
  for (const { socket } of clients.splice(0)) socket.terminate();
  await rig.expectBalancedBooks();
});
afterAll(() => rig.stop());

async function open(caller: Caller, url = rig.gateway.url): Promise<Client> {
  const client = new Client(`${url.replace("http", "ws")}/v1/responses`, {
    headers: { authorization: `Bearer ${caller.token}`, "openai-beta": "responses_websockets=2026-02-06" },
  });
  clients.push(client);
  await client.opened;
  return client;
}

interface Response {
  id: string;
  status: string;
  model: string;
  output: { type: string; content?: { text: string }[]; call_id?: string }[];
  usage: { input_tokens: number; output_tokens: number };
}

/** One turn; resolves to its response. */
async function turn(client: Client, body: object): Promise<Response> {
  const from = client.events.length;
  client.send({ type: "response.create", ...body });
  const last = await client.find(
    "the end",
    ({ type }) => /^(response\.(completed|incomplete|failed)|error)$/.test(type),
    from,
  );
  if (last.type === "error") throw new Error(JSON.stringify(last));
  return last["response"] as Response;
}

const textOf = ({ output }: Response): string =>
  output.flatMap(({ content = [] }) => content.map(({ text }) => text)).join("");

const models = ["openai/gpt-5-mini", "anthropic/claude-haiku-4-5", "xai/grok-4.3", "google/gemini-2.5-flash"];

/** Upstreams that have such a WebSocket themselves. */
const natives = new Set(["openai/gpt-5-mini", "xai/grok-4.3"]);

/** The requests that the upstream received, turn by turn. */
function sentBy(model: string): readonly string[] {
  if (!natives.has(model)) return rig.simulators.requests().map(({ body }) => body);
  return rig.simulators.sockets().flatMap(({ messages }) => messages);
}

describe.each(models)("turns of %s", (model) => {
  test("have the events of a stream, each its own charge, under the id of the connection", async () => {
    const caller = await rig.caller();
    const client = await open(caller);
    const first = await turn(client, { model, input: "Hello!", store: false });
    expect(first).toMatchObject({ status: "completed" });
    expect(client.events[0]).toMatchObject({ type: "response.created" });
    const second = await turn(client, { model, input: "Hello again!", store: false });
    client.socket.close();
    const tokens = [first, second].map(({ usage }) => BigInt(usage.input_tokens + 2 * usage.output_tokens));
    // A credit for a million tokens in, two for a million out.
    const spent = await caller.closed();
    if (model.startsWith("openai")) expect(spent).toBe(tokens.reduce((sum, each) => sum + each, 0n) * 1_000n);
    else expect(spent).toBeGreaterThan(0n);
    const usage = await fetch(`${rig.gateway.url}/v1/usage`, { headers: { authorization: `Bearer ${caller.token}` } });
    expect(await usage.json()).toMatchObject({ total: { requests: 2 } });
  });

  test("continue a response that nobody stores", async () => {
    const caller = await rig.caller();
    const client = await open(caller);
    const first = await turn(client, { model, input: "Hello!", store: false });
    const second = await turn(client, {
      model,
      input: "What did I say?",
      store: false,
      previous_response_id: first.id,
    });
    const third = await turn(client, { model, input: "And then?", store: false, previous_response_id: second.id });
    expect(second.usage.input_tokens).toBeGreaterThan(first.usage.input_tokens);
    expect(third.usage.input_tokens).toBeGreaterThan(second.usage.input_tokens);
    const sent = sentBy(model);
    expect(sent.at(-1)).toContain("And then?");
    // An upstream with such a WebSocket remembers the rest; any other is told again.
    for (const said of ["Hello!", "What did I say?"]) expect(sent.at(-1)?.includes(said)).toBe(!natives.has(model));
    const unknown = turn(client, { model, input: "x", store: false, previous_response_id: "resp_unknown" });
    const refusal = await unknown.catch((error: unknown) => String(error));
    expect(refusal).toContain("previous_response_not_found");
    expect(textOf(await turn(client, { model, input: "Still here?", store: false }))).toContain("Still here?");
  });

  test("continue a response that is stored", async () => {
    const caller = await rig.caller();
    const client = await open(caller);
    const first = await turn(client, { model, input: "Hello!" });
    const second = await turn(client, { model, input: "What did I say?", previous_response_id: first.id });
    expect(second.status).toBe("completed");
    const other = await open(caller);
    expect(await turn(other, { model, input: "And now?", previous_response_id: second.id })).toMatchObject({
      status: "completed",
    });
  });

  test("call tools and read their results", async () => {
    const caller = await rig.caller();
    const client = await open(caller);
    const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
    const tools = [{ type: "function", name: "get_weather", parameters, strict: false }];
    const called = await turn(client, { model, input: "Weather?", tools, store: false });
    const call = called.output.find(({ type }) => type === "function_call");
    if (call === undefined) throw new Error("no tool was called");
    const input = [{ type: "function_call_output", call_id: call.call_id, output: "sunny" }];
    const answered = await turn(client, { model, input, tools, store: false, previous_response_id: called.id });
    expect(answered.output.some(({ type }) => type === "message")).toBe(true);
  });
});

describe("a connection", () => {
  const model = "openai/gpt-5-mini";

  test("prepares a turn without asking the model, for nothing", async () => {
    rig.simulators.clear();
    const caller = await rig.caller();
    const client = await open(caller);
    const warm = await turn(client, { model, input: "Remember the fox.", generate: false, store: false });
    expect(warm).toMatchObject({ output: [], usage: { output_tokens: 0 }, model: "gpt-5-mini" });
    expect(sentBy(model)).toEqual([]);
    expect(await caller.closed()).toBe(0n);
    await turn(client, { model, input: [], store: false, previous_response_id: warm.id });
    const sent = JSON.parse(sentBy(model).at(-1) ?? "") as Record<string, unknown>;
    expect(JSON.stringify(sent["input"])).toContain("Remember the fox.");
    expect(Object.keys(sent)).not.toContainAnyValues(["stream", "generate", "stream_id", "previous_response_id"]);
  });

  test.each<[string, object, number, string]>([
    ["an unknown model", { model: "nobody/x", input: "x" }, 404, "model_not_routed"],
    ["no model", { input: "x" }, 422, "validation_failed"],
    ["a body in the background", { model, input: "x", background: true }, 422, "validation_failed"],
    ["an upstream's refusal", { model: `${model}+status-429`, input: "x" }, 429, "rate_limit_exceeded"],
  ])("goes on after %s", async (_, body, status, code) => {
    const client = await open(await rig.caller());
    client.send({ type: "response.create", ...body });
    expect(await client.event("error")).toMatchObject({ status, error: { code } });
    expect((await turn(client, { model, input: "Hello!" })).status).toBe("completed");
  });

  test.each(["{", "[]", '{"type":"response.cancel"}', '{"type":"response.create","type":"x"}', "\u0000"])(
    "refuses the message %j and goes on",
    async (message) => {
      const client = await open(await rig.caller());
      client.send(message);
      expect(await client.event("error")).toMatchObject({ status: 422 });
      expect((await turn(client, { model, input: "Hello!" })).status).toBe("completed");
    },
  );

  test("tells that the credits are used up, turn by turn", async () => {
    const token = await rig.gateway.token({ user: "poor", credits: 1_000n });
    const client = await open({ token } as Caller);
    client.send({ type: "response.create", model, input: "Hello!" });
    expect(await client.event("error")).toMatchObject({ status: 402, error: { code: "insufficient_credits" } });
    expect(client.closed).toBeUndefined();
  });

  test("runs the turns of one stream in order, those of several side by side, and names their streams", async () => {
    const client = await open(await rig.caller());
    client.send({ type: "response.create", model: `${model}+slow-300`, input: "slow", stream_id: "a" });
    client.send({ type: "response.create", model, input: "second", stream_id: "a" });
    client.send({ type: "response.create", model, input: "beside", stream_id: "b" });
    const ends = (): unknown[] =>
      client.events.filter(({ type }) => type === "response.completed").map((event) => event["stream_id"]);
    await client.find("three ends", () => ends().length === 3);
    expect(ends()).toEqual(["b", "a", "a"]);
    expect(client.events.every(({ stream_id: id }) => id === "a" || id === "b")).toBe(true);
  });

  test("that is hung up on ends its turn, which is charged for what it was", async () => {
    const caller = await rig.caller();
    const client = await open(caller);
    client.send({ type: "response.create", model: `${model}+pace-20`, input: "words:500" });
    await client.event("response.output_text.delta");
    client.socket.terminate();
    expect(await caller.closed()).toBeGreaterThan(0n);
    await until("the upstream's socket has been cut", () => rig.simulators.sockets().at(-1)?.isOpen === false);
  });

  test("has the limits that its token has got since", async () => {
    const caller = await rig.caller();
    const client = await open(caller);
    await turn(client, { model, input: "Hello!" });
    await rig.gateway.cli("token", "set", caller.token.split("_")[1] ?? "", "--models", "none-of-these/*");
    await until("a turn is refused", async () => {
      const answered = await turn(client, { model, input: "x" }).catch(String);
      return typeof answered === "string" ? answered : undefined;
    });
    expect(client.events.at(-1)).toMatchObject({ type: "error", error: { code: "model_not_routed" } });
  });

  test("ends when its token is revoked", async () => {
    const caller = await rig.caller();
    const client = await open(caller);
    await turn(client, { model, input: "Hello!" });
    await rig.gateway.cli("token", "revoke", caller.token.split("_")[1] ?? "");
    await until("the next turn is refused", async () => {
      if (client.closed !== undefined) return true;
      client.send({ type: "response.create", model, input: "x" });
      await Bun.sleep(50);
      return undefined;
    });
    expect(client.closed).toMatchObject({ code: 1008, reason: "token_revoked" });
  });

  test("is refused without a token and with a client secret", async () => {
    const caller = await rig.caller();
    const refusal = async (authorization: string): Promise<number> =>
      (await fetch(`${rig.gateway.url}/v1/responses`, { headers: { authorization, upgrade: "websocket" } })).status;
    expect(await refusal("Bearer x")).toBe(401);
    const created = await fetch(`${rig.gateway.url}/v1/realtime/client_secrets`, {
      method: "POST",
      headers: { authorization: `Bearer ${caller.token}`, "content-type": "application/json" },
      body: JSON.stringify({ session: { model: "openai/gpt-realtime" } }),
    });
    const { value } = (await created.json()) as { value: string };
    expect(await refusal(`Bearer ${value}`)).toBe(401);
  });
});

describe("an upstream's own WebSocket", () => {
  const model = "openai/gpt-5-mini";

  test("is opened once, with the operator's key, and takes all turns of a connection", async () => {
    rig.simulators.clear();
    const caller = await rig.caller();
    const client = await open(caller);
    for (const input of ["one", "two", "three"]) await turn(client, { model, input, store: false });
    expect(rig.simulators.sockets()).toHaveLength(1);
    const [handshake] = rig.simulators.requests();
    expect(handshake?.headers["authorization"]).toBe("Bearer sk-simulated-upstream-key");
    expect(JSON.stringify(handshake?.headers)).not.toContain(caller.token);
    client.socket.close();
    await until("it is closed with its client's", () => rig.simulators.sockets()[0]?.isOpen === false);
  });

  test("that has broken off is replaced, and what it remembered is said again", async () => {
    rig.simulators.clear();
    const client = await open(await rig.caller());
    const first = await turn(client, { model, input: "Hello!", store: false });
    rig.simulators.cutSockets();
    await until("it is closed", () => rig.simulators.sockets()[0]?.isOpen === false);
    const second = await turn(client, { model, input: "And now?", store: false, previous_response_id: first.id });
    expect(second.usage.input_tokens).toBeGreaterThan(first.usage.input_tokens);
    expect(rig.simulators.sockets()).toHaveLength(2);
    expect(sentBy(model).at(-1)).toContain("Hello!");
  });

  test("that an upstream does not have is asked for once", async () => {
    const upstream = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      async fetch(request) {
        const { pathname } = new URL(request.url);
        if (request.method === "GET") return new Response(null, { status: 405 });
        return fetch(rig.simulators.providers.openai + pathname.replace("/v1", ""), {
          method: "POST",
          headers: { authorization: "Bearer k", "content-type": "application/json" },
          body: await request.text(),
        });
      },
    });
    const gateway = await startGateway({
      providers: { openai: { kind: "openai", base_url: `${upstream.url.origin}/v1`, api_key: "k" } },
    });
    try {
      const client = await open({ token: await gateway.token() } as Caller, gateway.url);
      const first = await turn(client, { model, input: "Hello!", store: false });
      const second = await turn(client, { model, input: "Again!", store: false, previous_response_id: first.id });
      expect(second.status).toBe("completed");
    } finally {
      await gateway.stop();
      await upstream.stop(true);
    }
  });
});

describe("a gateway that does not offer it", () => {
  test("answers 426, after which clients use HTTP", async () => {
    const gateway = await startGateway({
      providers: { openai: { kind: "openai", base_url: rig.simulators.providers.openai, api_key: "k" } },
      config: { responses: { websocket: false } },
    });
    try {
      const token = await gateway.token();
      const headers = { authorization: `Bearer ${token}`, upgrade: "websocket" };
      expect((await fetch(`${gateway.url}/v1/responses`, { headers })).status).toBe(426);
    } finally {
      await gateway.stop();
    }
  });

  test("ends idle connections when it stops, without waiting for them", async () => {
    const gateway = await startGateway({
      providers: { openai: { kind: "openai", base_url: rig.simulators.providers.openai, api_key: "k" } },
    });
    const client = await open({ token: await gateway.token() } as Caller, gateway.url);
    expect(await gateway.stop()).toBe(0);
    expect(client.closed).toMatchObject({ code: 1012 });
  });
});
