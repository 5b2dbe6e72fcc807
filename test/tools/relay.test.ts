/** Prompts, resources and completions of other servers through the gateway: at a server's own URL, and at that of a set. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { fileURLToPath } from "node:url";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { type Rig, startRig } from "../kit/index.ts";
import { programUser } from "./program-user.ts";
import { startTestServer, type TestServer } from "./tool-server.ts";

const everything = fileURLToPath(import.meta.resolve("@modelcontextprotocol/server-everything/dist/index.js"));
const secret = "the-secret-of-the-operator";

/** A server with its own methods besides those for tools. */
const library = (name: string) => {
  const methods: Record<string, (params: Record<string, unknown>) => object | undefined> = {
    "prompts/list": ({ cursor }) =>
      cursor === undefined ? { prompts: [{ name: "first" }], nextCursor: "2" } : { prompts: [{ name: "second" }] },
    "prompts/get": ({ name: asked }) => ({
      messages: [{ role: "user", content: { type: "text", text: `${name} ${String(asked)} ${secret}\u202E` } }],
    }),
    "resources/list": () => ({
      resources: [
        { uri: `lib://${name}`, name },
        { uri: "lib://shared", name: "s" },
      ],
    }),
    "resources/templates/list": () => ({ resourceTemplates: [{ uriTemplate: `lib://${name}/{id}`, name }] }),
    "resources/read": ({ uri }) =>
      uri === "lib://gone" ? undefined : { contents: [{ uri, text: `${name} has ${String(uri)}` }], ttlMs: 5_000 },
  };
  return methods;
};

function startLibrary(name: string, era: "2025" | "2026"): TestServer {
  return startTestServer({
    era,
    bearer: secret,
    answer: (method, params) => library(name)[method]?.(params),
  });
}

let rig: Rig;
let servers: TestServer[];
let token: string;
let clients: Client[] = [];

beforeAll(async () => {
  servers = [startLibrary("old", "2025"), startLibrary("modern", "2026")];
  const auth = { bearer: secret };
  rig = await startRig({
    config: {
      mcp: {
        servers: {
          old: { url: servers[0]?.url, auth },
          modern: { url: servers[1]?.url, auth },
          tools: { url: startedTools.url },
          pages: { url: pages.url },
          everything: { command: "node", args: [everything, "stdio"], ...programUser(everything) },
        },
        sets: { dev: { servers: ["old", "modern", "tools"] }, apps: { servers: ["old", "pages"] } },
      },
    },
  });
  ({ token } = await rig.caller());
});
const view = "ui://weather/view.html";
const viewMeta = { ui: { csp: { connectDomains: ["https://api.example.com"] } } };
const icons = [{ src: "https://example.com/icon.png", sizes: ["48x48"] }, { src: "http://127.0.0.1/icon.png" }];
const startedTools = startTestServer({ era: "2026" });
const pages = startTestServer({
  era: "2026",
  tools: [
    {
      name: "weather",
      inputSchema: { type: "object" },
      icons,
      _meta: { ui: { resourceUri: view, visibility: ["model"] } },
    },
  ],
  answer: (method) => {
    const mimeType = "text/html;profile=mcp-app";
    if (method === "resources/list") return { resources: [{ uri: view, name: "view", mimeType, icons }] };
    if (method === "resources/templates/list") return { resourceTemplates: [] };
    if (method !== "resources/read") return undefined;
    return {
      contents: [{ uri: view, mimeType, text: "<p>\u202EWeather</p>", _meta: viewMeta }],
      _meta: { "tollgate/x": 1 },
    };
  },
});
afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await rig.stop();
  await Promise.all([...servers, startedTools, pages].map((server) => server.stop()));
});

async function connect(path: string, bearer = token, options: object = {}): Promise<Client> {
  const client = new Client({ name: "test", version: "1" }, options);
  const requestInit = { headers: { authorization: `Bearer ${bearer}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${rig.gateway.url}${path}`), { requestInit }));
  clients = [...clients, client];
  return client;
}

const refusalOf = (promise: Promise<unknown>): Promise<string> => promise.then(() => "", String);

const modern = { versionNegotiation: { mode: { pin: "2026-07-28" } } };

describe.each([
  ["of 2025", {}],
  ["of 2026", modern],
])("a client %s", (_name, options) => {
  test.each(["old", "modern"])("at the URL of a server: %s", async (name) => {
    const client = await connect(`/mcp/${name}`, token, options);
    expect(client.getServerCapabilities()).toMatchObject({ prompts: {}, resources: {}, completions: {} });
    const first = await client.request({ method: "prompts/list", params: {} });
    expect(first).toMatchObject({ prompts: [{ name: "first" }], nextCursor: "2" });
    const { messages } = await client.getPrompt({ name: "second" });
    expect(messages[0]?.content).toEqual({ type: "text", text: `${name} second [secret]` });
    const { contents } = await client.readResource({ uri: `lib://${name}/7` });
    expect(contents[0]).toMatchObject({ text: `${name} has lib://${name}/7` });
    expect(
      await client.complete({ ref: { type: "ref/prompt", name: "x" }, argument: { name: "a", value: "" } }),
    ).toMatchObject({
      completion: { values: [] },
    });
    expect(await refusalOf(client.readResource({ uri: "lib://gone" }))).toContain("Wrong");
  });

  test("at the URL of a set", async () => {
    const client = await connect("/mcp/dev", token, options);
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual(["old__first", "old__second", "modern__first", "modern__second"]);
    const { messages } = await client.getPrompt({ name: "modern__second" });
    expect(messages[0]?.content).toMatchObject({ text: "modern second [secret]" });
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(["lib://old", "lib://modern"]);
    const { contents } = await client.readResource({ uri: "lib://modern/7" });
    expect(contents[0]).toMatchObject({ text: "modern has lib://modern/7" });
    // Whose a resource is, is known by now.
    const lists = () => servers.flatMap(({ received }) => received.filter(({ method }) => method.endsWith("/list")));
    const before = lists().length;
    for (const uri of ["lib://modern/8", "lib://old", "lib://modern"]) await client.readResource({ uri });
    expect(lists().length).toBe(before);
    expect(await refusalOf(client.readResource({ uri: "lib://shared" }))).toContain(
      "read it at /mcp/old and /mcp/modern",
    );
    expect(await refusalOf(client.readResource({ uri: "lib://none" }))).toContain("no such resource");
    expect(await refusalOf(client.getPrompt({ name: "first" }))).toContain("no such prompt");
  });
});

test("a server that cannot be reached costs its own items alone", async () => {
  const client = await connect("/mcp/dev");
  await servers[1]?.stop();
  const listed = await client.listPrompts();
  expect(listed.prompts.map(({ name }) => name)).toEqual(["old__first", "old__second"]);
  expect(listed).toMatchObject({ _meta: { "tollgate/unavailable": ["modern"] } });
});

test("a token for some tools of a server has none of its prompts and resources", async () => {
  const globs = "old__get_*,everything__*,!everything__get-env";
  const made = await rig.gateway.cli("token", "create", "--user", "agent", "--tools", globs, "--json");
  const { token: some } = JSON.parse(made.stdout) as { token: string };
  const client = await connect("/mcp/dev", some);
  expect(client.getServerCapabilities()).not.toHaveProperty("prompts");
  expect((await client.listPrompts()).prompts).toEqual([]);
  const other = await connect("/mcp/everything", some);
  expect((await other.listPrompts()).prompts.length).toBeGreaterThan(0);
});

test("those of a program: server-everything", async () => {
  const client = await connect("/mcp/everything");
  const { prompts } = await client.listPrompts();
  expect(prompts.map(({ name }) => name)).toContain("simple-prompt");
  expect((await client.getPrompt({ name: "simple-prompt" })).messages).toHaveLength(1);
  const { resourceTemplates } = await client.listResourceTemplates();
  expect(resourceTemplates.length).toBeGreaterThan(0);
  const { resources } = await client.listResources();
  const { contents } = await client.readResource({ uri: resources[0]?.uri ?? "" });
  expect(contents).toHaveLength(1);
});

test.each(["pages", "apps"])("a tool's page, its members and its icons pass at /mcp/%s", async (door) => {
  for (const options of [{}, modern]) {
    const client = await connect(`/mcp/${door}`, token, options);
    const { tools } = await client.listTools();
    const tool = tools.find(({ name }) => name.endsWith("weather"));
    expect(tool).toMatchObject({
      _meta: { ui: { resourceUri: view, visibility: ["model"] } },
      icons: icons.slice(0, 1),
    });
    expect(tool?.icons).toHaveLength(1);
    const { resources } = await client.listResources();
    expect(resources.find(({ uri }) => uri === view)).toMatchObject({ icons: icons.slice(0, 1) });
    const { contents, _meta: meta = {} } = await client.readResource({ uri: view });
    expect(contents).toEqual([
      { uri: view, mimeType: "text/html;profile=mcp-app", text: "<p>Weather</p>", _meta: viewMeta },
    ]);
    expect(meta).not.toHaveProperty("tollgate/x");
  }
  // The server learns that pages may be shown: it may have such tools for clients of this kind alone.
  const listed = pages.of("tools/list").at(-1)?.params["_meta"];
  expect(JSON.stringify(listed)).toContain('"io.modelcontextprotocol/ui":{"mimeTypes"');
});
