/** Servers of tools at addresses that requests name, and the gateway's own tools, as tools of a model that knows chat alone. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { JsonObject } from "../../src/core/index.ts";
import { oneCredit, post, tablesWith } from "../kit/index.ts";
import { startTestServer, type TestServer, textResult } from "../tools/tool-server.ts";
import { hostedScene, type HostedScene, model, type ModelAnswer } from "./hosted-scene.ts";

const secret = "canary-0123456789";
const tools = [{ name: "weather", description: "Tells it", inputSchema: { type: "object", properties: {} } }];

let server: TestServer;
let unreachable: TestServer;
beforeAll(() => {
  const call = (): Record<string, unknown> => textResult(`Sunny. You are ${secret}, ${btoa(secret)}.`);
  server = startTestServer({ era: "2026", tools, call });
  unreachable = startTestServer({ era: "2026", tools });
});
afterAll(() => Promise.all([server.stop(), unreachable.stop()]));

const hostOf = ({ url }: TestServer): string => new URL(url).host;

/** The second server is listed, and private. */
const at = hostedScene(
  () => ({
    mcp: {
      allow_server_urls: [server.url, new URL("/", unreachable.url).href],
      servers: { towns: { url: server.url, tools: ["weather"] } },
      sets: { both: { servers: ["towns", "tollgate"], tools: ["towns__*", "web_*"] } },
    },
    pricing: { models: { "plain/*": { requests_kcount: 1_000 } }, web: { searches_kcount: 100, pages_kcount: 0 } },
  }),
  { privateHosts: () => [hostOf(server)] },
);

const weather: ModelAnswer = { calls: [{ name: "weather", args: {} }] };
const done: ModelAnswer = { text: "OK." };
const namesOf = ({ asked: [first] }: HostedScene): unknown => first?.tools?.map(({ function: { name } }) => name);
const sentTo = ({ received }: TestServer, header: string): (string | null)[] =>
  received.splice(0).map(({ headers }) => headers.get(header));

const inResponses = (url: string, more: object = {}) => ({
  input: "Hi",
  tools: [{ type: "mcp", server_label: "sky", server_url: url, require_approval: "never", ...more }],
});
const inMessages = (url: string, more: object = {}) => ({
  max_tokens: 100,
  messages: [{ role: "user", content: "Hi" }],
  mcp_servers: [{ type: "url", name: "sky", url, ...more }],
});

describe("an address that the operator permits", () => {
  test.each([
    [
      "/v1/responses",
      () => inResponses(server.url, { authorization: secret, headers: { "x-team": "blue", host: "evil.test" } }),
    ],
    ["/v1/messages", () => inMessages(server.url, { authorization_token: secret })],
    ["/v1/messages", () => inMessages(`${server.url}?api_key=${secret}`, { authorization_token: secret })],
  ])(
    "has its tools run here, and gets the credentials of the request, which go nowhere else (%s)",
    async (path, body) => {
      const scene = at();
      for (const stream of [false, true]) {
        server.received.length = 0;
        scene.answers(weather, done);
        const answer = await scene.post(path, { ...body(), stream });
        const text = await answer.text();
        expect([answer.status, text.includes("Sunny."), text.includes("OK.")]).toEqual([200, true, true]);
        expect(server.of("tools/call")).toHaveLength(1);
        if (path === "/v1/responses") expect(server.received[0]?.headers.get("x-team")).toBe("blue");
        expect(server.received[0]?.headers.get("host")).toBe(hostOf(server));
        expect(new Set(sentTo(server, "authorization"))).toEqual(new Set([`Bearer ${secret}`]));
        // Not even what the server itself repeats.
        for (const said of [text, JSON.stringify(scene.asked), scene.rig.gateway.log()]) {
          expect(said).not.toContain(secret);
          expect(said).not.toContain(btoa(secret).replace(/=+$/, ""));
        }
      }
      expect(await tablesWith(scene.rig.gateway.storage, secret)).toEqual([]);
    },
  );

  test("is asked here on providers that open addresses themselves", async () => {
    const scene = at();
    const body = { model: "openai/gpt-4o-mini", ...inResponses(server.url, { authorization: secret }) };
    expect((await scene.post("/v1/responses", body)).status).toBe(200);
    const sent = scene.rig.received("gpt-4o-mini").at(-1)?.body ?? "";
    expect(JSON.parse(sent)).toMatchObject({ tools: [{ type: "function", name: "weather" }] });
    expect(sent).not.toContain(secret);
  });

  test("is another server for each user and each credential", async () => {
    const scene = at();
    const other = await scene.rig.caller();
    const ask = (token: string, authorization: string) => {
      scene.answers(weather, done);
      return post(scene.rig, "/v1/responses", token, { model, ...inResponses(server.url, { authorization }) });
    };
    server.received.length = 0;
    await ask(other.token, "first-credential");
    expect(new Set(sentTo(server, "authorization"))).toEqual(new Set(["Bearer first-credential"]));
    await ask(other.token, "second-credential");
    await ask(scene.caller.token, "second-credential");
    expect(server.of("tools/list")).toHaveLength(2);
    expect(new Set(sentTo(server, "authorization"))).toEqual(new Set(["Bearer second-credential"]));
  });

  test("needs the right to its tools", async () => {
    const scene = at();
    const token = await scene.rig.gateway.token({ user: "limited", tools: ["towns__*"] });
    scene.answers(weather, done);
    const calls = server.of("tools/call").length;
    const body = { model, ...inResponses(server.url) };
    expect((await post(scene.rig, "/v1/responses", token, body)).status).toBe(200);
    expect([namesOf(scene), server.of("tools/call").length]).toEqual([undefined, calls]);
  });

  test("passes the guard of addresses", async () => {
    const scene = at();
    scene.answers(done);
    const answer = await scene.post("/v1/responses", inResponses(unreachable.url, { authorization: secret }));
    expect([answer.status, await answer.json()]).toMatchObject([502, { error: { code: "upstream_unreachable" } }]);
    expect([unreachable.received.length, scene.asked.length]).toEqual([0, 0]);
  });

  test.each([{ "x bad": "1" }, { "x-bad": "a\r\nb: c" }, { "x-bad": 7 }])(
    "gets no headers that are none: %j",
    async (headers) => {
      const answer = await at().post("/v1/responses", inResponses(server.url, { headers }));
      expect([answer.status, await answer.json()]).toMatchObject([422, { error: { param: "tools" } }]);
    },
  );
});

test("any other address is nobody's", async () => {
  const scene = at();
  server.received.length = 0;
  for (const url of [new URL("/mcpx", server.url).href, new URL("/", server.url).href, "http://127.0.0.1:9/mcp"]) {
    scene.answers(done);
    const answer = await scene.post("/v1/responses", inResponses(url, { authorization: secret }));
    expect([answer.status, answer.headers.get("x-tollgate-dropped-tools")]).toEqual([200, "mcp"]);
  }
  expect(server.received).toEqual([]);
});

describe("the gateway's own tools", () => {
  const page = { path: "/a", title: "A", content: "About A." };
  const search: ModelAnswer = { calls: [{ name: "web_search", args: { query: "q" } }] };

  test.each([
    ["by their label", () => ({ server_label: "tollgate" }), "budget_get"],
    ["by their address", () => ({ server_label: "t", server_url: `${at().rig.gateway.url}/mcp` }), "budget_get"],
    [
      "beside all servers",
      () => ({ server_label: "t", server_url: `${at().rig.gateway.url}/mcp/all` }),
      "towns__weather",
    ],
    ["in a set", () => ({ server_label: "both" }), "towns__weather"],
  ])("are run %s, and their cost is a part of the call's", async (title, named, beside) => {
    const scene = at();
    scene.finds(page);
    scene.answers(search, done);
    const before = await scene.caller.closed();
    const tool = { type: "mcp", require_approval: "never", ...named() };
    const answer = await scene.post("/v1/responses", { input: "Hi", tools: [tool] });
    const { output } = (await answer.json()) as { output: JsonObject[] };
    expect(output.slice(1)).toMatchObject([
      { type: "mcp_call", name: "web_search", error: null, output: expect.stringContaining("About A.") as string },
      { type: "message" },
    ]);
    expect(namesOf(scene)).toContain(beside);
    // Two rounds and one search.
    expect((await scene.caller.closed()) - before).toBe(2n * oneCredit + oneCredit / 10n);
    expect(answer.headers.get("x-tollgate-credits")).toBe("2.1");
    const url = `${scene.rig.gateway.url}/v1/generations?parent_id=${answer.headers.get("x-request-id") ?? ""}`;
    const listed = await fetch(url, { headers: { authorization: `Bearer ${scene.caller.token}` } });
    const { data } = (await listed.json()) as { data: { operation: string }[] };
    expect(data.map(({ operation }) => operation)).toEqual(["responses", "search", "responses"]);
    if (title === "in a set") expect(namesOf(scene)).not.toContain("budget_get");
  });

  test("are those that the token may call, within the call's own limit of credits", async () => {
    const scene = at();
    scene.finds(page);
    const token = await scene.rig.gateway.token({ user: "own", credits: 10n * oneCredit, tools: ["web_search"] });
    const body = { model, input: "Hi", tools: [{ type: "mcp", server_label: "tollgate", require_approval: "never" }] };
    scene.answers(search, search, done);
    const headers = { "x-tollgate-max-credits": "2.05" };
    const answer = await post(scene.rig, "/v1/responses", token, body, { headers });
    expect(namesOf(scene)).toEqual(["web_search"]);
    expect(await answer.json()).toMatchObject({ incomplete_details: { reason: "max_output_tokens" } });
    expect(Number(answer.headers.get("x-tollgate-credits"))).toBeLessThanOrEqual(2.05);
  });
});
