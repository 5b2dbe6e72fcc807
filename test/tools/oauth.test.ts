/** The gateway signs its users in at the authorization servers of servers of tools: each account is bound by its owner's own browser. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import {
  engines,
  type Gateway,
  type PostgresServer,
  type Rig,
  startGateway,
  startPostgres,
  startRig,
  storageOn,
} from "../kit/index.ts";
import { hasChromium, startChromium } from "../kit/chromium.ts";
import { type AuthorizationServer, startAuthorizationServer } from "./authorization-server.ts";
import { askAs, type JsonAnswer as Json, withKey } from "./ask-as.ts";
import { startTestServer, type TestServer, textResult } from "./tool-server.ts";

/** A browser that follows redirects by hand, with the cookies of each host. */
class Browser {
  readonly #cookies = new Map<string, Map<string, string>>();

  async ask(url: string, init: RequestInit = {}): Promise<Response> {
    const { host } = new URL(url);
    const jar = this.#cookies.get(host) ?? new Map<string, string>();
    this.#cookies.set(host, jar);
    const headers = new Headers(init.headers);
    headers.set("cookie", [...jar].map(([name, value]) => `${name}=${value}`).join("; "));
    const response = await fetch(url, { ...init, headers, redirect: "manual" });
    for (const set of response.headers.getSetCookie()) {
      const [name = "", value = ""] = (set.split(";")[0] ?? "").split("=");
      if (value === "" || /max-age=0|expires=thu, 01 jan 1970/i.test(set)) jar.delete(name);
      else jar.set(name, value);
    }
    return response;
  }

  /** Follows redirects until a page comes, or one that begins with `until`. */
  async follow(url: string, until?: string): Promise<{ url: string; response: Response | undefined }> {
    let at = url;
    for (let hops = 0; hops < 10; hops += 1) {
      if (until !== undefined && at.startsWith(until)) return { url: at, response: undefined };
      const response = await this.ask(at);
      const location = response.headers.get("location");
      if (location === null) return { url: at, response };
      at = new URL(location, at).href;
    }
    throw new Error("it redirects for ever");
  }

  /** Sends the form of a page. */
  send(page: string, fields: Record<string, string>, origin = new URL(page).origin): Promise<Response> {
    return this.ask(page, { method: "POST", headers: { origin }, body: new URLSearchParams(fields) });
  }
}

const linkIn = (page: string): string =>
  (/class="go"[^>]* href="([^"]+)"/.exec(page)?.[1] ?? "").replaceAll("&amp;", "&");

let postgres: PostgresServer;
let authorization: AuthorizationServer;
let server: TestServer;
let hostile: TestServer;
/** The metadata of the hostile server. */
let metadata: Json = {};
/** The scope that the server wants for a call. */
let wanted: string | undefined;

beforeAll(async () => {
  postgres = await startPostgres();
  authorization = await startAuthorizationServer();
  server = startTestServer({
    era: "2026",
    call: ({ name }) => textResult(`called ${String(name)}`),
    async before(request, url) {
      const { origin } = new URL(url);
      const described = `${origin}/.well-known/oauth-protected-resource/mcp`;
      if (request.url === described)
        return Response.json({
          resource: url,
          authorization_servers: [authorization.issuer],
          scopes_supported: ["tools"],
        });
      const token = (request.headers.get("authorization") ?? "").replace("Bearer ", "");
      const owner = await authorization.ownerOf(token);
      const challenge = (more: string) => ({ "www-authenticate": `Bearer resource_metadata="${described}"${more}` });
      if (owner === undefined) return new Response("", { status: 401, headers: challenge("") });
      callers.push(owner);
      if (wanted === undefined || request.headers.get("mcp-method") !== "tools/call") return undefined;
      return new Response("", { status: 403, headers: challenge(`, error="insufficient_scope", scope="${wanted}"`) });
    },
  });
  hostile = startTestServer({
    era: "2026",
    before: (request) =>
      Promise.resolve(
        request.url.includes("/.well-known/") ? Response.json(metadata) : new Response("", { status: 401 }),
      ),
  });
});
const callers: string[] = [];
afterAll(async () => {
  await server.stop();
  await hostile.stop();
  authorization.stop();
  await postgres.stop();
});

const config = () => ({
  mcp: {
    servers: {
      own: { url: server.url, auth: { oauth: {}, of: "user" } },
      shared: { url: server.url, auth: { oauth: { scopes: ["tools"] }, of: "operator" } },
      hostile: { url: hostile.url, auth: { oauth: {}, of: "user" } },
      secret: {
        url: hostile.url,
        auth: { oauth: { client_id: "gateway", client_secret: "s3cret-value" }, of: "user" },
      },
    },
  },
  web: { allow_private_hosts: ["127.0.0.1"] },
  ...withKey,
});

describe.each(engines)("on %s", (engine) => {
  let rig: Rig;
  let gateway: Gateway;
  let ann: string;
  let bob: string;

  beforeAll(async () => {
    rig = await startRig({ ...(await storageOn(engine, postgres)), config: config() });
    ({ gateway } = rig);
    ann = (await rig.caller()).token;
    bob = (await rig.caller()).token;
  });
  beforeEach(() => {
    authorization.person = "ann";
    authorization.refuses = undefined;
    wanted = undefined;
    callers.length = 0;
  });
  afterAll(() => rig.stop());

  const send = (token: string, method: string, path: string, body?: Json) =>
    askAs(gateway.url, token, { method, path, ...(body !== undefined && { body }) });
  const open = async (token: string, more: Json = {}) =>
    (await send(token, "POST", "/v1/tools/connections", { server: "own", ...more })).json;
  const call = (token: string, query = "", name = "own__echo") => send(token, "POST", `/v1/tools/${name}${query}`, {});
  const codeOf = ({ json }: { json: Json }) => (json["error"] as Json | undefined)?.["code"];

  /** The owner's browser, from the page to the answer of the authorization server, which it has not followed. */
  async function begin(page: string, token: string, browser = new Browser()) {
    const sent = await browser.send(page, { token });
    const text = await sent.text();
    expect({ status: sent.status, text }).toMatchObject({ status: 200 });
    const { url } = await browser.follow(linkIn(text), `${gateway.url}/console/connections/callback`);
    return { browser, answer: url };
  }

  async function connect(token: string, more: Json = {}): Promise<Json> {
    const connection = await open(token, more);
    const { browser, answer } = await begin(String(connection["url"]), token);
    const ended = await browser.ask(answer);
    expect(await ended.text()).toContain("is connected");
    expect(ended.status).toBe(200);
    return connection;
  }

  test("the owner's browser connects the account, whose tokens reach the server and nobody else", async () => {
    const refused = await call(ann);
    expect(codeOf(refused)).toBe("connection_required");
    const { id, status, url } = await open(ann);
    expect(status).toBe("pending");
    expect(JSON.stringify(refused.json)).toContain(String(url));
    const page = await fetch(String(url));
    expect(page.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    expect(await page.text()).toContain('name="token"');
    await connect(ann);
    const { data } = (await send(ann, "GET", "/v1/tools/connections")).json as { data: Json[] };
    expect(data).toMatchObject([{ id, status: "connected" }]);
    expect((await call(ann)).json).toMatchObject({ content: [{ text: "called echo" }] });
    expect(new Set(callers)).toEqual(new Set(["ann"]));
    expect(codeOf(await call(bob))).toBe("connection_required");
  });

  test.skipIf(engine === "Postgres" || !hasChromium)("a real browser does it, by a session too", async () => {
    const chromium = await startChromium();
    const page = await chromium.newPage();
    const problems: string[] = [];
    page.on("console", (message) => {
      if (message.text().includes("Content Security Policy")) problems.push(message.text());
    });
    const user = (await rig.caller()).token;
    const { url } = await open(user, { account: "by-token" });
    await page.goto(String(url));
    await page.fill("#token", user);
    await page.click("button");
    await page.click("a.go");
    await page.waitForURL(/callback/);
    expect(await page.textContent("h1")).toBe("Connected");
    await page.goto(`${gateway.url}/health`);
    await page.evaluate(
      (token) =>
        fetch("/admin/v1/session", {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ token }),
        }).then(({ status }) => status),
      user,
    );
    await page.goto(String((await open(user, { account: "by-session" }))["url"]));
    expect(await page.textContent("form")).toContain("You are signed in as");
    await page.click("button");
    await page.click("a.go");
    await page.waitForURL(/callback/);
    expect(await page.textContent("h1")).toBe("Connected");
    expect(problems).toEqual([]);
    await chromium.close();
  });

  test("two users, and two accounts of one of them", async () => {
    authorization.person = "bob";
    await connect(bob);
    authorization.person = "bob-at-work";
    await connect(bob, { account: "work" });
    callers.length = 0;
    for (const [token, query] of [
      [ann, ""],
      [bob, ""],
      [bob, "?account=work"],
    ] as const)
      expect((await call(token, query)).status).toBe(200);
    expect(callers.filter((each, at) => each !== callers[at - 1])).toEqual(["ann", "bob", "bob-at-work"]);
  });

  test("a link alone binds nothing: another user, another site, another browser, a second time", async () => {
    const carl = (await rig.caller()).token;
    const { url } = await open(carl, { account: "safe" });
    const page = String(url);
    const foreign = await new Browser().send(page, { token: bob });
    expect([foreign.status, linkIn(await foreign.text())]).toEqual([404, ""]);
    expect((await new Browser().send(page, { token: "tg_wrong" })).status).toBe(401);
    expect((await new Browser().send(page, {})).status).toBe(401);
    expect((await new Browser().send(page, { token: carl }, "https://evil.example")).status).toBe(403);
    expect((await new Browser().ask(page, { method: "POST", body: new URLSearchParams({ token: carl }) })).status).toBe(
      403,
    );
    const limited = await gateway.token({ user: "limited", tools: ["own__*"] });
    const own = await open(limited);
    expect((await new Browser().send(String(own["url"]), { token: limited })).status).toBe(403);

    // The answer of the authorization server, in the browser of somebody else.
    const { browser, answer } = await begin(page, carl);
    expect((await new Browser().ask(answer)).status).toBe(401);
    // Of another sign-in of the same browser.
    const other = new URL(answer);
    other.searchParams.set("state", "of-nobody");
    expect((await browser.ask(other.href)).status).toBe(401);
    const second = await begin(page, carl);
    const mixed = new URL(answer);
    mixed.searchParams.set("code", new URL(second.answer).searchParams.get("code") ?? "");
    expect((await browser.ask(mixed.href)).status).toBe(401);
    const after = await begin(page, carl);
    const wrongIssuer = new URL(after.answer);
    wrongIssuer.searchParams.set("iss", "https://evil.example");
    expect((await after.browser.ask(wrongIssuer.href)).status).toBe(401);
    expect(codeOf(await call(carl, "?account=safe"))).toBe("connection_required");

    const last = await begin(page, carl);
    const cookie = await last.browser.ask(last.answer);
    expect(cookie.status).toBe(200);
    expect((await last.browser.ask(last.answer)).status).toBe(401);
    expect((await call(carl, "?account=safe")).status).toBe(200);
  });

  test("an access token that is withdrawn is renewed once, whoever needs it", async () => {
    const others =
      engine === "Postgres"
        ? [await startGateway({ providers: {}, storage: gateway.storageUrl, config: config() })]
        : [];
    const urls = [gateway, ...others].map((each) => each.url);
    const ask = async (url: string) =>
      (
        await fetch(`${url}/v1/tools/own__echo`, {
          method: "POST",
          headers: { authorization: `Bearer ${ann}` },
          body: "{}",
        })
      ).status;
    expect(await Promise.all(urls.map(ask))).toEqual(urls.map(() => 200));
    authorization.withdraw();
    authorization.grants.length = 0;
    const statuses = await Promise.all(Array.from({ length: 12 }, (_, at) => ask(urls[at % urls.length] ?? "")));
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(authorization.grants).toEqual(["refresh_token"]);
    for (const other of others) await other.stop();
  });

  test("a server that asks for more rights gets them by another sign-in", async () => {
    wanted = "tools more";
    const refused = await call(ann);
    expect(codeOf(refused)).toBe("connection_required");
    const { url } = await open(ann);
    expect(JSON.stringify(refused.json)).toContain(String(url));
    const text = await (await new Browser().send(String(url), { token: ann })).text();
    expect(new URL(linkIn(text)).searchParams.get("scope")?.split(" ")).toContain("more");
    wanted = undefined;
    expect((await call(ann)).status).toBe(200);
  });

  test("a sign-in that is taken no longer is asked for again", async () => {
    const dora = (await rig.caller()).token;
    await connect(dora);
    expect((await call(dora)).status).toBe(200);
    authorization.withdraw();
    // This may end by itself.
    authorization.refuses = "temporarily_unavailable";
    expect((await call(dora)).status).toBe(502);
    authorization.refuses = "invalid_grant";
    expect(codeOf(await call(dora))).toBe("connection_required");
    const { data } = (await send(dora, "GET", "/v1/tools/connections")).json as { data: Json[] };
    expect(data).toMatchObject([{ status: "expired" }]);
    authorization.refuses = undefined;
    await connect(dora);
    expect((await call(dora)).status).toBe(200);
  });

  test("a deleted connection's tokens are revoked", async () => {
    const { id } = await connect((await rig.caller()).token).then(() => open(ann));
    authorization.revoked.length = 0;
    expect((await send(bob, "DELETE", `/v1/tools/connections/${String(id)}`)).status).toBe(404);
    expect(authorization.revoked).toEqual([]);
    expect((await send(ann, "DELETE", `/v1/tools/connections/${String(id)}`)).status).toBe(200);
    expect(authorization.revoked.length).toBe(1);
    expect(codeOf(await call(ann))).toBe("connection_required");
  });

  test.each<[string, (user: string, id: string) => string[], number]>([
    ["token was revoked", (_user, id) => ["token", "revoke", id], 401],
    ["token was limited", (_user, id) => ["token", "set", id, "--models", "openai/*"], 403],
    ["user was disabled", (user) => ["user", "disable", user], 401],
  ])("a sign-in whose %s meanwhile connects nothing", async (what, command, status) => {
    const user = what.replaceAll(" ", "-");
    const token = await gateway.token({ user });
    const { url } = await open(token);
    const { browser, answer } = await begin(String(url), token);
    const id = token.slice("tg_".length).split("_")[0] ?? "";
    expect((await gateway.cli(...command(user, id))).code).toBe(0);
    authorization.grants.length = 0;
    expect((await browser.ask(answer)).status).toBe(status);
    expect(authorization.grants).toEqual([]);
  });

  test("the operator's account is connected by an owner, for all", async () => {
    expect(codeOf({ json: await open(ann, { server: "shared" }) })).toBe("role_required");
    const owner = await gateway.token({ user: "root", role: "owner" });
    authorization.person = "operator";
    const { id } = await connect(owner, { server: "shared" });
    callers.length = 0;
    expect((await call(bob, "", "shared__echo")).status).toBe(200);
    expect(new Set(callers)).toEqual(new Set(["operator"]));
    expect((await send(bob, "DELETE", `/v1/tools/connections/${String(id)}`)).status).toBe(404);
    // One who is an owner no longer ends no sign-in.
    const second = await gateway.token({ user: "second", role: "owner" });
    const { browser, answer } = await begin(String((await open(second, { server: "shared" }))["url"]), second);
    expect((await gateway.cli("user", "set", "second", "--role", "member")).code).toBe(0);
    authorization.grants.length = 0;
    expect((await browser.ask(answer)).status).toBe(404);
    expect(authorization.grants).toEqual([]);
  });

  test("a configured secret goes to the first authorization server alone, until another one is approved", async () => {
    const other = await startAuthorizationServer();
    metadata = { resource: hostile.url, authorization_servers: [authorization.issuer] };
    const page = String((await open(ann, { server: "secret" }))["url"]);
    const begun = async () => {
      const answer = await new Browser().send(page, { token: ann });
      return { status: answer.status, to: linkIn(await answer.text()) };
    };
    expect((await begun()).to).toStartWith(authorization.issuer);
    metadata = { resource: hostile.url, authorization_servers: [other.issuer] };
    expect(await begun()).toEqual({ status: 502, to: "" });
    const approve = (...what: string[]) => gateway.cli("tools", "approve", "secret", ...what);
    expect((await approve()).stderr).toContain("there is no change that waits");
    expect((await gateway.cli("tools", "list", "secret")).stdout).toContain(`+ issuer: "${other.issuer}"`);
    expect((await approve("@issuer")).code).toBe(0);
    expect((await begun()).to).toStartWith(other.issuer);
    metadata = { resource: hostile.url, authorization_servers: [authorization.issuer] };
    expect(await begun()).toEqual({ status: 502, to: "" });
    other.stop();
  });

  test.each<[string, () => Json]>([
    ["an address of the operator's network", () => ({ authorization_servers: ["http://10.1.2.3"] })],
    ["an address without https", () => ({ authorization_servers: ["http://example.com"] })],
    ["the metadata service of a cloud", () => ({ authorization_servers: ["https://169.254.169.254"] })],
    ["no address", () => ({ authorization_servers: ["javascript:alert(1)"] })],
    [
      "another resource",
      () => ({ resource: "https://bank.example/mcp", authorization_servers: [authorization.issuer] }),
    ],
    ["metadata of another issuer", () => ({ authorization_servers: [`${authorization.issuer}/other`] })],
  ])("a server that names %s is not signed in to", async (_what, named) => {
    metadata = { resource: hostile.url, ...named() };
    const { url } = await open(ann, { server: "hostile" });
    const answer = await new Browser().send(String(url), { token: ann });
    expect(answer.status).toBe(502);
    expect(linkIn(await answer.text())).toBe("");
  });

  test("no secret is in the log or the audit log", async () => {
    const audit = (await gateway.cli("audit", "list", "--json", "--limit", "500")).stdout;
    expect(audit).toContain("tool_connection.connect");
    expect(tokensSeen().length).toBeGreaterThan(3);
    for (const text of [audit, gateway.log()]) {
      expect(text).not.toContain(ann);
      for (const token of tokensSeen()) expect(text).not.toContain(token);
    }
  });
});

/** All access tokens that the server has got. */
function tokensSeen(): string[] {
  return [
    ...new Set(server.received.map(({ headers }) => (headers.get("authorization") ?? "").replace("Bearer ", ""))),
  ].filter((each) => each !== "");
}
