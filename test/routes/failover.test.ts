/** Calls whose model stands for several targets: who is asked, the client's answer, and who pays how much. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type Rig, startRig } from "../kit/index.ts";

/** A target that always fails in this way, before one that works. */
const failures = {
  refused: "down/m",
  "broken-off": "openai/a+connect-reset",
  "status-500": "openai/a+status-500",
  "status-503": "openai/a+status-503",
  "status-529": "openai/a+status-529",
  "status-429": "openai/a+status-429",
  "status-401": "badkey/a+status-401",
  "status-402": "poor/a+status-402",
  "status-403": "openai/a+status-403",
  "html-502": "openai/a+html-502",
  silent: "openai/a+slow-60000",
};

const good = "anthropic/claude-good";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({
    providers: ({ providers }) => ({
      down: { kind: "openai", base_url: "http://127.0.0.1:9/v1", api_key: "unused" },
      keyless: { kind: "anthropic", base_url: providers.anthropic },
      badkey: { kind: "openai", base_url: providers.openai, api_key: "one" },
      // A key that was refused three times is not asked any more.
      badkey2: { kind: "openai", base_url: providers.openai, api_key: "two" },
      poor: { kind: "openai", base_url: providers.openai, api_key: "three" },
      openrouter: { kind: "openai-compatible", preset: "openrouter", base_url: providers.mistral, api_key: "four" },
    }),
    config: {
      upstream: { retries: 2 },
      pricing: {
        models: {
          "anthropic/*": { input_mtok: 10, output_mtok: 20 },
          "openai/gpt-image*": { requests_kcount: 10 },
          "down/gpt-image*": { requests_kcount: 10 },
          "*": { input_mtok: 1, output_mtok: 2 },
        },
      },
      models: { aliases: { "quick-*": "quick" } },
      routing: {
        circuits: false,
        attempt_timeout: "2s",
        whole_timeout: "2s",
        routes: {
          ...Object.fromEntries(
            Object.entries(failures).flatMap(([name, model]) => [
              [name, { tiers: [[{ model }, { model: good }]] }],
              [`${name}-streamed`, { tiers: [[{ model: model.replace("badkey/", "badkey2/") }, { model: good }]] }],
            ]),
          ),
          stored: { tiers: [[{ model: "openai/gpt-5-mini" }, { model: "xai/grok-4" }, { model: good }]] },
          "stored-flaky": {
            tiers: [[{ model: "openai/gpt-5-mini+status-500+times-1" }, { model: "xai/grok-4" }, { model: good }]],
          },
          quick: { tiers: [[{ model: "down/m" }], [{ model: good }]] },
          "openai/listed": { tiers: [[{ model: "openai/listed+status-503" }, { model: good }]] },
          asked: { tiers: [[{ model: "openai/a+status-400" }, { model: good }]] },
          cut: { tiers: [[{ model: "openai/a+truncate" }, { model: good }]] },
          "only-limits": { tiers: [[{ model: "down/m" }, { model: "xai/x", on: ["rate_limited"] }, { model: good }]] },
          all: { tiers: [[{ model: "openai/a+status-503" }, { model: "down/m" }]] },
          many: { tiers: [["a", "b", "c", "d", "e"].map((name) => ({ model: `openai/${name}+status-503` }))] },
          embeds: { tiers: [[{ model: "down/text-embedding-3-small" }, { model: "openai/text-embedding-3-small" }]] },
          draws: { tiers: [[{ model: "openai/gpt-image-1+connect-reset" }, { model: "openai/gpt-image-1" }]] },
          drawn: { tiers: [[{ model: "down/gpt-image-1" }, { model: "openai/gpt-image-1" }]] },
        },
      },
    },
  });
});
beforeEach(() => rig.simulators.clear());
afterEach(() => rig.expectBalancedBooks());
afterAll(() => rig.stop());

const bodies = {
  "/v1/chat/completions": { messages: [{ role: "user", content: "Hello!" }] },
  "/v1/messages": { max_tokens: 100, messages: [{ role: "user", content: "Hello!" }] },
  "/v1/responses": { input: "Hello!" },
};

async function call(path: string, body: object, headers: Record<string, string> = {}, models?: readonly string[]) {
  const token = await rig.gateway.token({ user: crypto.randomUUID(), ...(models && { models: [...models] }) });
  const answer = await fetch(rig.gateway.url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  const id = answer.headers.get("x-request-id") ?? "";
  const generation = async (): Promise<Record<string, unknown>> => {
    const own = await fetch(`${rig.gateway.url}/v1/generations/${id}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    return (await own.json()) as Record<string, unknown>;
  };
  const [provider, model, attempts] = ["provider", "model", "attempts"].map((name) =>
    answer.headers.get(`x-tollgate-${name}`),
  );
  const classes = answer.headers.get("x-tollgate-failures");
  return { status: answer.status, text, generation, token, classes, target: [provider, model, attempts] };
}

/** The models of the requests that simulators have received, in their order. */
const asked = (): string[] =>
  rig.simulators.requests().map(({ body }) => String((JSON.parse(body) as { model?: unknown }).model));

const chat = "/v1/chat/completions";
const hello = (model: string, more: object = {}): object => ({ model, ...bodies[chat], ...more });

describe("after a failure the next target answers, and its price is charged", () => {
  const rows = Object.keys(failures).flatMap((name) =>
    [false, true].map((stream): [string, boolean] => [name, stream]),
  );
  test.each(rows)("%s, streamed: %p", async (name, stream) => {
    await Promise.all(
      Object.entries(bodies).map(async ([path, body]) => {
        const answer = await call(path, { ...body, model: stream ? `${name}-streamed` : name, stream });
        expect([path, answer.status]).toEqual([path, 200]);
        expect(answer.target).toEqual(["anthropic", good, "2"]);
        expect(answer.text).not.toContain('"error":{');
        const generation = await answer.generation();
        expect(generation).toMatchObject({ provider: "anthropic", model: good, outcome: "complete" });
        // 5 tokens in and 10 out at the price of the target that answered.
        expect([path, generation["credits"]]).toEqual([path, 0.000_25]);
      }),
    );
    // The failing target is asked once by each call, the other one too.
    const models = asked().toSorted();
    const first = failures[name as keyof typeof failures];
    const isReached = name !== "refused";
    expect(models.filter((model) => model === "claude-good")).toHaveLength(3);
    expect(models.filter((model) => model !== "claude-good")).toEqual(
      isReached ? Array.from({ length: 3 }, () => first.slice(first.indexOf("/") + 1)) : [],
    );
  });

  test("embeddings too", async () => {
    const answer = await call("/v1/embeddings", { model: "embeds", input: "Hello!" });
    expect([answer.status, asked()]).toEqual([200, ["text-embedding-3-small"]]);
  });

  test("an alias and a listed id may name a route", async () => {
    expect((await call(chat, hello("quick-model"))).status).toBe(200);
    expect((await call(chat, hello("openai/listed"))).status).toBe(200);
    expect(asked()).toEqual(["claude-good", "listed+status-503", "claude-good"]);
  });

  test("a whole answer that breaks off moves on", async () => {
    expect((await call(chat, hello("cut"))).status).toBe(200);
    expect(asked()).toEqual(["a+truncate", "claude-good"]);
  });
});

test("a response that only one of the providers keeps is continued there, and one that nobody has is not found", async () => {
  const path = "/v1/responses";
  const token = await rig.gateway.token({ user: crypto.randomUUID() });
  const send = async (body: object): Promise<Response> =>
    fetch(rig.gateway.url + path, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const first = (await (await send({ model: "xai/grok-4", input: "Hello!" })).json()) as { id: string };
  rig.simulators.clear();
  for (let times = 0; times < 3; times += 1) {
    const next = await send({ model: "stored", input: "And?", previous_response_id: first.id });
    expect([next.status, next.headers.get("x-tollgate-provider")]).toEqual([200, "xai"]);
    await next.text();
  }
  expect(asked()).toEqual(["grok-4", "grok-4", "grok-4"]);
  // Without another target that has it, the one target is asked again as a model of its own is.
  const kept = (await (await send({ model: "openai/gpt-5-mini", input: "Hello!" })).json()) as { id: string };
  rig.simulators.clear();
  const again = await send({ model: "stored-flaky", input: "And?", previous_response_id: kept.id });
  expect([again.status, again.headers.get("x-tollgate-attempts")]).toEqual([200, "2"]);
  expect(asked()).toEqual(["gpt-5-mini+status-500+times-1", "gpt-5-mini+status-500+times-1"]);
  await again.text();
  rig.simulators.clear();
  const unknown = await send({ model: "stored", input: "And?", previous_response_id: "resp_unknown" });
  expect([unknown.status, asked().length]).toEqual([404, 0]);
  await unknown.text();
});

describe("no other target is asked", () => {
  test("after a fault of the request", async () => {
    const answer = await call(chat, hello("asked"));
    expect([answer.status, asked()]).toEqual([400, ["a+status-400"]]);
    expect((await answer.generation())["credits"]).toBe(0);
  });

  test("that is not for the class of the failure: the next one is", async () => {
    expect((await call(chat, hello("only-limits"))).status).toBe(200);
    expect(asked()).toEqual(["claude-good"]);
  });

  test("that the token may not use", async () => {
    const answer = await call(chat, hello("status-503"), {}, ["openai/*"]);
    expect([answer.status, new Set(asked())]).toEqual([503, new Set(["a+status-503"])]);
    const first = await call(chat, hello("status-503"), {}, ["anthropic/*"]);
    expect([first.status, asked().at(-1)]).toEqual([200, "claude-good"]);
    rig.simulators.clear();
    expect((await call(chat, hello("status-503"), {}, ["xai/*"])).status).toBe(404);
    expect(asked()).toEqual([]);
  });

  test("but the name of a route in the token's list allows all its targets", async () => {
    expect((await call(chat, hello("status-503"), {}, ["status-*"])).status).toBe(200);
    expect(asked()).toEqual(["a+status-503", "claude-good"]);
  });

  test("once the attempts are used up", async () => {
    const answer = await call(chat, hello("many"));
    expect([answer.status, asked()]).toEqual([503, ["a", "b", "c", "d"].map((name) => `${name}+status-503`)]);
  });

  test("for an image that may have been made", async () => {
    const answer = await call("/v1/images/generations", { model: "draws", prompt: "a cat" });
    expect([answer.status, asked()]).toEqual([502, ["gpt-image-1+connect-reset"]]);
  });

  test("for an image, unless nothing was sent", async () => {
    const answer = await call("/v1/images/generations", { model: "drawn", prompt: "a cat" });
    expect([answer.status, asked()]).toEqual([200, ["gpt-image-1"]]);
  });
});

test("when all fail, a provider's own error is the answer, and nothing is charged", async () => {
  const answer = await call(chat, hello("all"));
  // The error is the first target's; the other one could not be reached, in three attempts.
  expect([answer.status, answer.target]).toEqual([503, ["openai", "openai/a+status-503", "4"]]);
  expect(await answer.generation()).toMatchObject({ credits: 0, outcome: "failed" });
  expect(answer.classes).toBe("overloaded, unreachable, unreachable, unreachable");
});

test("an error has the classes of all failures, in its own dialect and another one, and an answer has none", async () => {
  const own = { "x-tollgate-fallback": "openai/c+status-403,poor/b+status-402" };
  const model = "openai/b+status-500";
  for (const [path, body] of Object.entries(bodies)) {
    const answer = await call(path, { ...body, model, stream: true }, own);
    expect([path, answer.status, answer.classes]).toEqual([path, 500, "broken, model_gone, quota_gone"]);
  }
  expect((await call(chat, hello(model), { "x-tollgate-fallback": good })).classes).toBeNull();
  // Nothing was asked.
  expect((await call(chat, hello("nobody/m"))).classes).toBeNull();
});

describe("x-tollgate-fallback", () => {
  const header = (value: string): Record<string, string> => ({ "x-tollgate-fallback": value });

  test("none: the first target alone", async () => {
    const answer = await call(chat, hello("status-500"), header("none"));
    expect([answer.status, new Set(asked())]).toEqual([500, new Set(["a+status-500"])]);
  });

  test("ids stand in place of the targets after the first, of a model too", async () => {
    expect((await call(chat, hello("status-503"), header("xai/grok"))).status).toBe(200);
    expect((await call(chat, hello("openai/b+status-503"), header("down/m, xai/grok"))).status).toBe(200);
    expect(asked()).toEqual(["a+status-503", "grok", "b+status-503", "grok"]);
  });

  test("an id that the token may not use is skipped", async () => {
    const answer = await call(chat, hello("openai/b+status-503"), header("xai/grok,openai/c"), ["openai/*"]);
    expect([answer.status, asked()]).toEqual([200, ["b+status-503", "c"]]);
  });

  test.each(["", "a/b,,c/d", "a/b c/d", "a/1,a/2,a/3,a/4,a/5,a/6"])("%p is refused", async (value) => {
    const answer = await call(chat, hello("openai/a"), header(value));
    expect([answer.status, asked()]).toEqual([422, []]);
  });
});

describe("OpenRouter's `models` in a body of chat", () => {
  const failing = "openai/b+status-503";
  const header = { "x-tollgate-fallback": "xai/grok-4" };
  const sent = (): unknown[] => rig.simulators.requests().map(({ body }) => JSON.parse(body) as unknown);

  test.each([false, true])("are targets after the model, which no provider gets; streamed: %p", async (stream) => {
    const models = [failing, "down/m", good];
    const answer = await call(chat, hello(failing, { models, stream, user: "é" }));
    expect([answer.status, answer.target[1]]).toEqual([200, good]);
    expect(await answer.generation()).toMatchObject({ provider: "anthropic", outcome: "complete", credits: 0.000_25 });
    expect(asked()).toEqual(["b+status-503", "claude-good"]);
    for (const body of sent()) expect(body).not.toHaveProperty("models");
    expect(sent()[0]).toMatchObject({ user: "é" });
  });

  test("stand in place of a route's later targets, and the header in place of them", async () => {
    expect((await call(chat, hello("status-503", { models: ["xai/grok-3"] }))).target[1]).toBe("xai/grok-3");
    expect((await call(chat, hello("status-503", { models: [good] }), header)).target[1]).toBe("xai/grok-4");
    const none = { "x-tollgate-fallback": "none" };
    expect((await call(chat, hello(failing, { models: [good] }), none)).status).toBe(503);
    for (const body of sent()) expect(body).not.toHaveProperty("models");
  });

  test("are not asked if the token may not use them, or an operator's route only", async () => {
    const answer = await call(chat, hello(failing, { models: ["xai/grok", "quick", "openai/c"] }), {}, ["openai/*"]);
    expect([answer.status, asked()]).toEqual([200, ["b+status-503", "c"]]);
  });

  test.each([
    ["opnai/b", "model_not_routed", {}],
    ["b", "model_not_routed", {}],
    ["openai/b", "model_not_routed", { models: ["anthropic/*"] }],
  ])("leave the refusal of a model that is none, or not for the token, as it is: %s", async (model, code, token) => {
    const asking = (body: object, headers: Record<string, string> = {}) =>
      call(chat, hello(model, body), headers, "models" in token ? [...token.models] : undefined);
    for (const answer of [
      await asking({}),
      await asking({ models: [good] }),
      await asking({}, { "x-tollgate-fallback": good }),
    ])
      expect([answer.status, (JSON.parse(answer.text) as { error: { code: string } }).error.code]).toEqual([404, code]);
    expect(asked()).toEqual([]);
  });

  test("stand in for a model whose provider has no key", async () => {
    expect((await call(chat, hello("keyless/b", { models: [good] }))).status).toBe(200);
    expect(asked()).toEqual(["claude-good"]);
  });

  test("are OpenRouter's own if the model is, and only then", async () => {
    await call(chat, hello("openrouter/a/b", { models: ["c/d"] }));
    expect(sent()).toEqual([expect.objectContaining({ model: "a/b", models: ["c/d"] })]);
    rig.simulators.clear();
    expect((await call(chat, hello(failing, { models: ["openrouter/a/b"] }))).status).toBe(200);
    expect(sent()[1]).toEqual(expect.not.objectContaining({ models: expect.anything() as unknown }));
  });

  test.each([["text"], [[""]], [[7]], [Array.from({ length: 6 }, (_, index) => `openai/${index}`)]])(
    "%j is refused",
    async (models) => {
      const answer = await call(chat, hello("openai/a", { models }));
      expect([answer.status, asked()]).toEqual([422, []]);
      expect(answer.text).toContain("models");
    },
  );

  test.each([[null], [[]]])("%j names nothing", async (models) => {
    expect((await call(chat, hello("openai/a", { models }))).target).toEqual(["openai", "openai/a", "1"]);
  });
});

test("the list of models has the routes that the token may use, with what they can do", async () => {
  const listed = async (models?: string[]): Promise<Record<string, { operations: string[] }>> => {
    const token = await rig.gateway.token({ user: crypto.randomUUID(), ...(models && { models }) });
    const headers = { authorization: `Bearer ${token}` };
    const answer = await fetch(`${rig.gateway.url}/v1/models`, { headers });
    const { data } = (await answer.json()) as { data: { id: string; operations: string[] }[] };
    return Object.fromEntries(data.map((model) => [model.id, model]));
  };
  const all = await listed();
  expect(all["quick"]?.operations).toContain("chat");
  expect(Object.keys(await listed(["xai/*"]))).not.toContain("quick");
  expect(Object.keys(await listed(["quick"]))).toEqual(["quick"]);
  const one = await fetch(`${rig.gateway.url}/v1/models/quick`, {
    headers: { authorization: `Bearer ${await rig.gateway.token({ user: "lister" })}` },
  });
  expect(await one.json()).toMatchObject({ id: "quick", object: "model" });
});

describe("the headers of a call with one target", () => {
  test("name it, and count its attempts", async () => {
    const answer = await call(chat, hello("openai/once+status-500+times-1"));
    expect([answer.status, answer.target]).toEqual([200, ["openai", "openai/once+status-500+times-1", "2"]]);
  });

  test("of an error of the gateway too", async () => {
    const answer = await call(chat, hello("down/m"));
    expect([answer.status, answer.target]).toEqual([502, ["down", "down/m", "3"]]);
  });

  test("are missing where nothing was asked", async () => {
    const answer = await call(chat, hello("nobody/m"));
    expect([answer.status, answer.target]).toEqual([404, [null, null, null]]);
  });
});
