/** Log messages, changes of lists and updates of resources of other servers, across the revisions, on any node. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import {
  engines,
  type Gateway,
  type PostgresServer,
  type Rig,
  startGateway,
  startPostgres,
  startRig,
  storageOn,
  until,
} from "../kit/index.ts";
import { ENDED_STATE, openSessionStateStore } from "../../src/tools/index.ts";
import { type JsonAnswer as Json, withKey } from "./ask-as.ts";
import { startTestServer, type TestServer, textResult } from "./tool-server.ts";

const secret = "the-secret-of-the-operator";
/** The calls that wait until their client leaves. */
const waits = new Set<AbortSignal>();
const tools = ["logs", "late", "wait"].map((name) => ({ name, inputSchema: { type: "object" } }));

function startServer(era: "2025" | "2026"): TestServer {
  return startTestServer({
    era,
    bearer: secret,
    tools,
    capabilities: {
      logging: {},
      tools: { listChanged: true },
      prompts: { listChanged: true },
      resources: { listChanged: true, subscribe: true },
    },
    async call({ name }, _report, signal, { notify }) {
      if (name === "wait") {
        waits.add(signal);
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        waits.delete(signal);
      }
      for (const level of ["debug", "info", "error", "loud"])
        notify("notifications/message", { level, logger: "db", data: { text: `${level} ${secret}\u202E` } });
      return textResult(String(name));
    },
    answer(method, { uri }) {
      if (method === "resources/read") return { contents: [{ uri, text: "text" }] };
      if (method === "resources/list") return { resources: [{ uri: `lib://${era}`, name: era }] };
      if (method === "resources/templates/list") return { resourceTemplates: [] };
      if (method === "prompts/list") return { prompts: [] };
      return method === "logging/setLevel" || /^resources\/(?:un)?subscribe$/.test(method) ? {} : undefined;
    },
  });
}

const setLevel = (client: Client, level: string) => client.request({ method: "logging/setLevel", params: { level } });

const modern = { versionNegotiation: { mode: { pin: "2026-07-28" as const } } };

let postgres: PostgresServer;
let old: TestServer;
let fresh: TestServer;
beforeAll(async () => {
  postgres = await startPostgres();
  [old, fresh] = [startServer("2025"), startServer("2026")];
});
afterAll(async () => {
  await Promise.all([old.stop(), fresh.stop()]);
  await postgres.stop();
});

describe.each(engines)("on %s", (engine) => {
  let rig: Rig;
  let gateways: Gateway[];
  let clients: Client[] = [];

  beforeAll(async () => {
    const auth = { bearer: secret };
    const config = {
      mcp: {
        servers: { old: { url: old.url, auth }, modern: { url: fresh.url, auth } },
        sets: { both: { servers: ["old", "modern"] } },
      },
      ...withKey,
    };
    rig = await startRig({ ...(await storageOn(engine, postgres)), config });
    gateways = [rig.gateway];
    if (engine === "Postgres")
      gateways.push(await startGateway({ providers: {}, storage: rig.gateway.storageUrl, config }));
  });
  afterAll(async () => {
    await Promise.all(clients.map((client) => client.close()));
    await Promise.all(gateways.slice(1).map((each) => each.stop()));
    await rig.stop();
  });

  let sent = 0;

  async function connect(token: string, name: string, options: object): Promise<{ client: Client; got: Json[] }> {
    const client = new Client({ name: "test", version: "1" }, options);
    const got: Json[] = [];
    client.fallbackNotificationHandler = ({ method, params }) => {
      got.push({ method, ...params });
      return Promise.resolve();
    };
    const transport = new StreamableHTTPClientTransport(new URL(`http://tollgate.test/mcp/${name}`), {
      requestInit: { headers: { authorization: `Bearer ${token}` } },
      // Each message goes to the next node.
      fetch: (_url, init) => fetch(`${gateways[(sent += 1) % gateways.length]?.url}/mcp/${name}`, init),
    });
    await client.connect(transport);
    clients = [...clients, client];
    return { client, got };
  }

  const logged = (got: readonly Json[]) =>
    got.flatMap(({ method, level }) => (method === "notifications/message" ? [level] : []));

  describe.each(["old", "modern"])("log messages of the server %s", (name) => {
    test("a client of 2025 gets those of its level, on every node, and no secret", async () => {
      const { token } = await rig.caller();
      const { client, got } = await connect(token, name, {});
      expect(client.getServerCapabilities()).toHaveProperty("logging");
      await client.callTool({ name: "logs", arguments: {} });
      expect(logged(got)).toEqual(
        name === "old" ? ["info", "debug", "info", "error"] : ["info", "debug", "info", "error"],
      );
      expect(JSON.stringify(got)).not.toContain(secret);
      expect(JSON.stringify(got)).not.toContain("\u202E");
      await setLevel(client, "warning");
      // The other node hears of the level a moment later.
      await until("both nodes know the level", async () => {
        got.length = 0;
        for (let node = 0; node < 2; node += 1) await client.callTool({ name: "logs", arguments: {} });
        return Bun.deepEquals(logged(got), ["error", "error"]);
      });
      // Another session of the same token has a level of its own.
      const second = await connect(token, name, {});
      await second.client.callTool({ name: "logs", arguments: {} });
      expect(logged(second.got).length).toBeGreaterThan(1);
      expect(setLevel(client, "loud")).rejects.toThrow("level");
    });

    test("a client of 2026-07-28 gets those that it asks for in the request, else none", async () => {
      const { token } = await rig.caller();
      const { client, got } = await connect(token, name, modern);
      await client.callTool({ name: "logs", arguments: {} });
      expect(logged(got)).toEqual([]);
      const meta = { "io.modelcontextprotocol/logLevel": "error" };
      await client.callTool({ name: "logs", arguments: {}, _meta: meta });
      expect(logged(got)).toEqual(["error"]);
      const wrong = { "io.modelcontextprotocol/logLevel": "loud" };
      expect(client.callTool({ name: "logs", arguments: {}, _meta: wrong })).rejects.toThrow("logLevel");
    });
  });

  test("a server gets the lowest level that a client wants", async () => {
    const { token } = await rig.caller();
    const { client } = await connect(token, "old", {});
    await setLevel(client, "debug");
    await until("each node has set it", async () => {
      await client.callTool({ name: "logs", arguments: {} });
      return levels().filter((level) => level === "debug").length === gateways.length;
    });
    const asked = fresh
      .of("tools/call")
      .map(({ params }) => (params["_meta"] as Json)["io.modelcontextprotocol/logLevel"]);
    expect(new Set(asked)).toEqual(new Set(["info", "warning", undefined, "error"]));
  });

  const changes = (got: readonly Json[]) =>
    got.flatMap(({ method, uri }) => (String(method) === "notifications/message" ? [] : [uri ?? method]));
  const gone = { uri: "lib://gone" };

  /** A server sends it again until it is there: a node begins to listen after its client has. */
  const pushUntil = (server: TestServer, method: string, params: Json, isThere: () => boolean) =>
    until(`${method} arrives`, () => {
      server.push(method, params);
      return isThere();
    });

  describe.each([
    ["2025", {}],
    ["2026-07-28", modern],
  ])("a client of %s", (_era, options) => {
    test("hears of the changes of lists at a set, whichever revisions the servers speak", async () => {
      const { token } = await rig.caller();
      const { client, got } = await connect(token, "both", options);
      expect(client.getServerCapabilities()).toMatchObject({
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { listChanged: true, subscribe: true },
      });
      const lists = { promptsListChanged: true, resourcesListChanged: true, toolsListChanged: true };
      const listening = options === modern ? await client.listen(lists) : undefined;
      if (listening !== undefined) expect(listening.honoredFilter).toEqual(lists);
      for (const server of [old, fresh]) {
        for (const list of ["prompts", "resources"]) {
          got.length = 0;
          const method = `notifications/${list}/list_changed`;
          await pushUntil(server, method, {}, () => changes(got).includes(method));
        }
        // The list is read again before clients hear of it, and only one that differs is news.
        await client.listTools();
        got.length = 0;
        server.tools = [...tools, { name: `new${crypto.randomUUID().slice(0, 8)}`, inputSchema: { type: "object" } }];
        const method = "notifications/tools/list_changed";
        await pushUntil(server, method, {}, () => changes(got).includes(method));
        // A change before this one may have been the news.
        await until("the new tool is listed", async () => {
          const { tools: listed } = await client.listTools();
          return listed.some(({ name }) => name.includes("__new"));
        });
        server.tools = tools;
      }
      await listening?.close();
    });

    test("gets the updates of the resources that it has subscribed to, and of no others", async () => {
      const [one, other] = [await rig.caller(), await rig.caller()];
      const { client, got } = await connect(one.token, "both", options);
      const stranger = await connect(other.token, "both", options);
      const uris = ["lib://2025", "lib://2026"];
      if (options === modern) {
        const listening = await client.listen({ resourceSubscriptions: [...uris, "lib://none"] });
        expect(listening.honoredFilter).toEqual({ resourceSubscriptions: uris });
        const nothing = await stranger.client.listen({ resourceSubscriptions: ["lib://none"] });
        expect(nothing.honoredFilter).toEqual({});
      } else for (const uri of uris) await client.subscribeResource({ uri });
      for (const [server, uri] of [
        [old, "lib://2025"],
        [fresh, "lib://2026"],
      ] as const) {
        got.length = 0;
        server.push("notifications/resources/updated", gone);
        await pushUntil(server, "notifications/resources/updated", { uri }, () => changes(got).includes(uri));
        expect(changes(got)).not.toContain(gone.uri);
      }
      expect(changes(stranger.got).filter((each) => String(each).startsWith("lib:"))).toEqual([]);
      if (options === modern) return;
      await client.unsubscribeResource({ uri: "lib://2025" });
      await until("the update no longer arrives", async () => {
        got.length = 0;
        old.push("notifications/resources/updated", { uri: "lib://2025" });
        await pushUntil(fresh, "notifications/resources/updated", { uri: "lib://2026" }, () => changes(got).length > 0);
        return !changes(got).includes("lib://2025");
      });
    });
  });

  test("a stream needs a session of one's own, and ends with it", async () => {
    const [one, other] = [await rig.caller(), await rig.caller()];
    const url = `${gateways[0]?.url}/mcp/both`;
    const initialize = { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-11-25" } };
    const headersOf = (token: string) => ({
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    });
    const begun = await fetch(url, { method: "POST", headers: headersOf(one.token), body: JSON.stringify(initialize) });
    const session = { "mcp-session-id": begun.headers.get("mcp-session-id") ?? "" };
    expect((await fetch(url, { headers: headersOf(one.token) })).status).toBe(405);
    expect((await fetch(url, { headers: { ...headersOf(other.token), ...session } })).status).toBe(404);
    expect((await fetch(url.replace("/both", ""), { headers: { ...headersOf(one.token), ...session } })).status).toBe(
      405,
    );
    const first = await fetch(url, { headers: { ...headersOf(one.token), ...session } });
    expect(first.status).toBe(200);
    const second = await fetch(url, { headers: { ...headersOf(one.token), ...session } });
    // A client has each message once.
    expect(await first.text()).not.toContain("data:");
    await fetch(url, { method: "DELETE", headers: { ...headersOf(one.token), ...session } });
    await second.text();
  });

  /** One message of a client of 2025 to one of the nodes. */
  const postTo = (node: number, token: string, message: Json, session?: string): Promise<Response> =>
    fetch(`${gateways[node % gateways.length]?.url}/mcp/old`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...(session !== undefined && { "mcp-session-id": session }),
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, ...message }),
    });
  const begin = async (token: string): Promise<string> => {
    const begun = await postTo(0, token, { method: "initialize", params: { protocolVersion: "2025-11-25" } });
    return begun.headers.get("mcp-session-id") ?? "";
  };
  const end = async (token: string, session: string): Promise<void> => {
    const headers = { authorization: `Bearer ${token}`, "mcp-session-id": session };
    const ended = await fetch(`${gateways[0]?.url}/mcp/old`, { method: "DELETE", headers });
    expect([ended.status, await ended.text()]).toEqual([204, ""]);
  };
  const ping = { method: "ping" };

  test("a session that its client has ended is nowhere, on every node", async () => {
    const { token } = await rig.caller();
    const [known, unknown, other] = [await begin(token), await begin(token), await begin(token)];
    for (const node of [0, 1]) expect((await postTo(node, token, ping, known)).status).toBe(200);
    const waiting = postTo(1, token, { method: "tools/call", params: { name: "wait" } }, known);
    await until("the call is there", () => waits.size === 1);
    const headers = { authorization: `Bearer ${token}`, accept: "text/event-stream", "mcp-session-id": known };
    const stream = await fetch(`${gateways.at(-1)?.url}/mcp/old`, { headers });
    await end(token, known);
    await end(token, unknown);
    // A node that hears of the session for the first time.
    expect((await postTo(1, token, ping, unknown)).status).toBe(404);
    await until("the other node knows", async () => (await postTo(1, token, ping, known)).status === 404);
    expect(await stream.text()).not.toContain("data:");
    await waiting;
    await until("the server learns that nobody waits", () => waits.size === 0);
    expect((await fetch(`${gateways.at(-1)?.url}/mcp/old`, { headers })).status).toBe(404);
    for (const node of [0, 1]) expect((await postTo(node, token, ping, other)).status).toBe(200);
  });

  test("a token's many ended sessions are bounded, and displace no settings", async () => {
    const { token } = await rig.caller();
    const store = openSessionStateStore(rig.gateway.storage);
    const session = await begin(token);
    await postTo(0, token, { method: "logging/setLevel", params: { level: "error" } }, session);
    const owner = (await store.find(session))?.owner ?? "";
    const bounds = { before: 0, perOwner: 3 };
    for (let ended = 0; ended < 6; ended += 1)
      await store.change({ id: `${owner}-${ended}`, owner, changedAt: Date.now() + ended }, () => ENDED_STATE, bounds);
    const found = await Promise.all([0, 1, 2, 3, 4, 5].map((ended) => store.find(`${owner}-${ended}`)));
    expect(found.map((each) => each !== undefined)).toEqual([false, false, true, true, true, true]);
    expect((await store.find(session))?.state).toContain("error");
    // Nobody begins one again.
    await end(token, session);
    await postTo(1, token, { method: "logging/setLevel", params: { level: "error" } }, session);
    expect((await store.find(session))?.state).toBe(ENDED_STATE);
  });

  test("a stream ends with its token", async () => {
    const { token } = await rig.caller();
    const { client } = await connect(token, "both", modern);
    const { closed } = await client.listen({ toolsListChanged: true });
    await rig.gateway.cli("token", "revoke", token.slice("tg_".length).split("_")[0] ?? "");
    expect(await closed).not.toBe("local");
  });

  const levels = () => old.of("logging/setLevel").map(({ params }) => params["level"]);
});
