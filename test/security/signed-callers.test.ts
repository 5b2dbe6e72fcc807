/** Callers with JSON Web Tokens of an issuer on this machine, on both stores: every route, and the end of their answers. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";
import {
  type Engine,
  engines,
  type Gateway,
  gatedBody,
  type GatedUpstream,
  type PostgresServer,
  query,
  startGatedUpstream,
  startGateway,
  startPostgres,
  storageOn,
  until,
} from "../kit/index.ts";
import { Client } from "../realtime/realtime-scene.ts";

let postgres: PostgresServer;
let upstream: GatedUpstream;
let issuer: Bun.Server<undefined>;
let sign: (claims: JWTPayload) => Promise<string>;

beforeAll(async () => {
  postgres = await startPostgres();
  upstream = startGatedUpstream();
  upstream.release("open");
  const { privateKey, publicKey } = await generateKeyPair("ES256", { extractable: true });
  const keys = [{ ...(await exportJWK(publicKey)), kid: "k", alg: "ES256" }];
  issuer = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    routes: {
      "/.well-known/openid-configuration": () => Response.json({ issuer: address(), jwks_uri: `${address()}/jwks` }),
      "/jwks": () => Response.json({ keys }),
    },
  });
  sign = (claims) =>
    new SignJWT({ iss: address(), aud: "gateway", ...claims })
      .setProtectedHeader({ alg: "ES256", kid: "k" })
      .sign(privateKey);
});
afterAll(async () => {
  await issuer.stop(true);
  await upstream.stop();
  await postgres.stop();
});

const address = (): string => `http://127.0.0.1:${issuer.port}`;
const now = (): number => Math.floor(new Date().getTime() / 1_000);

describe.each<Engine>([...engines])("on %s", (engine) => {
  let gateway: Gateway;
  beforeAll(async () => {
    gateway = await startGateway({
      providers: { openai: { kind: "openai-compatible", base_url: upstream.url, api_key: "k" } },
      config: {
        auth: {
          issuers: [
            {
              name: "corp",
              issuer: address(),
              audience: ["gateway"],
              claims: { role: "groups", organisation: "org" },
              roles: { "gateway-admins": "owner" },
              create: true,
            },
          ],
        },
      },
      ...(await storageOn(engine, postgres)),
    });
    const { code } = await gateway.cli("organisation", "create", "acme");
    expect(code).toBe(0);
    await gateway.cli("credits", "grant", "--organisation", "acme", "--amount", "100", "--reason", "a test");
  });
  afterAll(() => gateway.stop());

  const tokenOf = (changes: JWTPayload = {}) => sign({ sub: "alice", org: "acme", exp: now() + 600, ...changes });
  const ask = async (path: string, token: string, header = "authorization") =>
    fetch(gateway.url + path, { headers: { [header]: header === "authorization" ? `Bearer ${token}` : token } });

  test("their calls are paid by the user who was made for them", async () => {
    const token = await tokenOf();
    const openai = new OpenAI({ apiKey: token, baseURL: `${gateway.url}/v1` });
    const said = await openai.chat.completions.create({
      model: "openai/open",
      messages: [{ role: "user", content: "hi" }],
    });
    expect(said.choices[0]?.message.content).toBe("hello there");
    const anthropic = new Anthropic({ apiKey: await tokenOf({ jti: "2" }), baseURL: gateway.url, authToken: null });
    const messages = [{ role: "user", content: "hi" }] as const;
    expect(
      (await anthropic.messages.create({ model: "openai/open", max_tokens: 9, messages: [...messages] })).role,
    ).toBe("assistant");
    const google = (path: string, headers: Record<string, string>) =>
      fetch(`${gateway.url}/v1beta/models/openai/open:generateContent${path}`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify({ contents: [{ role: "user", parts: [{ text: "hi" }] }] }),
      });
    expect((await google("", { "x-goog-api-key": token })).status).toBe(200);
    expect((await google(`?key=${token}`, {})).status).toBe(200);
    const shown = await gateway.cli("user", "show", "alice", "--json");
    const { organisation, role, spend } = JSON.parse(shown.stdout) as Record<string, unknown>;
    expect([organisation, role, Number(spend) > 0]).toEqual(["acme", "member", true]);
    const bound = await query<{ token_id: string }>(gateway.storage, "SELECT token_id FROM identities");
    expect(bound).toHaveLength(1);
  });

  test("their role comes from the configured groups, for the admin routes too", async () => {
    expect((await ask("/admin/v1/users", await tokenOf())).status).toBe(403);
    const boss = await ask("/admin/v1/users", await tokenOf({ groups: ["gateway-admins"] }));
    const { data } = (await boss.json()) as { data: { name: string; identities: object[] }[] };
    const alice = data.find(({ name }) => name === "alice");
    expect(alice?.identities).toEqual([{ issuer: address(), subject: "alice" }]);
    expect((await ask("/admin/v1/users", await tokenOf({ groups: ["owner"] }))).status).toBe(403);
  });

  test("within the policy of their organisation they make a token for their programs", async () => {
    const make = async (claims: JWTPayload = {}) =>
      fetch(`${gateway.url}/admin/v1/tokens`, {
        method: "POST",
        headers: { authorization: `Bearer ${await tokenOf(claims)}`, "content-type": "application/json" },
        body: JSON.stringify({ name: "laptop" }),
      });
    expect((await make()).status).toBe(403);
    const policy = ["--token-policy", "max_tokens=1,max_expires=30d,max_budget=5"];
    const set = await gateway.cli("organisation", "set", "acme", ...policy, "--json");
    expect(JSON.parse(set.stdout)).toMatchObject({
      token_policy: { max_tokens: 1, max_expires: 2_592_000, max_budget: 5 },
    });
    const made = (await (await make()).json()) as { token: string; max_budget: number; made_by: string };
    expect(made).toMatchObject({ user: "alice", max_budget: 5, made_by: expect.stringMatching(/^token:/) as string });
    expect((await ask("/v1/user/info", made.token)).status).toBe(200);
    expect((await make()).status).toBe(403);
  });

  test("others are refused as any wrong token is, in the form of each API", async () => {
    const wrong = await tokenOf({ aud: "other" });
    for (const [path, header] of [
      ["/v1/user/info", "authorization"],
      ["/v1/models", "x-api-key"],
      ["/v1beta/models", "x-goog-api-key"],
      ["/admin/v1/users", "authorization"],
    ] as const) {
      const answer = await ask(path, wrong, header);
      const text = await answer.text();
      expect([path, answer.status]).toEqual([path, 401]);
      expect(text).not.toContain(wrong.slice(0, 20));
    }
    expect(gateway.log()).not.toContain(wrong.split(".")[2] ?? "none");
  });

  test("the metadata of MCP names their issuer", async () => {
    const metadata = await fetch(`${gateway.url}/.well-known/oauth-protected-resource/mcp`);
    expect(await metadata.json()).toMatchObject({ authorization_servers: [address()] });
  });

  test("streams and sockets end soon after the token, to the minute of the clock", async () => {
    const ending = await tokenOf({ exp: now() - 56 });
    const model = `held-${engine}-signed`;
    const headers = { authorization: `Bearer ${ending}`, "content-type": "application/json" };
    const socket = new Client(gateway.url.replace("http", "ws") + "/v1/responses", { headers });
    const body = JSON.stringify(gatedBody(model, { stream: true }));
    const stream = await fetch(`${gateway.url}/v1/chat/completions`, { method: "POST", headers, body });
    expect(stream.status).toBe(200);
    expect(await stream.text()).toContain(`"code":"token_expired"`);
    await until("the upstream was left", () => upstream.left(model) === 1);
    await until("the socket is closed", () => socket.closed !== undefined);
    expect((await ask("/v1/user/info", ending)).status).toBe(401);
  });

  test("a disabled user is refused within a second", async () => {
    const token = await tokenOf({ sub: "bob" });
    expect((await ask("/v1/user/info", token)).status).toBe(200);
    await gateway.cli("user", "disable", "bob");
    await until("it is refused", async () => (await ask("/v1/user/info", token)).status === 401);
  });
});
