import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  chatPath,
  expectNoInside,
  expectRefusal,
  flatPrice,
  requestIdShape,
  type Rig,
  startRig,
} from "../kit/index.ts";

let rig: Rig;
let token: string;

beforeAll(async () => {
  rig = await startRig({
    providers: () => ({
      keyless: { kind: "openai", base_url: "https://keyless.invalid/v1", api_key: "${KEYLESS_API_KEY}" },
      bare: { kind: "openai", base_url: "https://bare.invalid/v1" },
      several: { kind: "openai", base_url: "https://several.invalid/v1", api_keys: ["${FIRST_KEY}", "${SECOND_KEY}"] },
    }),
    config: { pricing: { models: { "openai/priced": flatPrice, "keyless/*": flatPrice, "anthropic/*": flatPrice } } },
  });
  token = await rig.gateway.token();
});

afterAll(async () => {
  await rig.expectBalancedBooks();
  await rig.stop();
});

function call(model: string, using = token): Promise<Response> {
  const headers = { authorization: `Bearer ${using}` };
  return fetch(rig.gateway.url + chatPath, {
    method: "POST",
    headers,
    body: JSON.stringify({ model, messages: [{ role: "user", content: "hi" }] }),
  });
}

async function expectNotRouted(model: string, code: string, message: string, using?: string): Promise<string> {
  const before = rig.simulators.total();
  const answer = await call(model, using);
  const text = expectRefusal(answer, await answer.text(), { status: 404, code, param: "model", message });
  expect(rig.simulators.total()).toBe(before);
  return text;
}

describe("a model", () => {
  test("with an unknown prefix lists the known ones", async () => {
    const message = await expectNotRouted("nobody/gpt-5", "model_not_routed", 'No provider has the prefix "nobody"');
    expect(message).toEndWith(
      "Prefixes here: openai, google, xai, deepseek, anthropic, claude, mistral, byteplus, keyless, bare, several.",
    );
  });

  test.each(["gpt-5", "gpt-5/", "/gpt-5"])("without a prefix (%p) is told how to write it", async (model) => {
    await expectNotRouted(model, "model_not_routed", "has no provider prefix; write <prefix>/<model>");
  });

  test("with a long unknown prefix is not repeated whole", async () => {
    const message = await expectNotRouted(`${"p".repeat(200)}/x`, "model_not_routed", "…");
    expect(message).not.toContain("p".repeat(100));
  });

  test.each<[string, string]>([
    ["keyless/gpt-5", "The operator must set KEYLESS_API_KEY."],
    ["bare/gpt-5", "The operator must set providers.bare.api_key."],
    ["several/gpt-5", "The operator must set FIRST_KEY."],
  ])("of a provider without a key (%p) names the variable to set", async (model, message) => {
    await expectNotRouted(model, "provider_without_key", message);
  });

  test("that nobody knows names the nearest, and the key of the configuration", async () => {
    const message = "is not known here. Did you mean openai/gpt-4o-mini";
    await expectNotRouted("openai/gpt-4o-mni", "model_unpriced", message);
  });

  test("without a price names the key of the configuration", async () => {
    const message =
      'The model "openai/no-such-model" is not known here. If the provider has it, the operator must set pricing.models."openai/no-such-model" in the configuration.';
    await expectNotRouted("openai/no-such-model", "model_unpriced", message);
  });

  test("with a price in the configuration or in the price list is served", async () => {
    expect((await call("openai/priced")).status).toBe(200);
    expect((await call("openai/gpt-4o-mini")).status).toBe(200);
    expect((await call("claude/claude-haiku-4-5")).status).toBe(200);
  });

  test("that the token's globs leave out is as unknown to it as any other", async () => {
    const bound = await rig.gateway.token({ user: "bound", models: ["openai/gpt-4o-*", "anthropic/*"] });
    expect((await call("openai/gpt-4o-mini", bound)).status).toBe(200);
    expect((await call("anthropic/claude-haiku-4-5", bound)).status).toBe(200);
    const advice = "does not exist, or this token may not use it";
    await expectNotRouted("openai/priced", "model_not_routed", advice, bound);
    await expectNotRouted("openai/no-such-model", "model_not_routed", advice, bound);
    await expectNotRouted("xai/grok-4", "model_not_routed", advice, bound);
    // A missing key or price is not revealed to a caller that may not use the model.
    await expectNotRouted("keyless/gpt-5", "model_not_routed", advice, bound);
    const listed = (await (
      await fetch(`${rig.gateway.url}/v1/models`, { headers: { authorization: `Bearer ${bound}` } })
    ).json()) as { data: { id: string }[] };
    expect(listed.data.length).toBeGreaterThan(0);
    expect(listed.data.filter(({ id }) => !/^(openai\/gpt-4o-|anthropic\/)/.test(id))).toEqual([]);
  });

  test("a token without any glob may use nothing", async () => {
    const none = await rig.gateway.token({ user: "none", models: [] });
    await expectNotRouted("openai/gpt-4o-mini", "model_not_routed", "may not use it", none);
  });
});

describe("a route that is not there", () => {
  const headers = (): Record<string, string> => ({ authorization: `Bearer ${token}` });

  test.each<[string, string]>([
    ["GET", "/nothing"],
    ["GET", "/v1"],
    ["GET", "/v1/"],
    ["GET", "/v1/nothing"],
    ["POST", "/v1/assistants"],
    ["GET", "/v3/search"],
    ["GET", "/v2"],
    ["GET", "/admin"],
    ["GET", "/.env"],
    ["GET", "/v1/chat/completions"],
    ["DELETE", "/v1/chat/completions"],
    ["PUT", "/v1/chat/completions"],
    ["OPTIONS", "/v1/chat/completions"],
    ["POST", "/health"],
    ["POST", "/v1/models"],
    ["PATCH", "/v1/user/info"],
  ])("%s %s, in OpenAI's shape", async (method, path) => {
    const answer = await fetch(rig.gateway.url + path, { method, headers: headers() });
    const message = `There is no ${method} ${path} here.`;
    expectRefusal(answer, await answer.text(), { status: 404, code: "route_not_found", message });
  });

  test("HEAD, without a body", async () => {
    const answer = await fetch(`${rig.gateway.url}/v1/nothing`, { method: "HEAD" });
    expect([answer.status, await answer.text()]).toEqual([404, ""]);
    expect(answer.headers.get("x-request-id")).toMatch(requestIdShape);
  });

  test.each(["/v1/messages/nothing", "/v1/messages/nothing/x/results"])("%s, in Anthropic's shape", async (path) => {
    const answer = await fetch(rig.gateway.url + path, { headers: headers() });
    const id = answer.headers.get("x-request-id");
    expect(id).toMatch(requestIdShape);
    const body = await answer.text();
    expectNoInside(body);
    expect({ status: answer.status, body: JSON.parse(body) as unknown }).toEqual({
      status: 404,
      body: {
        type: "error",
        error: { type: "not_found_error", message: `There is no GET ${path} here.` },
        request_id: id,
      },
    });
  });

  test.each(["/v2/", "/v2/nothing"])("%s, in Firecrawl's shape", async (path) => {
    const answer = await fetch(rig.gateway.url + path, { headers: headers() });
    expect(answer.headers.get("x-request-id")).toMatch(requestIdShape);
    expect({ status: answer.status, body: await answer.json() }).toEqual({
      status: 404,
      body: { success: false, error: `There is no GET ${path} here.`, code: "route_not_found" },
    });
  });
});

test("every route of the OpenAPI document is there, and asks for a token unless it is public", async () => {
  const document = (await (await fetch(`${rig.gateway.url}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, { security?: [] }>>;
  };
  const routes = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { security }]) => ({ path, method, isPublic: security?.length === 0 })),
  );
  expect(routes.length).toBeGreaterThanOrEqual(5);
  for (const { path, method, isPublic } of routes) {
    const answer = await fetch(rig.gateway.url + path, { method: method.toUpperCase() });
    // A public route of one object finds none that is called "{id}"; who signs in needs the gateway's own Origin.
    const found = path.includes("{") ? 404 : 200;
    const status = isPublic ? (method === "get" ? found : 403) : 401;
    expect({ path, method, status: answer.status }).toEqual({ path, method, status });
  }
});
