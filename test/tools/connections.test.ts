/** Credentials of users at servers of tools: sealed, never shared, never shown; a call without any names the page that asks for them. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import {
  engines,
  type PostgresServer,
  type Rig,
  startGateway,
  startPostgres,
  startRig,
  storageOn,
} from "../kit/index.ts";
import { openConnectionStore } from "../../src/tools/index.ts";
import { askAs, type JsonAnswer as Json, withKey } from "./ask-as.ts";
import { startTestServer, type TestServer, textResult } from "./tool-server.ts";

const secrets = { ann: "secret-of-ann-1234", work: "secret-of-ann-at-work", bob: "secret-of-bob-5678" };

let postgres: PostgresServer;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.stop());

test("on Postgres users' credentials need a key", async () => {
  const started = startGateway({
    ...(await storageOn("Postgres", postgres)),
    providers: {},
    config: { mcp: { servers: { own: { url: "http://127.0.0.1:9/mcp", auth: { header: "x-key", of: "user" } } } } },
  });
  expect(started).rejects.toThrow("webhooks.encryption_key");
});

describe.each(engines)("on %s", (engine) => {
  let server: TestServer;
  let rig: Rig;
  let ann: string;
  let bob: string;

  beforeAll(async () => {
    server = startTestServer({
      era: "2025",
      bearer: Object.values(secrets),
      call: ({ name }) => textResult(`${String(name)}: ${secrets.ann} ${btoa(secrets.bob)}`),
    });
    const auth = { header: "authorization", of: "user" };
    rig = await startRig({
      ...(await storageOn(engine, postgres)),
      config: {
        mcp: { servers: { own: { url: server.url, auth } } },
        ...withKey,
      },
    });
    ann = (await rig.caller()).token;
    bob = (await rig.caller()).token;
  });
  afterAll(async () => {
    await rig.stop();
    await server.stop();
  });

  const send = (token: string, method: string, path: string, body?: Json) =>
    askAs(rig.gateway.url, token, { method, path, ...(body !== undefined && { body }) });
  const connect = (token: string, body: Json) =>
    send(token, "POST", "/v1/tools/connections", { server: "own", ...body });
  const call = (token: string, query = "") => send(token, "POST", `/v1/tools/own__echo${query}`, {});
  const names = async (token: string) =>
    ((await send(token, "GET", "/v1/tools")).json["data"] as { name: string }[])
      .map(({ name }) => name)
      .filter((name) => name.includes("__"));
  const bearers = () => server.of("tools/call").map(({ headers }) => headers.get("authorization"));

  test("without an account the server's tools are missing, and a call names the page that connects one", async () => {
    expect(await names(ann)).toEqual([]);
    const refused = await call(ann);
    expect(refused.status).toBe(403);
    const { code, message } = refused.json["error"] as Json;
    expect(code).toBe("connection_required");
    const { data } = (await send(ann, "GET", "/v1/tools/connections")).json as { data: Json[] };
    expect(data).toMatchObject([{ server: "own", account: "default", status: "pending" }]);
    expect(message).toContain(String(data[0]?.["url"]));
    expect(data[0]?.["url"]).toStartWith(`${rig.gateway.url}/console/connections/connection_`);
    // The same link again.
    expect((await call(ann)).json["error"]).toMatchObject({ message });
    expect(server.received).toEqual([]);
  });

  test("an agent finds the page by a tool, and a client that shows addresses gets it as a question", async () => {
    const ask = async (name: string, more: Json = {}) => {
      const claims = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": { elicitation: { url: {} } },
      };
      const answer = await fetch(`${rig.gateway.url}/mcp/own`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${bob}`,
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          "mcp-protocol-version": "2026-07-28",
          "mcp-method": "tools/call",
          "mcp-name": name,
        },
        body: JSON.stringify({
          jsonrpc: "2.0",
          id: 1,
          method: "tools/call",
          params: { name, arguments: { server: "own" }, _meta: claims, ...more },
        }),
      });
      return ((await answer.json()) as { result: Json }).result;
    };
    const listed = (await send(bob, "GET", "/v1/tools")).json["data"] as Json[];
    expect(listed.find(({ name }) => name === "account_connect")).toMatchObject({
      inputSchema: { properties: { server: { enum: ["own"] } } },
    });
    const page = { mode: "url", url: expect.stringContaining("/console/connections/connection_") as string };
    const question = {
      resultType: "input_required",
      inputRequests: { connect: { method: "elicitation/create", params: page } },
    };
    expect(await ask("account_connect")).toMatchObject(question);
    expect(await ask("echo")).toMatchObject(question);
    // The user has answered, and has not connected the account so far.
    expect(await ask("echo", { inputResponses: { connect: { action: "accept" } } })).toMatchObject({ isError: true });
    const called = await send(bob, "POST", "/v1/tools/account_connect", { server: "own" });
    expect(called.json).toMatchObject({ structuredContent: { server: "own", url: page.url } });
    expect((await send(bob, "POST", "/v1/tools/account_connect", { server: "other" })).status).toBe(422);
    const client = new Client({ name: "old", version: "1" }, { capabilities: { elicitation: { url: {} } } });
    const requestInit = { headers: { authorization: `Bearer ${bob}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL(`${rig.gateway.url}/mcp/own`), { requestInit }));
    const refused: unknown = await client.callTool({ name: "echo", arguments: {} }).catch((thrown: unknown) => thrown);
    expect(refused).toMatchObject({ code: -32_042, data: { elicitations: [page] } });
    await client.close();
    const without = await rig.gateway.token({ user: "without", tools: ["web_*"] });
    expect(JSON.stringify((await send(without, "GET", "/v1/tools")).json)).not.toContain("account_connect");
    expect((await send(without, "POST", "/v1/tools/account_connect", { server: "own" })).status).toBe(404);
  });

  test("each user's calls have that user's own secret and session, and no result repeats it", async () => {
    expect((await connect(ann, { secret: secrets.ann })).json).toMatchObject({ status: "connected" });
    expect(await names(ann)).toEqual(["own__echo"]);
    expect(JSON.stringify((await send(ann, "GET", "/v1/tools")).json)).not.toContain("account_connect");
    expect(await names(bob)).toEqual([]);
    expect((await connect(bob, { secret: secrets.bob })).json["url"]).toBeUndefined();
    expect(await names(bob)).toEqual(["own__echo"]);
    const ofAnn = JSON.stringify((await call(ann)).json);
    expect(ofAnn).not.toContain(secrets.ann);
    const ofBob = JSON.stringify((await call(bob)).json);
    expect(ofBob).not.toContain(btoa(secrets.bob).replace(/=+$/, ""));
    expect(bearers()).toEqual([`Bearer ${secrets.ann}`, `Bearer ${secrets.bob}`]);
    const sessions = server.of("tools/call").map(({ headers }) => headers.get("mcp-session-id"));
    expect(new Set(sessions).size).toBe(2);
    expect(server.of("initialize").length).toBe(2);
  });

  test("one of several accounts is chosen by its name", async () => {
    await connect(ann, { account: "work", secret: secrets.work });
    const before = bearers().length;
    expect((await call(ann, "?account=work")).status).toBe(200);
    expect((await call(ann, "?account=own:work")).status).toBe(200);
    expect((await call(ann)).status).toBe(200);
    expect(bearers().slice(before)).toEqual([secrets.work, secrets.work, secrets.ann].map((one) => `Bearer ${one}`));
    expect((await call(ann, "?account=other")).status).toBe(403);
    expect((await call(ann, "?account=a%20b")).status).toBe(422);
    expect((await call(bob, "?account=work")).status).toBe(403);
  });

  test("so it is by the address of a server in a call whose tools the gateway runs", async () => {
    const loop = (account: string) => {
      const server_url = `${rig.gateway.url}/mcp/own?account=${account}`;
      const tools = [{ type: "mcp", server_label: "own", server_url, require_approval: "never" }];
      return send(ann, "POST", "/v1/responses", { model: "deepseek/deepseek-chat", input: "Hi", tools });
    };
    const types = (await loop("work")).json["output"] as { type: string }[];
    expect(types.map(({ type }) => type)).toEqual(["mcp_list_tools", "mcp_call", "message"]);
    expect(bearers().at(-1)).toBe(`Bearer ${secrets.work}`);
    const refused = await loop("other");
    expect(refused).toMatchObject({ status: 403, json: { error: { code: "connection_required" } } });
    expect(JSON.stringify(refused.json)).toContain("/connect");
    expect((await loop("a%20b")).status).toBe(422);
  });

  test("a connection belongs to its owner, and a token with limits changes none", async () => {
    const { data } = (await send(ann, "GET", "/v1/tools/connections")).json as { data: Json[] };
    const id = String(data.find(({ account }) => account === "default")?.["id"]);
    const foreign = await send(bob, "DELETE", `/v1/tools/connections/${id}`);
    expect(foreign.status).toBe(404);
    expect(foreign.json).toMatchObject({ error: { code: "object_not_found" } });
    expect(
      ((await send(bob, "GET", "/v1/tools/connections")).json["data"] as Json[]).map((each) => each["id"]),
    ).not.toContain(id);

    const limited = await rig.gateway.token({ user: "limited", tools: ["own__*"] });
    expect((await connect(limited, { secret: secrets.bob })).json).toMatchObject({ error: { code: "role_required" } });
    expect((await connect(limited, {})).json).toMatchObject({ status: "pending" });
    expect((await call(ann)).status).toBe(200);
  });

  test.each([
    [{ server: "none" }, "server"],
    [{ account: "a/b" }, "account"],
    [{ secret: "two\nlines" }, "secret"],
    [{ secret: "" }, "secret"],
  ])("refuses %p", async (body, param) => {
    const refused = await connect(ann, body);
    expect(refused.status).toBe(422);
    expect(refused.json["error"]).toMatchObject({ param });
  });

  test("a secret that the server refuses is asked for again, and another one has another session", async () => {
    const carl = (await rig.caller()).token;
    await connect(carl, { secret: "not-the-right-one" });
    const refused = await call(carl);
    expect(refused).toMatchObject({ status: 403, json: { error: { code: "connection_required" } } });
    expect(JSON.stringify(refused.json)).toContain("refuses your credentials");
    await connect(carl, { secret: secrets.bob });
    expect((await call(carl)).status).toBe(200);
    const { data } = (await send(carl, "GET", "/v1/tools/connections")).json as { data: Json[] };
    const removed = await send(carl, "DELETE", `/v1/tools/connections/${String(data[0]?.["id"])}`);
    expect(removed.status).toBe(200);
    expect((await call(carl)).status).toBe(403);
    expect(await names(carl)).toEqual([]);
  });

  test("credentials of a deleted user are deleted, and those that do not open are asked for again", async () => {
    const store = openConnectionStore(rig.gateway.storage);
    const gone = await rig.gateway.token({ user: "gone", credits: 0n });
    const { id } = (await connect(gone, { secret: secrets.bob })).json;
    const owner = (await store.find(String(id)))?.owner ?? "";
    await store.deleteAbandoned(Date.now());
    expect((await store.of(owner)).length).toBe(1);
    const connection = await store.find(String(id));
    if (connection !== undefined) await store.reseal(connection, "v1.of-another-key.AAAA");
    expect((await call(gone)).json).toMatchObject({ error: { code: "connection_required" } });
    const deleted = await rig.gateway.cli("user", "delete", "gone");
    expect(deleted).toMatchObject({ code: 0 });
    await store.deleteAbandoned(Date.now());
    expect(await store.of(owner)).toEqual([]);
  });

  test("secrets are neither in the log nor in the audit log", async () => {
    const audit = (await rig.gateway.cli("audit", "list", "--json")).stdout;
    for (const act of ["create", "connect", "delete"]) expect(audit).toContain(`tool_connection.${act}`);
    for (const secret of Object.values(secrets)) {
      expect(audit).not.toContain(secret);
      expect(rig.gateway.log()).not.toContain(secret);
    }
  });
});
