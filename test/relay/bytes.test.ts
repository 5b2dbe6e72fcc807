import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chatModels, type Rig, startRig } from "../kit/index.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({ config: { upstream: { retries: 0 } } });
});
afterAll(async () => {
  await rig.expectBalancedBooks();
  await rig.stop();
});

/** Sends a body through the gateway, and the same with the upstream's own model name straight to the simulator. */
async function both(provider: string, body: (model: string) => string) {
  const modelId = chatModels[provider] ?? "";
  const caller = await rig.caller();
  const relayed = await caller.chat(body(modelId));
  const direct = await rig.direct(provider, body(modelId.slice(modelId.indexOf("/") + 1)));
  return { relayed, direct };
}

const hello = (model: string): string =>
  // With a limit, so that the gateway sets none.
  JSON.stringify({ model, messages: [{ role: "user", content: "Grüße, 世界 🌍" }], max_tokens: 5_000 });

describe.each(Object.keys(chatModels))("%s", (provider) => {
  test("a whole answer is the upstream's, byte for byte", async () => {
    const { relayed, direct } = await both(provider, hello);
    expect(relayed.status).toBe(200);
    expect(relayed.headers.get("content-type")).toBe(direct.headers.get("content-type"));
    const bytes = await relayed.bytes();
    expect(bytes.length).toBeGreaterThan(100);
    expect(bytes).toEqual(await direct.bytes());
  });

  test.each([400, 402, 403, 404, 409, 413, 422, 429, 500, 503, 504, 529])(
    "an upstream's %d keeps its status and body",
    async (status) => {
      const { relayed, direct } = await both(provider, (model) => hello(`${model}+status-${status}`));
      expect(direct.status).toBe(status);
      expect(relayed.status).toBe(status);
      expect(relayed.headers.get("x-tollgate-credits")).toBe("0");
      expect(await relayed.text()).toBe(await direct.text());
    },
  );

  test("a refusal of the body's content keeps its status and body", async () => {
    const { relayed, direct } = await both(provider, (model) =>
      JSON.stringify({ model, messages: [{ role: "user", content: "hi" }], temperature: "warm" }),
    );
    expect(direct.status).toBeGreaterThanOrEqual(400);
    expect(relayed.status).toBe(direct.status);
    expect(await relayed.text()).toBe(await direct.text());
  });

  test("an unknown model is the upstream's business", async () => {
    const modelId = `${provider}/missing-model`;
    const caller = await rig.caller();
    const relayed = await caller.chat(hello(modelId));
    const direct = await rig.direct(provider, hello("missing-model"));
    expect(direct.status).toBeGreaterThanOrEqual(400);
    expect(relayed.status).toBe(direct.status);
    expect(await relayed.text()).toBe(await direct.text());
    expect(await caller.closed()).toBe(0n);
  });
});

describe("the request", () => {
  /** The body received by the upstream through the gateway. */
  async function receivedOf(body: string): Promise<string> {
    rig.simulators.clear();
    const caller = await rig.caller();
    const response = await caller.chat(body);
    await response.text();
    const [request, ...others] = rig.simulators.requests();
    expect(others).toEqual([]);
    return request?.body ?? "";
  }

  const odd = (model: string): string =>
    [
      '\t{ "zeta" : 1.0 , "seed":12345678901234567890,"max_tokens" : 5e1,"temperature":1.50e0,',
      `  "model"\r\n :  "${model}"  ,`,
      '  "top_p": 1E-0, "caf\\u00e9":"\\u0041\\ud83d\\ude00\\/", "raw": "é😀/",',
      '"messages":[ {"content":"a \\"model\\": \\"x\\" in text","role":"user", "model":"inner"} ], ',
      '"metadata":{"model":"nested", "deep":[[[{"n":-0.0}]]] },"a":null,"A":[],  "empty":{ } }\n',
    ].join("\n");

  test.each([
    ["deepseek", "deepseek-chat"],
    ["xai", "grok-4"],
    ["byteplus", "seed-1-8-251228"],
    ["anthropic", "claude-haiku-4-5"],
  ])("to %s differs from the client's only in the model's prefix", async (provider, model) => {
    expect(await receivedOf(odd(`${provider}/${model}`))).toBe(odd(model));
  });

  test("an escaped model keeps its place and nothing else of the body is touched", async () => {
    const body = (model: string): string =>
      `{"messages":[{"role":"user","content":"hi"}],"mod\\u0065l":"${model}","max_tokens":50,"user":"\\u0075"}`;
    expect(await receivedOf(body("x\\u0061i/grok\\u002d4"))).toBe(body("grok-4"));
  });

  test("a model with slashes loses the prefix only", async () => {
    const body = (model: string): string =>
      JSON.stringify({ model, messages: [{ role: "user", content: "hi" }], max_tokens: 50 });
    expect(await receivedOf(body("xai/accounts/acme/grok-4"))).toBe(body("accounts/acme/grok-4"));
  });

  test("an alias leads to the same upstream", async () => {
    const body = (model: string): string =>
      JSON.stringify({ model, messages: [{ role: "user", content: "hi" }], max_tokens: 50 });
    expect(await receivedOf(body("claude/claude-haiku-4-5"))).toBe(body("claude-haiku-4-5"));
    expect(rig.simulators.requests()[0]?.provider).toBe("anthropic");
  });

  test("a stream asks for its usage, and the rest of the body stays as it was", async () => {
    const body = (model: string, asked: string): string =>
      `{ "stream" : true,"model":"${model}", "messages":[{"role":"user","content":"hi"}], "max_tokens":50,  "seed": 7.0${asked} }`;
    // Added behind the last member, before the white space that ended the object.
    expect(await receivedOf(body("xai/grok-4", ""))).toBe(
      body("grok-4", "").replace(" }", ' ,"stream_options":{"include_usage":true}}'),
    );
    const asked = ', "stream_options": {"include_usage":  true}';
    expect(await receivedOf(body("xai/grok-4", asked))).toBe(body("grok-4", asked));
    const other = ',"stream_options":{"include_obfuscation":false}';
    expect(await receivedOf(body("openai/gpt-4o-mini", other).replace(',  "seed": 7.0', ""))).toBe(
      body("gpt-4o-mini", ',"stream_options":{"include_obfuscation":false,"include_usage":true}').replace(
        ',  "seed": 7.0',
        "",
      ),
    );
  });

  test("fields that an upstream is known to refuse are left out or renamed, and no other byte changes", async () => {
    const body = (model: string, seed: string, user: string, limit: string): string =>
      `{"model":"${model}","messages":[{"role":"user","content":"\\u0068i"}],${seed}:3.0,${user}"temperature":1.50e-1,${limit}:9,"safe_prompt":false}`;
    const sent = body("mistral/mistral-small-latest", '"seed"', '"user":"u",', '"max_completion_tokens"');
    expect(await receivedOf(sent)).toBe(body("mistral-small-latest", '"random_seed"', "", '"max_tokens"'));
  });
});
