/** What a browser's session may do, and who sees and ends it. */
import { describe, expect, test } from "bun:test";
import { changeHolder, createToken, issueTokenTo } from "../../accounts/index.ts";
import { freshRules, type GUARDED_MEMBERS } from "../admin/fresh-sign-in.ts";
import { ann, type TestBrowser, browserOf, head, root, server, SITE, withServer } from "./__fixtures__/browser.ts";

const CREDITS = 1_000_000_000n;
const CODE = "fresh_sign_in_required";

withServer(async () => "sqlite::memory:");

describe("the rights of a session", () => {
  test("are those of its token as of now", async () => {
    const browser = await browserOf(head.token);
    expect(await browser.state()).toBe("organisation_admin");
    await changeHolder(server.deps, { kind: "user", name: "head" }, { role: "member" });
    expect(await browser.state()).toBe("member");
    expect((await browser.send("POST /admin/v1/users", { name: "evil", organisation: "acme" })).code).toBe(
      "role_required",
    );
    const lesser = await issueTokenTo(server.deps, { owner: { kind: "user", name: "root" }, role: "auditor" });
    expect(await (await browserOf(lesser.secret)).state()).toBe("auditor");
  });

  test("make no tokens without the limits of the one that it was begun with", async () => {
    await changeHolder(server.deps, { kind: "organisation", name: "acme" }, { tokenPolicy: { maxTokens: 2 } });
    const browser = await browserOf(ann.token);
    expect((await browser.send("POST /admin/v1/tokens", { name: "second" })).status).toBe(200);
    expect((await browser.send("POST /admin/v1/tokens", { name: "third" })).code).toBe("role_required");
    const limited = await createToken(server.deps, { user: "bob", organisation: "acme", maxBudget: CREDITS });
    const bob = await browserOf(limited.token);
    expect((await bob.send("POST /admin/v1/tokens", { name: "free" })).code).toBe("role_required");
  });

  test("give no lasting secret to who has stolen it", async () => {
    const browser = await browserOf(ann.token);
    expect((await browser.send(`POST /admin/v1/tokens/${ann.id}/rotate`, {})).code).toBe("role_required");
    expect((await server.ask(ann.token, `post /admin/v1/tokens/${ann.id}/rotate`, { body: {} })).status).toBe(200);
  });

  test("spend from the token's account, under its rates and budgets", async () => {
    const { token, id } = await createToken(server.deps, {
      user: "bob",
      rpm: 7,
      models: ["openai/*"],
      maxBudget: CREDITS,
    });
    await changeHolder(server.deps, { kind: "user", name: "bob" }, { concurrency: 3 });
    const browser = await browserOf(token);
    const request = new Request(`${SITE}/v1/x`, { headers: { cookie: browser.cookie } });
    const caller = await server.authenticator.authenticate(request.headers, undefined, { request, path: "/v1/x" });
    expect(caller).toMatchObject({
      user: "bob",
      rates: undefined,
      ratesAbove: [{ requestsPerMinute: 7 }, { concurrentCalls: 3 }, {}],
      models: ["openai/*"],
    });
    const chain = await server.deps.accounts.chain(caller.accountId, server.now);
    expect(chain.map(({ kind, maxBudget }) => [kind, maxBudget])).toEqual([
      ["token", undefined],
      ["token", CREDITS],
      ["user", undefined],
    ]);
    expect(chain[1]?.name).toBe(id);
  });

  test("post credits for ten minutes alone, until another sign-in", async () => {
    const browser = await browserOf(root.token);
    const grant = (how = "") =>
      browser.send(`POST /admin/v1/credits${how}`, { organisation: "acme", amount: 1, reason: "test" });
    expect((await grant()).status).toBe(200);
    server.now += 10 * 60_000;
    expect((await grant()).code).toBe("fresh_sign_in_required");
    expect((await grant("?dry_run=true")).status).toBe(200);
    const body = { organisation: "acme", amount: 1, reason: "test" };
    expect((await server.ask(root.token, "post /admin/v1/credits", { body })).status).toBe(200);
    await browser.signIn(root.token);
    expect((await grant()).status).toBe(200);
  });
});

describe("an old sign-in", () => {
  /** A body that each act takes, without guarded members. */
  const bodies: Readonly<Record<string, object>> = {
    "post /admin/v1/organisations": { name: "new" },
    "post /admin/v1/users": { name: "new" },
    "post /admin/v1/projects": { name: "new" },
    "post /admin/v1/budgets": { user: "ann", max_budget: 1 },
    "post /admin/v1/credits": { user: "ann", amount: 1, reason: "test" },
    "post /admin/v1/model_groups": { name: "any", models: ["none/*"] },
    "put /admin/v1/people": { people: [{ name: "ann", role: "owner" }] },
  };
  const identity = { issuer: "https://issuer.test", subject: "evil" };
  /** Values of the guarded members, for the bodies that have them. */
  const guarded: Readonly<Record<(typeof GUARDED_MEMBERS)[number], readonly unknown[]>> = {
    role: ["owner"],
    identities: [[identity]],
    members: [["ann"]],
    organisation: ["acme", null],
    prepaid: [false, true],
    markup: [0.001, null],
    token_policy: [null, { max_tokens: 5 }],
    models: [["none/*"], "any", null],
    tools: [["*"], null],
    expires_at: ["2030-01-01T00:00:00Z", null],
    max_budget: [1, null],
    period: ["daily", null],
    start: [2, null],
    raise: [{ by: 1, until: "2030-01-01T00:00:00Z" }, null],
  };
  const pathOf = (path: string): string => path.replace(/(?<=tokens\/)\{id\}/, ann.id).replace("{id}", "any");

  test("gives neither rights nor money nor time, and takes nothing for good", async () => {
    const browser = await browserOf(root.token);
    server.now += 10 * 60_000;
    const codeOf = async (act: string, body: object, how = "") => {
      const [method = "", path = ""] = act.split(" ");
      return (await browser.send(`${method.toUpperCase()} ${pathOf(path)}${how}`, body)).code;
    };
    for (const [act, rule] of Object.entries(freshRules)) {
      const body = bodies[act] ?? {};
      const code = await codeOf(act, body, act === "delete /admin/v1/session" ? "s/none" : "");
      const isRefused = rule === "always" || rule === "secret";
      expect([act, code === "fresh_sign_in_required"]).toEqual([act, isRefused]);
      if (rule !== "members") continue;
      const refused = new Set<string>();
      for (const [member, values] of [...Object.entries(guarded), ["disabled", [false]], ["paused", [false]]] as const)
        for (const value of values) {
          const found = await codeOf(act, { ...body, [member]: value });
          // A body without such a member, or with another kind of value, is refused for that.
          if (found !== "validation_failed") expect([act, member, value, found]).toEqual([act, member, value, CODE]);
          if (found === CODE) refused.add(member);
        }
      expect([act, refused.has("max_budget") && refused.has("period")]).toEqual([act, true]);
    }
    const refusedBodies: [string, object][] = [
      ["patch /admin/v1/budgets/any", { models: "any" }],
      ["patch /admin/v1/budgets/any", { start: 2 }],
      [`patch /admin/v1/tokens/${ann.id}`, { expires_at: "2030-01-01T00:00:00Z" }],
      ["patch /admin/v1/projects/any", { members: ["ann"] }],
      ["patch /admin/v1/users/ann", { identities: [identity] }],
      ["patch /admin/v1/organisations/acme", { token_policy: null }],
    ];
    for (const [act, body] of refusedBodies) expect([act, body, await codeOf(act, body)]).toEqual([act, body, CODE]);
    await browser.signIn(root.token);
    expect(await codeOf("patch /admin/v1/organisations/acme", { max_budget: null })).toBeUndefined();
  });

  test("stops misuse, tries what would be, and makes a member's tokens", async () => {
    const [browser, member] = [await browserOf(root.token), await browserOf(ann.token)];
    await changeHolder(server.deps, { kind: "organisation", name: "acme" }, { tokenPolicy: { maxTokens: 5 } });
    server.now += 10 * 60_000;
    const statusOf = async (by: TestBrowser, route: string, body?: object) => (await by.send(route, body)).status;
    expect(await statusOf(browser, "PUT /admin/v1/people?dry_run=true", { people: [{ name: "ann" }] })).toBe(200);
    expect(await statusOf(browser, "DELETE /admin/v1/users/ann?dry_run=true")).toBe(200);
    expect(await statusOf(member, "POST /admin/v1/tokens", { name: "own" })).toBe(200);
    expect(await statusOf(browser, `PATCH /admin/v1/tokens/${ann.id}`, { paused: true, rpm: 1 })).toBe(200);
    expect(await statusOf(browser, "PATCH /admin/v1/users/ann", { disabled: true })).toBe(200);
    expect(await statusOf(browser, `DELETE /admin/v1/tokens/${ann.id}`)).toBe(200);
  });
});

describe("the list of sessions", () => {
  const listed = async (browser: TestBrowser, path = "/admin/v1/sessions") => {
    const { json } = await browser.send(`GET ${path}`);
    return (json["data"] as { id: string; user: string }[]).map(({ user }) => user).toSorted();
  };

  test("shows what is in reach, and nothing of it is among the tokens", async () => {
    await createToken(server.deps, { user: "zoe" }).then(({ token }) => browserOf(token));
    const [owner, admin, member] = [
      await browserOf(root.token),
      await browserOf(head.token),
      await browserOf(ann.token),
    ];
    expect(await listed(owner)).toEqual(["ann", "head", "root", "zoe"]);
    expect(await listed(owner, "/admin/v1/sessions?user=zoe")).toEqual(["zoe"]);
    expect(await listed(owner, "/admin/v1/sessions?limit=1")).toHaveLength(1);
    expect(await listed(admin)).toEqual(["ann", "head"]);
    expect(await listed(member)).toEqual(["ann"]);
    expect((await member.send("GET /admin/v1/sessions?user=zoe")).code).toBe("account_not_found");
    const { json } = await owner.send("GET /admin/v1/tokens");
    expect((json["data"] as object[]).length).toBe(4);
    expect((await server.deps.tokens.list()).length).toBe(4);
    await member.send("DELETE /admin/v1/session");
    expect(await listed(owner)).toEqual(["head", "root", "zoe"]);
  });

  test("lets owners and their organisation's admins end those of others, and members none", async () => {
    const [owner, admin, member] = [
      await browserOf(root.token),
      await browserOf(head.token),
      await browserOf(ann.token),
    ];
    const idOf = async (browser: TestBrowser) => (await browser.send("GET /admin/v1/session")).json["id"];
    const end = async (by: TestBrowser, of: unknown) => {
      const { status, code } = await by.send(`DELETE /admin/v1/sessions/${String(of)}`);
      return code ?? status;
    };
    const [ofOwner, ofAdmin, ofMember] = [await idOf(owner), await idOf(admin), await idOf(member)];
    expect([await end(member, ofAdmin), await end(member, ofOwner), await end(member, "x")]).toEqual([
      "account_not_found",
      "account_not_found",
      "account_not_found",
    ]);
    expect([await end(admin, ofOwner), await end(admin, ofMember), await member.state()]).toEqual([
      "account_not_found",
      200,
      "signed_out",
    ]);
    expect([await end(owner, ofAdmin), await admin.state(), await owner.state()]).toEqual([200, "signed_out", "owner"]);
  });
});

test("a live stream of calls goes on for a session, until that ends", async () => {
  const browser = await browserOf(root.token);
  const request = () =>
    new Request("http://gateway.test/admin/v1/generations", {
      headers: { cookie: browser.cookie, accept: "text/event-stream" },
    });
  const answer = await server.send(request());
  expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
  await answer.body?.cancel();
  await browser.send("DELETE /admin/v1/session");
  expect((await server.send(request())).status).toBe(401);
});
