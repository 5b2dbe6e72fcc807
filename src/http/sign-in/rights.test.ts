/** What a browser's session may do, and who sees and ends it. */
import { describe, expect, test } from "bun:test";
import { changeHolder, createToken, issueTokenTo } from "../../accounts/index.ts";
import { ann, type TestBrowser, browserOf, head, root, server, SITE, withServer } from "./__fixtures__/browser.ts";

const CREDITS = 1_000_000_000n;

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

test("an old sign-in gives neither rights nor money in other ways", async () => {
  const [browser, member] = [await browserOf(root.token), await browserOf(ann.token)];
  await changeHolder(server.deps, { kind: "organisation", name: "acme" }, { tokenPolicy: { maxTokens: 5 } });
  server.now += 10 * 60_000;
  const user = "PATCH /admin/v1/users/root";
  const organisation = "PATCH /admin/v1/organisations/acme";
  const acts: [string, object][] = [
    ["POST /admin/v1/tokens", { user: "root" }],
    [`POST /admin/v1/tokens/${root.id}/rotate`, {}],
    [`PATCH /admin/v1/tokens/${ann.id}`, { max_budget: null }],
    [organisation, { prepaid: false }],
    [organisation, { markup: 0.001 }],
    [organisation, { max_budget: null }],
    [organisation, { token_policy: null }],
    [user, { identities: [{ issuer: "https://issuer.test", subject: "evil" }] }],
    ["PATCH /admin/v1/users/ann", { role: "owner" }],
    ["POST /admin/v1/users", { name: "evil", role: "owner" }],
    ["POST /admin/v1/budgets", { user: "ann", max_budget: 1 }],
    ["DELETE /admin/v1/budgets/any", {}],
    ["PATCH /admin/v1/model_groups/any", { models: ["none/*"] }],
    ["PUT /admin/v1/people", { people: [{ name: "ann", role: "owner" }] }],
  ];
  for (const [route, body] of acts)
    expect([route, body, (await browser.send(route, body)).code]).toEqual([route, body, "fresh_sign_in_required"]);
  expect((await browser.send("PATCH /admin/v1/users/ann", { disabled: false })).status).toBe(200);
  expect((await browser.send("PUT /admin/v1/people?dry_run=true", { people: [{ name: "ann" }] })).status).toBe(200);
  expect((await member.send("POST /admin/v1/tokens", { name: "own" })).status).toBe(200);
  await browser.signIn(root.token);
  expect((await browser.send(organisation, { max_budget: null })).status).toBe(200);
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
