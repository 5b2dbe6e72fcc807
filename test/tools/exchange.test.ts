/** Callers with a token of an identity provider reach a server with the one that the provider exchanges theirs for. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";
import { type Rig, startRig } from "../kit/index.ts";
import { askAs } from "./ask-as.ts";
import { startTestServer, type TestServer, textResult } from "./tool-server.ts";

const SECRET = "secret-of-the-client-in-no-log";

let provider: Bun.Server<undefined>;
let server: TestServer;
let rig: Rig;
let sign: (claims: JWTPayload) => Promise<string>;
/** The forms that the provider has got, and the tokens that it has withdrawn. */
const forms: Record<string, string>[] = [];
const withdrawn = new Set<string>();

const address = (): string => `http://127.0.0.1:${provider.port}`;

async function tokenFor(request: Request): Promise<Response> {
  const form = Object.fromEntries(new URLSearchParams(await request.text()));
  forms.push(form);
  const isClient = request.headers.get("authorization") === `Basic ${btoa(`gateway:${SECRET}`)}`;
  const { sub } = JSON.parse(atob(form["subject_token"]?.split(".")[1] ?? "")) as { sub: string };
  if (!isClient || sub === "stranger") return Response.json({ error: "invalid_grant" }, { status: 400 });
  const token = { access_token: `upstream-token-of-${sub}-${forms.length}`, token_type: "Bearer", expires_in: 3_600 };
  return Response.json({ ...token, issued_token_type: "urn:ietf:params:oauth:token-type:access_token" });
}

beforeAll(async () => {
  const { privateKey, publicKey } = await generateKeyPair("ES256", { extractable: true });
  const keys = [{ ...(await exportJWK(publicKey)), kid: "k", alg: "ES256" }];
  provider = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    routes: {
      "/.well-known/openid-configuration": () => Response.json({ issuer: address(), jwks_uri: `${address()}/jwks` }),
      "/jwks": () => Response.json({ keys }),
      "/token": { POST: tokenFor },
    },
  });
  sign = (claims) =>
    new SignJWT({ iss: address(), aud: "gateway", exp: Math.floor(Date.now() / 1_000) + 600, ...claims })
      .setProtectedHeader({ alg: "ES256", kid: "k" })
      .sign(privateKey);
  server = startTestServer({
    era: "2025",
    before: (request) => {
      const token = (request.headers.get("authorization") ?? "").replace("Bearer ", "");
      const isRight = token.startsWith("upstream-token-of-") && !withdrawn.has(token);
      return Promise.resolve(isRight ? undefined : new Response("", { status: 401 }));
    },
    call: () => textResult(`${forms.map(({ subject_token: token }) => token).join(" ")} upstream-token-of-ann-1`),
  });
  const exchange = { token_url: `${address()}/token`, client_id: "gateway", client_secret: SECRET, scopes: ["tools"] };
  rig = await startRig({
    config: {
      auth: { issuers: [{ name: "corp", issuer: address(), audience: ["gateway"], create: true }] },
      // The callers have no credits.
      pricing: { models: { "deepseek/*": { requests_kcount: 0 } } },
      mcp: { servers: { own: { url: server.url, auth: { exchange } } } },
    },
  });
});
afterAll(async () => {
  await rig.stop();
  await server.stop();
  await provider.stop(true);
});

const call = (token: string) =>
  askAs(rig.gateway.url, token, { method: "POST", path: "/v1/tools/own__echo", body: {} });
const bearers = () => server.of("tools/call").map(({ headers }) => headers.get("authorization"));

test("each caller's own token is exchanged, and never reaches the server", async () => {
  const [ann, bob] = [await sign({ sub: "ann" }), await sign({ sub: "bob" })];
  const first = await call(ann);
  expect(first.status).toBe(200);
  // Neither the caller's token nor the exchanged one is repeated to them.
  expect(JSON.stringify(first.json)).not.toContain(ann);
  expect(JSON.stringify(first.json)).toContain("[secret] [secret]");
  expect((await call(ann)).status).toBe(200);
  expect((await call(bob)).status).toBe(200);
  expect(bearers()).toEqual(["ann-1", "ann-1", "bob-2"].map((each) => `Bearer upstream-token-of-${each}`));
  expect(new Set(server.of("tools/call").map(({ headers }) => headers.get("mcp-session-id"))).size).toBe(2);
  expect(forms[0]).toEqual({
    grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
    subject_token: ann,
    subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
    requested_token_type: "urn:ietf:params:oauth:token-type:access_token",
    resource: server.url,
    scope: "tools",
  });

  withdrawn.add("upstream-token-of-ann-1");
  expect((await call(ann)).status).toBe(200);
  expect(bearers().at(-1)).toBe("Bearer upstream-token-of-ann-3");
});

test("a call whose tools the gateway runs exchanges it too, and has the reason of a refusal", async () => {
  const { token } = await rig.caller();
  const loop = (caller: string) => {
    const tools = [{ type: "mcp", server_label: "own", require_approval: "never" }];
    const body = { model: "deepseek/deepseek-chat", input: "Hi", tools };
    return askAs(rig.gateway.url, caller, { method: "POST", path: "/v1/responses", body });
  };
  const ann = await sign({ sub: "ann" });
  const called = await loop(ann);
  const items = called.json["output"] as { type: string }[];
  expect(items.map(({ type }) => type)).toEqual(["mcp_list_tools", "mcp_call", "message"]);
  expect(bearers().at(-1)).toStartWith("Bearer upstream-token-of-ann-");
  expect(JSON.stringify(called.json)).not.toContain(ann);
  for (const [caller, reason] of [
    [token, "takes callers with a token of an identity provider"],
    [await sign({ sub: "stranger" }), "own"],
  ] as const) {
    const refused = await loop(caller);
    expect(refused).toMatchObject({ status: 403, json: { error: { code: "connection_required" } } });
    expect(JSON.stringify(refused.json)).toContain(reason);
    expect(JSON.stringify(refused.json)).not.toContain("can't be listed");
  }
});

test("who has none to exchange, or gets none, is refused", async () => {
  const { token } = await rig.caller();
  const refused = await call(token);
  expect(refused).toMatchObject({ status: 403, json: { error: { code: "connection_required" } } });
  const stranger = await call(await sign({ sub: "stranger" }));
  expect(stranger).toMatchObject({ status: 403, json: { error: { code: "connection_required" } } });
  const connection = { method: "POST", path: "/v1/tools/connections", body: { server: "own" } };
  expect((await askAs(rig.gateway.url, token, connection)).status).toBe(422);
  expect(rig.gateway.log()).not.toContain(SECRET);
  expect(rig.gateway.log()).not.toContain("upstream-token-of");
});
