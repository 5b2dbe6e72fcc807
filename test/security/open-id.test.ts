/** Sign-ins of browsers at an OpenID Provider (`oidc-provider`): the way there and back, and each answer that is not accepted. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { decodeJwt, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";
import { Provider } from "oidc-provider";
import { type Gateway, hasChromium, query, startChromium, startGateway } from "../kit/index.ts";

const SECRET = "secret-of-the-client-which-no-log-has";
const KEY = "k1";
const groups: Readonly<Record<string, string[]>> = { chief: ["staff", "chiefs"], ann: ["staff"] };

let server: Server;
let provider: Provider;
let gateway: Gateway;
let sign: (claims: JWTPayload, how?: { kid?: string; other?: boolean }) => Promise<string>;
/** Who has a session at the provider. */
let person = "ann";
/** Changes the token that the provider answers with. */
let changed: ((token: string) => Promise<string> | string) | undefined;

const issuer = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.url?.startsWith("/interaction/") !== true) return provider.callback()(request, response);
  await provider.interactionFinished(
    request,
    response,
    { login: { accountId: person } },
    { mergeWithLastSubmission: false },
  );
}

beforeAll(async () => {
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  const { privateKey: another } = await generateKeyPair("RS256");
  sign = (claims, { kid = KEY, other = false } = {}) =>
    new SignJWT(claims).setProtectedHeader({ alg: "RS256", kid }).sign(other ? another : privateKey);
  server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const ours = { issuer: issuer(), client_secret: SECRET };
  const claims = { user: "name", groups: "groups" };
  gateway = await startGateway({
    providers: { openai: { kind: "openai", base_url: "http://127.0.0.1:9/v1", api_key: "k" } },
    config: {
      auth: {
        sign_in: {
          firm: {
            ...ours,
            client_id: "gateway",
            claims,
            roles: { chiefs: "owner" },
            organisation: "acme",
            create: true,
          },
          other: { ...ours, client_id: "other" },
          lost: { issuer: "http://127.0.0.1:9", client_id: "gateway" },
        },
      },
    },
  });
  await gateway.cli("organisation", "create", "acme");
  const client = (name: string, id: string) => ({
    client_id: id,
    client_secret: SECRET,
    token_endpoint_auth_method: "client_secret_post" as const,
    redirect_uris: [`${gateway.url}/console/sign-in/${name}/callback`],
    post_logout_redirect_uris: [`${gateway.url}/console/sign-in`],
  });
  provider = new Provider(issuer(), {
    clients: [client("firm", "gateway"), client("other", "other")],
    jwks: { keys: [{ ...(await exportJWK(privateKey)), kid: KEY, alg: "RS256", use: "sig" }] },
    cookies: { keys: ["of the test"] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    claims: { openid: ["sub"], profile: ["name", "groups"], email: ["email"] },
    findAccount: (_context, id) => ({
      accountId: id,
      claims: () => ({ sub: id, name: id, groups: groups[id] ?? [], email: `${id}@acme.test` }),
    }),
    async loadExistingGrant({ oidc }) {
      const grant = new provider.Grant({ accountId: oidc.session?.accountId, clientId: oidc.client?.clientId });
      grant.addOIDCScope("openid profile email");
      await grant.save();
      return grant;
    },
  });
  provider.use(async (context, next) => {
    await next();
    const body = context.body as { id_token?: string } | undefined;
    if (changed !== undefined && body?.id_token !== undefined) body.id_token = await changed(body.id_token);
  });
});
afterAll(async () => {
  await gateway.stop();
  server.closeAllConnections();
  server.close();
});
afterEach(() => {
  person = "ann";
  changed = undefined;
});

/** A browser that follows redirects by hand, with the cookies of both hosts. */
class Browser {
  readonly cookies = new Map<string, string>();
  readonly seen: string[] = [];

  async get(url: string): Promise<Response> {
    this.seen.push(url);
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(url, { redirect: "manual", headers: { cookie } });
    for (const set of response.headers.getSetCookie()) {
      const [name = "", value = ""] = (set.split(";")[0] ?? "").split("=");
      if (value === "" || /max-age=0|expires=thu, 01 jan 1970/i.test(set)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return response;
  }

  /** Follows redirects up to an address that fits, which is not asked for. */
  async until(url: string, isEnd: (location: string) => boolean): Promise<string> {
    for (let next = url; ;) {
      const { headers, status } = await this.get(next);
      const location = headers.get("location");
      if (location === null) throw new Error(`${next} answered with ${status}`);
      next = new URL(location, next).href;
      if (isEnd(next)) return next;
    }
  }

  /** To the address at which the provider sends it back. */
  comeBack(search = "", name = "firm"): Promise<string> {
    return this.until(`${gateway.url}/console/sign-in/${name}${search}`, (url) => url.includes("/callback?"));
  }

  /** The page to which an answer of the provider leads, with the code of a failure. */
  async finish(callback: string): Promise<string> {
    const { headers } = await this.get(callback);
    const page = new URL(headers.get("location") ?? "");
    expect(page.origin).toBe(gateway.url);
    return page.searchParams.get("error") ?? page.pathname + page.search;
  }

  async signIn(search = "", name = "firm"): Promise<string> {
    return this.finish(await this.comeBack(search, name));
  }

  async session(): Promise<Record<string, unknown>> {
    return (await (await this.get(`${gateway.url}/admin/v1/session`)).json()) as Record<string, unknown>;
  }

  async expectNobody(): Promise<void> {
    expect(await this.session()).toMatchObject({ error: { code: "missing_token" } });
  }
}

const without = (claims: JWTPayload, name: string): JWTPayload =>
  Object.fromEntries(Object.entries(claims).filter(([key]) => key !== name));

describe("somebody signs in", () => {
  test("is made, has the role of their groups, and is the same the next time", async () => {
    const browser = new Browser();
    expect(await browser.signIn("?return=/console/spend?group=model")).toBe("/console/spend?group=model");
    expect(await browser.session()).toMatchObject({ user: "ann", role: "member", issuer: "firm" });
    person = "chief";
    const chief = new Browser();
    expect(await chief.signIn()).toBe("/console");
    expect(await chief.session()).toMatchObject({ user: "chief", role: "owner" });
    const again = new Browser();
    await again.signIn();
    expect(await again.session()).toMatchObject({ user: "chief", role: "owner" });
    const users = await query<{ subject: string; issuer: string }>(
      gateway.storage,
      "SELECT subject, issuer FROM identities ORDER BY subject",
    );
    expect(users).toEqual(["ann", "chief"].map((subject) => ({ subject, issuer: issuer() })));
    // A role of the provider is no stored one: their own tokens are those of a member.
    const [stored] = await query<{ role: string }>(
      gateway.storage,
      "SELECT role FROM account_holders WHERE name = 'chief'",
    );
    expect(stored).toEqual({ role: "member" });
  });

  test("with a code, PKCE, a nonce and the asked scopes; fresh if that is wanted", async () => {
    const browser = new Browser();
    await browser.signIn("?fresh=true");
    const asked = new URL(browser.seen.find((url) => url.startsWith(`${issuer()}/auth`)) ?? "").searchParams;
    expect(Object.fromEntries(asked)).toMatchObject({
      response_type: "code",
      code_challenge_method: "S256",
      scope: "openid profile email",
      prompt: "login",
      max_age: "0",
    });
    expect(asked.get("nonce")?.length).toBeGreaterThan(20);
    const { fresh_until: until } = await browser.session();
    expect(Date.parse(String(until))).toBeGreaterThan(new Date().getTime());
  });

  test("in place of whom the browser has had a session for, though its cookie does not come along from the provider", async () => {
    const browser = new Browser();
    await browser.signIn();
    const before = new Map([...browser.cookies].filter(([name]) => name.includes("tollgate")));
    const { id } = await browser.session();
    // Somebody else sits down at the same browser.
    for (const name of browser.cookies.keys()) if (!before.has(name)) browser.cookies.delete(name);
    person = "chief";
    const callback = await browser.comeBack("?fresh=true");
    // As browsers do with SameSite=Strict.
    for (const name of before.keys()) browser.cookies.delete(name);
    expect(await browser.finish(callback)).toBe("/console");
    expect(await browser.session()).toMatchObject({ user: "chief" });
    const old = new Browser();
    for (const [name, value] of before) old.cookies.set(name, value);
    expect(await old.session()).toMatchObject({ error: { code: "signed_out" } });
    const rows = await query(
      gateway.storage,
      `SELECT target FROM audit WHERE act = 'session.end' AND target = 'session:${String(id)}'`,
    );
    expect(rows).toHaveLength(1);
  });

  test("and cannot end the session of somebody else by its id", async () => {
    const victim = new Browser();
    await victim.signIn();
    const { id } = await victim.session();
    for (const before of [id, `${String(id)}.${"a".repeat(43)}`]) {
      const attacker = new Browser();
      const callback = await attacker.comeBack();
      for (const [name, value] of attacker.cookies) {
        if (!name.includes("sign-in")) continue;
        const begun = JSON.parse(Buffer.from(value, "base64url").toString()) as object;
        attacker.cookies.set(name, Buffer.from(JSON.stringify({ ...begun, before })).toString("base64url"));
      }
      expect(await attacker.finish(callback)).toBe("/console");
    }
    expect(await victim.session()).toMatchObject({ user: "ann" });
  });

  test("never freshly, who takes the question for a password out of the address or out of the cookie", async () => {
    /** Somebody at a browser whose owner is signed in at the provider. */
    const atOpenBrowser = async (isFresh: boolean): Promise<Browser> => {
      const browser = new Browser();
      await browser.signIn();
      const begin = `${gateway.url}/console/sign-in/firm?fresh=true`;
      const asked = new URL(await browser.until(begin, (url) => url.startsWith(issuer())));
      for (const name of ["prompt", "max_age"]) asked.searchParams.delete(name);
      const callback = await browser.until(asked.href, (url) => url.includes("/callback?"));
      for (const [name, value] of browser.cookies) {
        if (!name.includes("sign-in")) continue;
        const begun = JSON.parse(Buffer.from(value, "base64url").toString()) as object;
        browser.cookies.set(name, Buffer.from(JSON.stringify({ ...begun, isFresh })).toString("base64url"));
      }
      expect(await browser.finish(callback)).toBe(isFresh ? "invalid_token" : "/console");
      return browser;
    };
    const hourAgo = Math.floor(Date.now() / 1_000) - 3_600;
    for (const change of [
      (claims: JWTPayload) => without(claims, "auth_time"),
      (claims: JWTPayload) => ({ ...claims, auth_time: hourAgo }),
    ]) {
      changed = (token) => sign(change(decodeJwt(token)));
      await atOpenBrowser(true);
      const { fresh_until: until } = await (await atOpenBrowser(false)).session();
      expect(until === null ? 0 : Date.parse(until as string)).toBeLessThan(Date.now());
    }
  });

  test("not freshly at a provider that does not say when it has asked", async () => {
    changed = (token) => sign(without(decodeJwt(token), "auth_time"));
    expect(await new Browser().signIn("?fresh=true")).toBe("invalid_token");
    const remembered = new Browser();
    await remembered.signIn();
    expect(await remembered.session()).toMatchObject({ user: "ann", fresh_until: null });
  });

  test("and out, here and at the provider", async () => {
    const browser = new Browser();
    await browser.signIn();
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const headers = { cookie, origin: gateway.url };
    const out = await fetch(`${gateway.url}/admin/v1/session`, { method: "DELETE", headers });
    const { sign_out_url: place } = (await out.json()) as { sign_out_url: string };
    const url = new URL(place);
    expect([url.origin, url.pathname]).toEqual([issuer(), "/session/end"]);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      client_id: "gateway",
      post_logout_redirect_uri: `${gateway.url}/console/sign-in`,
    });
    expect((await browser.get(place)).status).toBe(200);
  });

  test.each([
    "https://evil.example",
    "//evil.example",
    "/\\evil.example",
    "/console//evil.example",
    "/other",
    "javascript:1",
  ])("and is not led to %s", async (place) => {
    expect(await new Browser().signIn(`?return=${encodeURIComponent(place)}`)).toBe("/console");
  });
});

test.skipIf(!hasChromium)(
  "a real browser goes there and back, in place of its session, and signs out at both",
  async () => {
    const owner = await gateway.token({ user: "keeper", role: "owner" });
    const chromium = await startChromium();
    try {
      const page = await chromium.newPage();
      const faults: string[] = [];
      page.on("pageerror", ({ message }) => faults.push(message));
      const session = async (): Promise<Record<string, unknown>> =>
        JSON.parse(await page.evaluate<string>("fetch('/admin/v1/session').then((answer) => answer.text())")) as Record<
          string,
          unknown
        >;
      await page.goto(`${gateway.url}/console/sign-in`);
      await page.getByLabel("Token", { exact: true }).fill(owner);
      await page.getByRole("button", { name: "Sign in", exact: true }).press("Enter");
      await page.waitForURL(/\/console\/overview/);
      const { id } = await session();
      const old = await page.context().cookies();
      await page.goto(`${gateway.url}/console/sign-in?next=${encodeURIComponent("/console/spend?metric=requests")}`);
      await page.getByRole("link", { name: "Sign in with firm" }).press("Enter");
      await page.waitForURL(/\/console\/spend\?metric=requests/);
      await page.waitForSelector('main[aria-busy="false"] h1');
      expect(await session()).toMatchObject({ user: "ann", issuer: "firm", role: "member" });
      expect(await page.evaluate<string>("document.cookie")).toBe("");
      // SameSite=Strict has kept the old cookie from the way back, and its session has ended all the same.
      const rows = await query<{ after: string }>(
        gateway.storage,
        `SELECT after FROM audit WHERE act = 'session.end' AND target = 'session:${String(id)}'`,
      );
      expect(rows).toHaveLength(1);
      const cookie = old.map(({ name, value }) => `${name}=${value}`).join("; ");
      expect((await fetch(`${gateway.url}/admin/v1/session`, { headers: { cookie } })).status).toBe(401);
      await page.getByRole("button", { name: "ann" }).press("Enter");
      await page.getByRole("menuitem", { name: "Sign out" }).press("Enter");
      await page.waitForURL((url) => url.href.startsWith(`${issuer()}/session/end`));
      await page.goto(`${gateway.url}/console/spend`);
      await page.getByLabel("Token", { exact: true }).waitFor();
      expect(faults).toEqual([]);
    } finally {
      await chromium.close();
    }
  },
  60_000,
);

describe("nobody signs in", () => {
  test("by a claim with the name of a user who is not bound to them", async () => {
    await gateway.token({ user: "root", role: "owner" });
    person = "root";
    const browser = new Browser();
    expect(await browser.signIn()).toBe("invalid_token");
    await browser.expectNobody();
  });

  test("without a user, unless users are made", async () => {
    person = "stranger";
    expect(await new Browser().signIn("", "other")).toBe("invalid_token");
  });

  test("at a provider that cannot be reached", async () => {
    const { headers } = await new Browser().get(`${gateway.url}/console/sign-in/lost`);
    expect(headers.get("location")).toContain("error=issuer_unavailable");
    expect((await new Browser().get(`${gateway.url}/console/sign-in/unknown`)).status).toBe(404);
  });

  test("in a browser that has not begun it, or has begun another one", async () => {
    const [victim, attacker] = [new Browser(), new Browser()];
    const callback = await attacker.comeBack();
    expect(await victim.finish(callback)).toBe("invalid_token");
    await victim.comeBack();
    expect(await victim.finish(callback)).toBe("invalid_token");
    await victim.expectNobody();
  });

  test("with an answer that is sent twice", async () => {
    const browser = new Browser();
    const callback = await browser.comeBack();
    const before = new Map(browser.cookies);
    expect(await browser.finish(callback)).toBe("/console");
    expect(await new Browser().finish(callback)).toBe("invalid_token");
    const copy = new Browser();
    for (const [name, value] of before) copy.cookies.set(name, value);
    expect(await copy.finish(callback)).toBe("invalid_token");
    await copy.expectNobody();
  });

  const CHANGES: [string, (url: URL) => void][] = [
    ["another state", ({ searchParams }) => searchParams.set("state", "a".repeat(43))],
    ["no state", ({ searchParams }) => searchParams.delete("state")],
    ["two states", ({ searchParams }) => searchParams.append("state", "x")],
    ["another code", ({ searchParams }) => searchParams.set("code", "a".repeat(43))],
    ["another issuer", ({ searchParams }) => searchParams.set("iss", "https://evil.example")],
    ["no issuer", ({ searchParams }) => searchParams.delete("iss")],
    ["a refusal", ({ searchParams }) => (searchParams.delete("code"), searchParams.set("error", "access_denied"))],
    ["the other sign-in", (url) => (url.pathname = "/console/sign-in/other/callback")],
  ];
  test.each(CHANGES)("with %s in the answer", async (_what, change) => {
    const browser = new Browser();
    const callback = new URL(await browser.comeBack());
    change(callback);
    expect(await browser.finish(callback.href)).toBe("invalid_token");
    await browser.expectNobody();
  });

  test("with another nonce, or a code for another challenge", async () => {
    for (const name of ["nonce", "code_challenge"]) {
      const browser = new Browser();
      const start = new URL(
        await browser.until(`${gateway.url}/console/sign-in/firm`, (url) => url.startsWith(issuer())),
      );
      start.searchParams.set(name, "a".repeat(43));
      const callback = await browser.until(start.href, (url) => url.includes("/callback?"));
      expect([name, await browser.finish(callback)]).toEqual([name, "invalid_token"]);
      await browser.expectNobody();
    }
  });

  const now = (): number => Math.floor(new Date().getTime() / 1_000);
  const TOKENS: [string, (claims: JWTPayload) => Promise<string> | string][] = [
    ["for another audience", (claims) => sign({ ...claims, aud: "other" })],
    ["for several, of another party", (claims) => sign({ ...claims, aud: ["gateway", "other"], azp: "other" })],
    ["of another issuer", (claims) => sign({ ...claims, iss: "https://evil.example" })],
    ["that has expired", (claims) => sign({ ...claims, exp: now() - 61 })],
    ["from the future", (claims) => sign({ ...claims, nbf: now() + 90 })],
    ["without an end", (claims) => sign(without(claims, "exp"))],
    ["without a subject", (claims) => sign(without(claims, "sub"))],
    ["with an empty subject", (claims) => sign({ ...claims, sub: "" })],
    ["without its nonce", (claims) => sign(without(claims, "nonce"))],
    ["signed by another key", (claims) => sign(claims, { other: true })],
    ["of an unknown key", (claims) => sign(claims, { kid: "k2" })],
    ["without a signature", (claims) => `${encoded({ alg: "none" })}.${encoded(claims)}.`],
    ["that is none", () => "x"],
  ];
  test.each(TOKENS)("with a token %s", async (_what, change) => {
    changed = (token) => change(decodeJwt(token));
    const browser = new Browser();
    expect(await browser.signIn()).toBe("invalid_token");
    await browser.expectNobody();
  });
});

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

test("nothing secret is in the log", async () => {
  const browser = new Browser();
  const callback = await browser.comeBack();
  const begun = [...browser.cookies.values()];
  await browser.finish(callback);
  const secrets = [SECRET, new URL(callback).searchParams.get("code") ?? "", ...begun, ...browser.cookies.values()];
  const log = gateway.log();
  for (const secret of secrets) expect(log.includes(secret)).toBe(false);
});
