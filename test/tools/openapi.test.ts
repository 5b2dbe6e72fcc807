/** An HTTP API as a server of tools, after its OpenAPI document. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Rig, startRig } from "../kit/index.ts";

const secret = "the-secret-of-the-api";

const document = {
  openapi: "3.1.0",
  servers: [{ url: "http://169.254.169.254" }],
  paths: {
    "/pets/{id}": {
      parameters: [{ $ref: "#/components/parameters/Id" }],
      get: {
        operationId: "getPet",
        summary: "Returns a pet",
        parameters: [
          { name: "tags", in: "query", schema: { type: "array", items: { type: "string" } } },
          { name: "X-Trace", in: "header", schema: { type: "string" } },
          { name: "Authorization", in: "header", schema: { type: "string" } },
        ],
      },
      put: { requestBody: { $ref: "#/components/requestBodies/Pet" } },
    },
    "/form": {
      post: {
        operationId: "postForm",
        requestBody: { content: { "application/x-www-form-urlencoded": { schema: { type: "object" } } } },
      },
    },
    "/upload": { post: { operationId: "upload", requestBody: { required: true, content: { "image/png": {} } } } },
    "/moved": { get: { operationId: "moved" } },
    "/large": { get: { operationId: "large" } },
    "/picture": { get: { operationId: "picture" } },
  },
  components: {
    parameters: { Id: { name: "id", in: "path", required: true, schema: { type: "string" } } },
    requestBodies: {
      Pet: { required: true, content: { "application/json": { schema: { $ref: "#/components/schemas/Pet" } } } },
    },
    schemas: {
      Pet: {
        type: "object",
        properties: { mother: { $ref: "#/components/schemas/Pet" }, owner: { $ref: "http://a.test/x" } },
      },
      Unused: { type: "object" },
    },
  },
};

interface Received {
  method: string;
  path: string;
  headers: Headers;
  body: string;
}

let received: Received[];
let api: ReturnType<typeof Bun.serve>;
let rig: Rig;
let token: string;
const folder = mkdtempSync(join(tmpdir(), "tollgate-openapi-"));

beforeAll(async () => {
  received = [];
  api = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      received.push({
        method: request.method,
        path: pathname + search,
        headers: request.headers,
        body: await request.text(),
      });
      if (pathname === "/v1/moved")
        return new Response("", { status: 302, headers: { location: "http://127.0.0.1:1/" } });
      if (pathname === "/v1/large") return new Response("x".repeat(1_100_000));
      if (pathname === "/v1/picture")
        return new Response(new Uint8Array([1, 2, 3]), { headers: { "content-type": "image/png" } });
      if (pathname === "/v1/pets/none") return Response.json({ problem: `no such pet ${secret}` }, { status: 404 });
      return Response.json({ name: "Rex" });
    },
  });
  const file = join(folder, "api.json");
  writeFileSync(file, JSON.stringify(document));
  const pets = {
    openapi: file,
    url: `http://127.0.0.1:${api.port}/v1`,
    auth: { bearer: secret },
    price: { call: 0.001 },
  };
  rig = await startRig({ config: { mcp: { servers: { pets } } } });
  ({ token } = await rig.caller());
});
afterAll(async () => {
  await rig.expectBalancedBooks();
  await rig.stop();
  await api.stop(true);
  rmSync(folder, { recursive: true });
});

async function call(name: string, given: object): Promise<Record<string, unknown>> {
  received = [];
  const headers = { authorization: `Bearer ${token}` };
  const body = JSON.stringify(given);
  const answer = await fetch(`${rig.gateway.url}/v1/tools/pets__${name}`, { method: "POST", headers, body });
  return { status: answer.status, ...((await answer.json()) as object) };
}

test("operations are tools, with the schemas that they need and no others", async () => {
  const answer = await fetch(`${rig.gateway.url}/v1/tools?q=pets__`, { headers: { authorization: `Bearer ${token}` } });
  const { data } = (await answer.json()) as { data: { name: string; inputSchema: Record<string, unknown> }[] };
  const byName = new Map(data.map((tool) => [tool.name, tool]));
  expect([...byName.keys()]).toEqual([
    "pets__getPet",
    "pets__put_pets_id_",
    "pets__postForm",
    "pets__moved",
    "pets__large",
    "pets__picture",
  ]);
  expect(byName.get("pets__getPet")?.inputSchema).toEqual({
    type: "object",
    properties: {
      id: { type: "string" },
      tags: { type: "array", items: { type: "string" } },
      "X-Trace": { type: "string" },
    },
    required: ["id"],
  });
  expect(byName.get("pets__put_pets_id_")?.inputSchema).toMatchObject({
    properties: { body: { $ref: "#/$defs/Pet" } },
    required: ["id", "body"],
    $defs: { Pet: { type: "object", properties: { mother: { $ref: "#/$defs/Pet" }, owner: {} } } },
  });
  expect(JSON.stringify(data)).not.toContain("a.test");
  expect(JSON.stringify(data)).not.toContain("Unused");
});

test("arguments go into path, query, headers and body; credentials are the operator's", async () => {
  const got = await call("getPet", {
    id: "a/b ../c",
    tags: ["x", "y&z"],
    "X-Trace": "t",
    Authorization: "Bearer mine",
  });
  expect(got).toMatchObject({ status: 200, structuredContent: { name: "Rex" } });
  expect(received[0]).toMatchObject({ method: "GET", path: "/v1/pets/a%2Fb%20..%2Fc?tags=x&tags=y%26z" });
  expect(received[0]?.headers.get("authorization")).toBe(`Bearer ${secret}`);
  expect(received[0]?.headers.get("x-trace")).toBe("t");
  await call("put_pets_id_", { id: "1", body: { name: "Max" } });
  expect(received[0]).toMatchObject({ method: "PUT", path: "/v1/pets/1", body: '{"name":"Max"}' });
  await call("postForm", { body: { a: "1 2", b: [3] } });
  expect(received[0]).toMatchObject({ method: "POST", body: "a=1+2&b=%5B3%5D" });
  expect(await call("picture", {})).toMatchObject({
    content: [{ type: "image", data: "AQID", mimeType: "image/png" }],
  });
});

test("an argument leads to no other path, and a redirect nowhere", async () => {
  for (const id of ["..", ".", "", undefined]) {
    expect(await call("getPet", { id })).toMatchObject({ status: 422 });
    expect(received).toEqual([]);
  }
  expect(await call("getPet", { id: "1", "X-Trace": "a\r\nx-evil: 1" })).toMatchObject({ status: 422 });
  expect(await call("moved", {})).toMatchObject({ isError: true, content: [{ text: "HTTP 302" }] });
  expect(received).toHaveLength(1);
});

test("failures are free, answers are bounded, and the secret does not come back", async () => {
  const caller = await rig.caller();
  token = caller.token;
  const missing = await call("getPet", { id: "none" });
  expect(missing).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("HTTP 404") as string }] });
  expect(JSON.stringify(missing)).not.toContain(secret);
  expect((await call("large", {}))["status"]).toBe(502);
  expect(await caller.closed()).toBe(0n);
});
