import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chatPath, expectRefusal, type Refusal, type Rig, startRig, until } from "../kit/index.ts";

let rig: Rig;
let token: string;

beforeAll(async () => {
  rig = await startRig();
  token = await rig.gateway.token();
});

afterAll(async () => {
  expect(rig.simulators.total()).toBe(0);
  await rig.stop();
});

const chat = JSON.stringify({ model: "openai/gpt-4o-mini", messages: [{ role: "user", content: "hi" }] });

/** Every route that needs a token; the others are `/health`, `/health/ready` and `/openapi.json`. */
const routes = [
  ["POST", chatPath],
  ["GET", "/v1/models"],
  ["GET", "/v1/user/info"],
] as const;

function ask(method: string, path: string, headers: Record<string, string>): Promise<Response> {
  return fetch(rig.gateway.url + path, { method, headers, ...(method === "POST" ? { body: chat } : {}) });
}

async function expectUnauthorized(headers: Record<string, string>, expected: Omit<Refusal, "status">): Promise<void> {
  for (const [method, path] of routes) {
    const answer = await ask(method, path, headers);
    expectRefusal(answer, await answer.text(), { status: 401, ...expected });
    expect(answer.headers.get("www-authenticate")).toBe("Bearer");
  }
}

const bearer = (value: string): Record<string, string> => ({ authorization: `Bearer ${value}` });

/** The token with one character of its secret changed. */
function withOtherSecret(value: string): string {
  return value.slice(0, -10) + (value.at(-10) === "A" ? "B" : "A") + value.slice(-9);
}

describe("no token", () => {
  test.each<[string, Record<string, string>]>([
    ["no header", {}],
    ["an empty header", { authorization: "" }],
    ["a scheme alone", { authorization: "Bearer" }],
    ["a scheme and spaces", { authorization: "Bearer   " }],
    ["another scheme", { authorization: `Basic ${Buffer.from("user:password").toString("base64")}` }],
    ["a made-up scheme", { authorization: "Tollgate tg_x" }],
    ["an empty x-api-key", { "x-api-key": "" }],
    ["a cookie", { cookie: "token=tg_x" }],
  ])("%s", async (_, headers) => {
    await expectUnauthorized(headers, { code: "missing_token", message: "Authorization: Bearer" });
  });

  test("in the query string, which would be logged", async () => {
    const answer = await ask("GET", `/v1/user/info?api_key=${token}&token=${token}`, {});
    expectRefusal(answer, await answer.text(), { status: 401, code: "missing_token" });
  });

  test("two tokens in one header", async () => {
    await expectUnauthorized({ authorization: `Bearer ${token} ${token}` }, { code: "missing_token" });
  });
});

describe("a token that was never issued", () => {
  test.each<[string, (real: string) => string]>([
    ["another secret", withOtherSecret],
    ["another id", (real) => real.replace(/^tg_\w{12}/, "tg_000000000000")],
    ["a secret cut short", (real) => real.slice(0, -1)],
    ["a secret with something behind it", (real) => `${real}A`],
    ["no secret", (real) => real.slice(0, 16)],
    ["an upstream's key", () => "sk-simulated-upstream-key"],
    ["another prefix", (real) => real.replace("tg_", "tk_")],
    ["capitals", (real) => real.toUpperCase()],
    ["SQL", () => "tg_'OR'1'='1"],
    ["the id's wildcard", (real) => real.replace(/^tg_\w{12}/, "tg_%%%%%%%%%%%%")],
  ])("%s", async (_, forge) => {
    await expectUnauthorized(bearer(forge(token)), { code: "invalid_token", message: "not valid" });
    await expectUnauthorized({ "x-api-key": forge(token) }, { code: "invalid_token", message: "not valid" });
  });

  test("a wrong id and a wrong secret are indistinguishable", async () => {
    const bodies = [bearer(withOtherSecret(token)), bearer(token.replace(/^tg_\w{12}/, "tg_000000000000"))].map(
      async (headers) => (await ask("GET", "/v1/user/info", headers)).text(),
    );
    const [first, second] = await Promise.all(bodies);
    expect(first).toBe(second ?? "");
  });
});

describe("a token that was issued", () => {
  test.each<[string, (real: string) => Record<string, string>]>([
    ["as a bearer", (real) => bearer(real)],
    ["with the scheme in small letters", (real) => ({ authorization: `bearer ${real}` })],
    ["as x-api-key", (real) => ({ "x-api-key": real })],
    ["as x-api-key beside another authorization", (real) => ({ "x-api-key": real, authorization: "Basic eDp5" })],
  ])("is taken %s", async (_, headers) => {
    expect((await ask("GET", "/v1/user/info", headers(token))).status).toBe(200);
  });

  test("is refused soon after its revocation, and by its own name", async () => {
    const revoked = await rig.gateway.token({ user: "leaver" });
    expect((await ask("GET", "/v1/user/info", bearer(revoked))).status).toBe(200);
    const { code } = await rig.gateway.cli("token", "revoke", revoked.slice(3, 15));
    expect(code).toBe(0);
    await until(
      "the revocation is seen",
      async () => (await ask("GET", "/v1/user/info", bearer(revoked))).status === 401,
    );
    await expectUnauthorized(bearer(revoked), { code: "token_revoked", message: "revoked" });
    // An id alone reveals nothing.
    await expectUnauthorized(bearer(withOtherSecret(revoked)), { code: "invalid_token" });
    expect((await ask("GET", "/v1/user/info", bearer(token))).status).toBe(200);
  });

  test("is refused once it has expired", async () => {
    const brief = await rig.gateway.token({ user: "guest", expiresInMs: 400 });
    expect((await ask("GET", "/v1/user/info", bearer(brief))).status).toBe(200);
    await until("it has expired", async () => (await ask("GET", "/v1/user/info", bearer(brief))).status === 401);
    await expectUnauthorized(bearer(brief), { code: "token_expired", message: "expired" });
  });
});

test("public routes need none, and mind none that is wrong", async () => {
  for (const path of ["/health", "/health/ready", "/openapi.json"]) {
    for (const headers of [{}, bearer("nonsense")]) {
      expect((await ask("GET", path, headers)).status).toBe(200);
    }
  }
});
