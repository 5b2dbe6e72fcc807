/** Sessions of browsers: theft, fixation, requests of other sites, and everything that ends one. */
import { afterAll, beforeAll, describe, expect, spyOn, test } from "bun:test";
import {
  addHolder,
  beginSession,
  changeHolder,
  changeToken,
  deleteHolder,
  issueSignInCode,
  issueTokenTo,
  revokeToken,
  rotateToken,
} from "../../accounts/index.ts";
import {
  endImportedKey,
  endSessionsOfKey,
  hashOf,
  insertImportedKey,
  openBrowserSessionStore,
  openTokenStore,
} from "../../auth/index.ts";
import { runnerOf } from "../../storage/index.ts";
import { type PostgresServer, query, startPostgres, tablesWith } from "../../../test/kit/index.ts";
import {
  ann,
  TestBrowser,
  browserOf,
  HOUR,
  root,
  send,
  type Sent,
  server,
  SITE,
  withServer,
} from "./__fixtures__/browser.ts";

describe("on SQLite", () => {
  withServer(async () => "sqlite::memory:");

  describe("signing in", () => {
    test("sets a cookie that no page reads and no other host sets; nothing stored or answered contains its secret", async () => {
      const browser = new TestBrowser();
      const { status, json, headers } = await browser.signIn(ann.token);
      const [cookie, ...others] = headers.getSetCookie();
      expect([status, others, headers.get("cache-control")]).toEqual([200, [], "no-store"]);
      expect(cookie).toMatch(
        /^__Host-tollgate-session=ts_\w{12}_[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict; Secure$/,
      );
      expect(json).toMatchObject({ user: "ann", role: "member", issuer: null });
      const secret = browser.cookie.slice(-43);
      expect(JSON.stringify(json)).not.toContain(secret);
      expect(await tablesWith(server.storage, secret)).toEqual([]);
      expect((await browser.send("GET /admin/v1/session")).json).toEqual(json);
      expect(await browser.state()).toBe("member");
      const [begin] = await server.deps.log.list({ limit: 1 });
      expect(begin).toMatchObject({ act: "session.begin", actor: `token:${ann.id}`, address: "192.0.2.7" });
    });

    test("needs the gateway's own page, and HTTPS but on loopback", async () => {
      const body = { token: ann.token };
      const codes = async (sent: Sent) => (await send("/admin/v1/session", { method: "POST", body, ...sent })).code;
      expect(await codes({})).toBe("cross_site");
      expect(await codes({ headers: { origin: "https://evil.example" } })).toBe("cross_site");
      expect(await codes({ headers: { origin: "http://gateway.test" } })).toBe("https_required");
      const local = "http://127.0.0.1:8787";
      const answer = await send("/admin/v1/session", { method: "POST", body, host: local, headers: { origin: local } });
      const [set = ""] = answer.headers.getSetCookie();
      expect(set).toMatch(/^tollgate-session-8787=[\w-]+; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/);
      const cookie = set.split(";")[0] ?? "";
      expect((await send("/admin/v1/session", { host: local, headers: { cookie } })).status).toBe(200);
      for (const host of ["http://gateway.test:8787", "http://127.0.0.1:9000", "https://127.0.0.1:8787"])
        expect((await send("/admin/v1/session", { host, headers: { cookie } })).code).toBe("missing_token");
    });

    test("gives a new session each time, and ends the one before; a planted cookie stays worthless", async () => {
      const planted = `__Host-tollgate-session=ts_${"a".repeat(12)}_${"b".repeat(43)}`;
      const browser = new TestBrowser();
      browser.cookie = planted;
      await browser.signIn(ann.token);
      const first = browser.cookie;
      expect(first).not.toBe(planted);
      await browser.signIn(ann.token);
      expect(browser.cookie).not.toBe(first);
      const outcome = async (cookie: string) => (await send("/admin/v1/session", { headers: { cookie } })).code;
      expect([await outcome(planted), await outcome(first), await browser.state()]).toEqual([
        "signed_out",
        "signed_out",
        "member",
      ]);
    });

    test("is for users alone, with a token that may be used", async () => {
      await addHolder(server.deps, { kind: "project", name: "site" });
      const { secret } = await issueTokenTo(server.deps, { owner: { kind: "project", name: "site" } });
      const browser = new TestBrowser();
      expect((await browser.signIn(secret)).code).toBe("role_required");
      for (const token of ["tg_x", "sk-other", `Bearer ${ann.token}`, `${ann.token} `, browser.cookie || "ts_x"])
        expect((await browser.signIn(token)).code).toBe("invalid_token");
      for (const body of [{}, { token: ann.token, code: "x" }, { token: 5 }, { token: "" }])
        expect((await browser.send("POST /admin/v1/session", body)).code).toBe("validation_failed");
      await revokeToken(server.deps, ann.id);
      expect((await browser.signIn(ann.token)).code).toBe("token_revoked");
      expect(browser.cookie).toBe("");
    });

    test("is refused after sixty failures within a minute; who has the right token gets in", async () => {
      server.now = 6_000_000;
      // Within one minute of the clock, which each request moves by a second.
      const stay = (): number => (server.now = 6_000_000);
      const browser = new TestBrowser();
      for (let place = 0; place < 60; place++) {
        stay();
        expect((await browser.signIn("tg_x")).code).toBe("invalid_token");
      }
      const refused = await browser.signIn("tg_x");
      expect([refused.code, Number(refused.headers.get("retry-after")) > 0]).toEqual(["rate_limit_exceeded", true]);
      stay();
      expect((await browser.signIn(ann.token)).status).toBe(200);
    });

    test("by a sandbox's code works once, within 15 minutes, on this machine", async () => {
      const local = "http://127.0.0.1:8787";
      const enter = (code: string, host = local) =>
        send("/admin/v1/session", {
          method: "POST",
          body: { code },
          host,
          headers: { origin: host.replace("http:", host === local ? "http:" : "https:") },
        });
      const code = (await issueSignInCode(server.deps, 15 * 60_000)) ?? "";
      expect(await tablesWith(server.storage, code)).toEqual([]);
      expect((await enter(code)).code).toBe("invalid_token");
      server.address = "127.0.0.1";
      expect((await enter(code, "http://gateway.test")).code).toBe("invalid_token");
      const racing = await Promise.all([enter(code), enter(code), enter(code)]);
      expect(racing.map(({ code: refused }) => refused ?? "in").toSorted()).toEqual([
        "in",
        "invalid_token",
        "invalid_token",
      ]);
      expect(racing.find(({ status }) => status === 200)?.json).toMatchObject({ user: "root", role: "owner" });
      const late = (await issueSignInCode(server.deps, 15 * 60_000)) ?? "";
      server.now += 15 * 60_000;
      expect((await enter(late)).code).toBe("invalid_token");
    });
  });

  describe("a request of another site changes nothing", () => {
    const origins: [string, Record<string, string>][] = [
      [
        "a form of another page",
        { origin: "https://evil.example", "content-type": "application/x-www-form-urlencoded" },
      ],
      ["a fetch of another page", { origin: "https://evil.example", "sec-fetch-site": "cross-site" }],
      ["a page of a sub-domain", { origin: "https://a.gateway.test", "sec-fetch-site": "same-site" }],
      ["a page in a sandboxed frame", { origin: "null" }],
      ["no origin", {}],
      ["no origin, with a referrer", { referer: `${SITE}/console` }],
      ["our origin at another port", { origin: `${SITE}:444` }],
      ["our origin with a browser that contradicts", { origin: SITE, "sec-fetch-site": "cross-site" }],
    ];
    test.each(origins)("%s", async (_what, headers) => {
      const { cookie } = await browserOf(root.token);
      const before = await server.deps.log.list({ limit: 1 });
      const routes: [string, object?][] = [
        ["POST /admin/v1/users", { name: "evil", role: "owner" }],
        ["POST /admin/v1/credits", { user: "ann", amount: 5, reason: "theft" }],
        ["PATCH /admin/v1/users/ann", { role: "owner" }],
        ["PUT /admin/v1/people", { people: [{ name: "evil" }] }],
        ["DELETE /admin/v1/users/ann"],
        ["DELETE /admin/v1/session"],
        ["POST /admin/v1/session", { token: ann.token }],
      ];
      for (const [route, body] of routes) {
        const [method = "", path = ""] = route.split(" ");
        const { status, code } = await send(path, { method, body, headers: { cookie, ...headers } });
        expect([route, status, code]).toEqual([route, 403, "cross_site"]);
      }
      expect(await server.deps.log.list({ limit: 1 })).toEqual(before);
    });

    test("a GET with another method in a header or in the query is a GET", async () => {
      const { cookie } = await browserOf(root.token);
      const headers = {
        cookie,
        "x-http-method-override": "DELETE",
        "x-http-method": "DELETE",
        "x-method-override": "DELETE",
      };
      expect((await send("/admin/v1/users/ann?_method=DELETE", { headers })).json).toMatchObject({ name: "ann" });
      expect((await send("/admin/v1/users/ann", { headers: { cookie } })).status).toBe(200);
    });
  });

  describe("a cookie", () => {
    test("counts for nothing beside a token, even one that is refused", async () => {
      const { cookie } = await browserOf(root.token);
      const ask = async (headers: Record<string, string>) => {
        const { code, json } = await send("/admin/v1/session", { headers: { cookie, ...headers } });
        return code ?? json["user"];
      };
      expect(await ask({ authorization: `Bearer ${ann.token}` })).toBe("ann");
      expect(await ask({ "x-api-key": ann.token })).toBe("ann");
      expect(await ask({ authorization: "Bearer tg_wrong" })).toBe("invalid_token");
      expect(await ask({})).toBe("root");
    });

    test("that is guessed, cut, doubled or of another name opens nothing", async () => {
      const { cookie } = await browserOf(root.token);
      const other = await browserOf(ann.token);
      const [name = "", value = ""] = cookie.split("=");
      const mixed = value.slice(0, 16) + other.cookie.slice(-43);
      const last = value.at(-1) === "A" ? "B" : "A";
      for (const tried of [mixed, value.slice(0, -1), value.slice(0, -1) + last, `${value}x`, "", "ts__", `"${value}"`])
        expect((await send("/admin/v1/session", { headers: { cookie: `${name}=${tried}` } })).code).toBe("signed_out");
      const tossed = `${cookie}; ${other.cookie}`;
      expect((await send("/admin/v1/session", { headers: { cookie: tossed } })).code).toBe("signed_out");
      for (const wrong of [`tollgate-session-80=${value}`, `__Secure-tollgate-session=${value}`, value])
        expect((await send("/admin/v1/session", { headers: { cookie: wrong } })).code).toBe("missing_token");
    });

    test("is not a token, nor is the token behind it", async () => {
      const { cookie } = await browserOf(root.token);
      const value = cookie.split("=")[1] ?? "";
      expect((await send("/admin/v1/session", { headers: { authorization: `Bearer ${value}` } })).code).toBe(
        "invalid_token",
      );
      const [session] = await query<{ token_id: string }>(server.storage, "SELECT token_id FROM browser_sessions");
      const id = session?.token_id ?? "";
      const rotated = await server.ask(root.token, `post /admin/v1/tokens/${id}/rotate`, { body: {} });
      expect([rotated.status, rotated.json["token"]]).toEqual([409, undefined]);
      expect((await server.ask(root.token, `patch /admin/v1/tokens/${id}`, { body: { rpm: 1 } })).status).toBe(409);
    });
  });

  describe("a session ends", () => {
    const CHANGES: [string, string, () => Promise<unknown>][] = [
      [
        "its user is disabled",
        "user_disabled",
        () => changeHolder(server.deps, { kind: "user", name: "ann" }, { disabled: true }),
      ],
      [
        "its organisation is disabled",
        "organisation_disabled",
        () => changeHolder(server.deps, { kind: "organisation", name: "acme" }, { disabled: true }),
      ],
      [
        "its user moves",
        "signed_out",
        () => changeHolder(server.deps, { kind: "user", name: "ann" }, { organisation: null }),
      ],
      ["its user is deleted", "signed_out", () => deleteHolder(server.deps, { kind: "user", name: "ann" })],
      ["its token is revoked", "signed_out", () => revokeToken(server.deps, ann.id)],
      ["its token gets another secret", "signed_out", () => rotateToken(server.deps, ann.id, 0)],
      ["its token is paused", "token_paused", () => changeToken(server.deps, ann.id, { paused: true })],
      ["its token expires", "token_expired", () => changeToken(server.deps, ann.id, { expiresAt: server.now + 1 })],
    ];
    test.each(CHANGES)("when %s", async (_what, code, change) => {
      const browser = await browserOf(ann.token);
      expect(await browser.state()).toBe("member");
      await change();
      expect(await browser.state()).toBe(code);
    });

    test("with the overlap of two secrets, not before", async () => {
      const browser = await browserOf(ann.token);
      await rotateToken(server.deps, ann.id, HOUR);
      expect(await browser.state()).toBe("member");
      server.now += HOUR;
      expect(await browser.state()).toBe("signed_out");
    });

    test("without requests, and at the latest after half a day", async () => {
      const [idle, busy] = [await browserOf(ann.token), await browserOf(ann.token)];
      for (let hour = 1; hour < 12; hour++) {
        server.now += HOUR;
        expect(await busy.state()).toBe("member");
      }
      expect(await idle.state()).toBe("signed_out");
      server.now += HOUR;
      expect(await busy.state()).toBe("signed_out");
    });

    test("by its own sign-out, with a row of its own, and no other", async () => {
      const [one, other] = [await browserOf(ann.token), await browserOf(ann.token)];
      const out = await one.send("DELETE /admin/v1/session");
      expect([out.status, out.json["ended"], out.json["sign_out_url"]]).toEqual([200, true, null]);
      expect(out.headers.getSetCookie()[0]).toStartWith("__Host-tollgate-session=; Path=/; Max-Age=0");
      expect([await one.state(), await other.state()]).toEqual(["signed_out", "member"]);
      expect((await server.deps.log.list({ limit: 1 }))[0]).toMatchObject({ act: "session.end" });
      expect((await server.deps.log.verify()).fault).toBeUndefined();
      expect((await server.ask(ann.token, "delete /admin/v1/session")).code).toBe("account_not_found");
    });

    test("beyond twenty of a user, from the oldest on", async () => {
      const first = await browserOf(ann.token);
      const second = await browserOf(ann.token);
      for (let place = 0; place < 19; place++) await browserOf(ann.token);
      expect([await first.state(), await second.state()]).toEqual(["signed_out", "member"]);
    });

    test("with a row in the audit log, also by another sign-in of the browser, or by too many of a user", async () => {
      const rows = async () => (await server.deps.log.list({ limit: 100 })).filter(({ act }) => act === "session.end");
      const browser = await browserOf(ann.token);
      const idOf = async () => String((await browser.send("GET /admin/v1/session")).json["id"]);
      const first = await idOf();
      await browser.signIn(root.token);
      const second = await idOf();
      expect(await rows()).toMatchObject([
        {
          target: `session:${first}`,
          actor: `token:${root.id}`,
          after: JSON.stringify({ ended_by: `session:${second}` }),
        },
      ]);
      for (let place = 0; place < 20; place++) await browserOf(root.token);
      const [latest, ...others] = await rows();
      expect(latest).toMatchObject({ target: `session:${second}` });
      expect(others).toHaveLength(1);
      expect((await server.deps.log.verify()).fault).toBeUndefined();
    });

    test("when its sign-in leaves the configuration", async () => {
      const from = {
        sourceId: ann.id,
        sourceHash: undefined,
        role: undefined,
        signedUntil: undefined,
        provedAt: undefined,
      };
      const more = { address: undefined, agent: undefined, msMax: HOUR, replaces: undefined };
      const begun = await beginSession(server.deps, { ...from, ...more, issuer: "firm" });
      const browser = new TestBrowser();
      browser.cookie = `__Host-tollgate-session=${begun.secret}`;
      expect(await browser.state()).toBe("member");
      const { sessions } = server.authenticator;
      if (sessions?.settings !== undefined) sessions.settings = { ...sessions.settings, signIns: new Set() };
      expect(await browser.state()).toBe("signed_out");
    });

    test("with the imported key that it was begun with", async () => {
      await changeHolder(server.deps, { kind: "organisation", name: "acme" }, { tokenPolicy: { maxTokens: 5 } });
      const until = server.now + HOUR;
      const [tokenId, key] = [ann.id, "sk-of-another-gateway"];
      const { secretHash } = (await openTokenStore(server.storage).findById(tokenId)) ?? {};
      const imported = { tokenId, secretHash: secretHash ?? new Uint8Array(), validUntil: until };
      await runnerOf(server.storage).run(insertImportedKey(hashOf(key), imported, server.now));
      const browser = await browserOf(key);
      expect(Date.parse(String((await browser.send("GET /admin/v1/session")).json["expires_at"]))).toBe(until);
      const made = await browser.send("POST /admin/v1/tokens", { name: "longer" });
      expect([made.status, Date.parse(String(made.json["expires_at"]))]).toEqual([200, until]);
      server.now = until;
      expect(await browser.state()).toBe("signed_out");
    });

    test("when an import ends the key that it was begun with", async () => {
      const [tokenId, key] = [ann.id, "sk-of-another-gateway"];
      const { secretHash } = (await openTokenStore(server.storage).findById(tokenId)) ?? {};
      const imported = { tokenId, secretHash: secretHash ?? new Uint8Array(), validUntil: undefined };
      const runner = runnerOf(server.storage);
      await runner.run(insertImportedKey(hashOf(key), imported, server.now));
      const browser = await browserOf(key);
      expect(await browser.state()).toBe("member");
      await runner.run(endImportedKey(hashOf(key), server.now));
      await runner.run(endSessionsOfKey(hashOf(key), server.now));
      server.authenticator.forget();
      expect(await browser.state()).toBe("signed_out");
    });

    test("or never begins, if the key ends in the moment of the sign-in", async () => {
      const [tokenId, key] = [ann.id, "sk-of-another-gateway"];
      const { secretHash = new Uint8Array() } = (await openTokenStore(server.storage).findById(tokenId)) ?? {};
      const runner = runnerOf(server.storage);
      await runner.run(insertImportedKey(hashOf(key), { tokenId, secretHash, validUntil: undefined }, server.now));
      const identify = server.authenticator.identify.bind(server.authenticator);
      // An import ends the key between the look at it and the session.
      const endedAt = (until: number) =>
        spyOn(server.authenticator, "identify").mockImplementationOnce(async (...asked) => {
          const found = await identify(...asked);
          await runner.run(endImportedKey(hashOf(key), until));
          return found;
        });
      const until = server.now + HOUR;
      endedAt(until);
      const browser = await browserOf(key);
      const made = await browser.send("GET /admin/v1/session");
      expect(Date.parse(String(made.json["expires_at"]))).toBe(until);
      endedAt(server.now);
      expect((await new TestBrowser().signIn(key)).code).toBe("invalid_token");
      expect(await query(server.storage, "SELECT id FROM browser_sessions")).toHaveLength(1);
    });

    test("and leaves the storage a month later", async () => {
      await browserOf(ann.token);
      const store = openBrowserSessionStore(server.storage);
      const rows = () => query(server.storage, "SELECT id FROM browser_sessions");
      await store.deleteEnded(server.now);
      expect(await rows()).toHaveLength(1);
      await store.deleteEnded(server.now + 13 * HOUR);
      expect(await rows()).toEqual([]);
    });
  });
});

describe("on Postgres", () => {
  let postgres: PostgresServer;
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(() => postgres.stop());
  withServer(() => postgres.createDatabase());

  test("sessions begin, are listed, end with their tokens and their users, and leave the storage", async () => {
    const browsers = await Promise.all([browserOf(root.token), browserOf(ann.token), browserOf(ann.token)]);
    const [owner, one, other] = browsers;
    const listed = async () =>
      ((await owner.send("GET /admin/v1/sessions")).json["data"] as { user: string }[]).map(({ user }) => user);
    expect((await listed()).toSorted()).toEqual(["ann", "ann", "root"]);
    expect((await owner.send("GET /admin/v1/sessions?user=ann")).json["data"]).toHaveLength(2);
    for (let hour = 1; hour < 4; hour++) {
      server.now += HOUR;
      expect([await owner.state(), await one.state()]).toEqual(["owner", "member"]);
    }
    expect(await other.state()).toBe("signed_out");
    await one.send("DELETE /admin/v1/session");
    expect([await one.state(), await listed()]).toEqual(["signed_out", ["root"]]);
    const moved = await browserOf(ann.token);
    await changeHolder(server.deps, { kind: "user", name: "ann" }, { organisation: null });
    expect(await moved.state()).toBe("signed_out");
    const revoked = await browserOf(ann.token);
    await revokeToken(server.deps, ann.id);
    expect(await revoked.state()).toBe("signed_out");
    for (let place = 0; place < 21; place++) await browserOf(root.token);
    expect(await owner.state()).toBe("signed_out");
    expect(await tablesWith(server.storage, owner.cookie.slice(-43))).toEqual([]);
    await openBrowserSessionStore(server.storage).deleteEnded(server.now + 13 * HOUR);
    expect(await query(server.storage, "SELECT id FROM browser_sessions")).toEqual([]);
  });

  test("a code signs one of several requests in", async () => {
    server.address = "127.0.0.1";
    const code = await issueSignInCode(server.deps, 60_000);
    const local = "http://127.0.0.1:8787";
    const enter = () =>
      send("/admin/v1/session", { method: "POST", body: { code }, host: local, headers: { origin: local } });
    const answers = await Promise.all([enter(), enter(), enter()]);
    expect(answers.map(({ status }) => String(status)).toSorted()).toEqual(["200", "401", "401"]);
  });
});
