import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import pino from "pino";
import { type ErrorCode, GatewayError, type Surface } from "../core/index.ts";
import { MemoryBudget } from "../streaming/index.ts";
import { type Callers, openCallers } from "./__fixtures__/callers.ts";
import { createHttp } from "./create-http.ts";
import type { MountedRoute, RouteCall } from "./route.ts";
import { Sockets } from "./sockets.ts";

let callers: Callers;
let draining: boolean;
let log: Record<string, unknown>[];
let handler: (request: Request) => Response | Promise<Response>;
/** The behaviour of the tested route. */
let handle: (call: RouteCall) => Response | Promise<Response>;

const openRoute: MountedRoute = {
  kind: "http",
  method: "get",
  path: "/open",
  surface: "openai",
  access: "public",
  handle: () => Response.json({ open: true }),
};

const guardedRoute = (path: string, surface: Surface, access: "token" | "roles" = "token"): MountedRoute => ({
  kind: "http",
  method: "post",
  path,
  surface,
  access,
  roles: ["owner", "auditor"],
  handle: (call) => handle(call),
});

beforeEach(async () => {
  callers = await openCallers();
  draining = false;
  log = [];
  handle = () => Response.json({ fine: true });
  const logger = pino(
    { base: null },
    { write: (line: string) => log.push(JSON.parse(line) as Record<string, unknown>) },
  );
  handler = createHttp({
    routes: [
      openRoute,
      guardedRoute("/v1/x", "openai"),
      guardedRoute("/v1/messages", "anthropic"),
      guardedRoute("/v2/x", "firecrawl"),
      guardedRoute("/v1/admin/x", "openai", "roles"),
      guardedRoute("/v1/messages/admin", "anthropic", "roles"),
      guardedRoute("/v2/admin/x", "firecrawl", "roles"),
      guardedRoute("/v1/things/{thing}/parts/{part}", "openai"),
    ],
    groups: { withPrefix: () => undefined, modelWithin: (_prefix, model) => model },
    authenticator: callers.authenticator,
    environment: { clock: Date.now, randomBytes: (size) => randomBytes(size) },
    sockets: new Sockets({
      upgrade: () => false,
      logger,
      memory: new MemoryBudget(1e9),
      openAnswers: { add: () => undefined, remove: () => undefined },
    }),
    logger,
    publicUrl: "https://ai.example.com/base/",
    draining: () => draining,
    readAsProject: (caller, project) => Promise.resolve({ ...caller, user: `project:${project}` }),
  });
});
afterEach(() => callers.close());

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

const post = (path: string, headers: Record<string, string> = bearer(callers.token)) =>
  handler(new Request(`http://gateway${path}`, { method: "POST", headers, body: "{}" }));

/** Replaces the request's id when an answer is compared. */
const ID = "<id>";

const idShape = /^req_[0-9a-z]{25}$/;

describe("an answer", () => {
  test("has the id that its handler was given", async () => {
    let given = "";
    handle = ({ requestId, principal }) => {
      given = requestId;
      return Response.json({ user: principal.user });
    };
    const response = await post("/v1/x");
    expect(response.headers.get("x-request-id")).toBe(given);
    expect(given).toMatch(idShape);
    expect(await response.json()).toEqual({ user: "alice" });
  });

  test.each<[string, string[]]>([
    ["/v1/things/a/parts/b", ["a", "b", ""]],
    ["/v1/things/%2e%2e%2Fa%20b/parts/%", ["../a b", "%", ""]],
    ["/v1/things/a/parts/b?thing=c&other=d", ["a", "b", ""]],
  ])("has its path parameters: %s", async (path, parameters) => {
    handle = ({ pathParameter }) => Response.json(["thing", "part", "other"].map(pathParameter));
    expect(await (await post(path)).json()).toEqual(parameters);
  });

  test("overrides an id set by its handler", async () => {
    handle = () => new Response("", { headers: { "x-request-id": "upstream's" } });
    expect((await post("/v1/x")).headers.get("x-request-id")).toMatch(idShape);
  });

  test("of a public route needs no token and has an id too", async () => {
    const response = await handler(new Request("http://gateway/open"));
    expect([response.status, await response.json()]).toEqual([200, { open: true }]);
    expect(response.headers.get("x-request-id")).toMatch(idShape);
  });

  test("is not logged here: its handler does that with more data", async () => {
    await post("/v1/x");
    expect(log).toEqual([]);
  });
});

describe("an error", () => {
  const refusal = new GatewayError("insufficient_credits", "no money", { cause: new Error("secret cause") });

  test.each<[string, object]>([
    [
      "/v1/x",
      { error: { message: "no money", type: "insufficient_credits", code: "insufficient_credits", param: null } },
    ],
    [
      "/v1/messages",
      {
        type: "error",
        error: { type: "billing_error", message: "no money" },
        request_id: ID,
      },
    ],
    ["/v2/x", { success: false, error: "no money", code: "insufficient_credits" }],
  ])("on %s has its surface's format", async (path, body) => {
    handle = () => {
      throw refusal;
    };
    const response = await post(path);
    const id = response.headers.get("x-request-id") ?? "";
    const said = (await response.text()).replaceAll(id, ID);
    expect([response.status, JSON.parse(said)]).toEqual([402, body]);
    expect(response.headers.get("content-type")).toStartWith("application/json");
    expect(log).toEqual([
      {
        level: 30,
        time: log[0]?.["time"],
        request_id: id,
        method: "POST",
        path,
        status: 402,
        error: "insufficient_credits",
        msg: "refused",
      },
    ]);
  });

  test("is logged with the id that its client has given it, unless that is no name, and with the path of its route", async () => {
    handle = () => {
      throw refusal;
    };
    const names = ["trace-7", "x".repeat(129), "caf\u00e9"];
    for (const name of names) await post("/v1/x?token=secret", { "x-client-request-id": name });
    await post("/v1/nothing/secret");
    expect(log.map((line) => [line["method"], line["path"], line["client_request_id"]])).toEqual([
      ["POST", "/v1/x", "trace-7"],
      ["POST", "/v1/x", undefined],
      ["POST", "/v1/x", undefined],
      ["POST", undefined, undefined],
    ]);
  });

  test("has the same id in its header and its body", async () => {
    handle = () => Promise.reject(refusal);
    const response = await post("/v1/messages");
    expect(await response.json()).toHaveProperty("request_id", response.headers.get("x-request-id"));
  });

  test("that is unexpected is only logged", async () => {
    handle = () => {
      throw new TypeError("secret path /home/x");
    };
    const response = await post("/v1/x");
    expect([response.status, await response.json()]).toEqual([
      500,
      {
        error: {
          message: "The gateway failed to handle this request.",
          type: "server_error",
          code: "internal_error",
          param: null,
        },
      },
    ]);
    expect(log).toHaveLength(1);
    expect(log[0]).toMatchObject({
      level: 50,
      error: "internal_error",
      err: { message: "secret path /home/x" },
      msg: "failed",
    });
  });

  test.each<[ErrorCode, Record<string, string | null>]>([
    ["ledger_busy", { "retry-after": "3", "www-authenticate": null, connection: null }],
    ["invalid_token", { "retry-after": null, "www-authenticate": "Bearer", connection: null }],
    ["request_timeout", { "retry-after": null, "www-authenticate": null, connection: "close" }],
    ["validation_failed", { "retry-after": null, "www-authenticate": null, connection: null }],
  ])("has the headers of its status: %s", async (code, headers) => {
    handle = () => {
      throw new GatewayError(code, "x", code === "ledger_busy" ? { retryAfterSeconds: 3 } : {});
    };
    const response = await post("/v1/x");
    for (const [name, value] of Object.entries(headers)) {
      expect([name, response.headers.get(name)]).toEqual([name, value]);
    }
  });
});

describe("a call", () => {
  test("without a token does not reach its handler", async () => {
    let reached = false;
    handle = () => {
      reached = true;
      return new Response();
    };
    expect((await post("/v1/x", {})).status).toBe(401);
    expect((await post("/v2/x", { authorization: "Bearer tg_x" })).status).toBe(401);
    expect(reached).toBe(false);
  });

  test("is refused while the server is stopping, public routes are not", async () => {
    draining = true;
    const response = await post("/v1/x");
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(await response.json()).toHaveProperty("error.code", "shutting_down");
    expect((await handler(new Request("http://gateway/open"))).status).toBe(200);
  });
});

describe("an admin route", () => {
  const message = "The role member does not have this.";

  test.each<[string, object]>([
    ["/v1/admin/x", { error: { message, type: "permission_error", code: "role_required", param: null } }],
    ["/v1/messages/admin", { type: "error", error: { type: "permission_error", message }, request_id: ID }],
    ["/v2/admin/x", { success: false, error: message, code: "role_required" }],
  ])("refuses any other token: %s", async (path, body) => {
    let reached = false;
    handle = () => {
      reached = true;
      return new Response();
    };
    const response = await post(path);
    const said = (await response.text()).replaceAll(response.headers.get("x-request-id") ?? "", ID);
    expect([response.status, JSON.parse(said)]).toEqual([403, body]);
    expect(reached).toBe(false);
  });

  test("accepts an admin token", async () => {
    handle = ({ principal }) => Response.json({ user: principal.user });
    const response = await post("/v1/admin/x", bearer(callers.adminToken));
    expect([response.status, await response.json()]).toEqual([200, { user: "root" }]);
  });

  test("does not reveal itself without a token", async () => {
    expect((await post("/v1/admin/x", {})).status).toBe(401);
    expect((await post("/v1/admin/x", bearer("tg_x"))).status).toBe(401);
  });
});

describe("an unknown path", () => {
  test.each<[string, string, string]>([
    ["GET", "/v1/z", "openai"],
    ["POST", "/v1/z/", "openai"],
    ["POST", "/closed", "openai"],
    ["GET", "/v1/messages/count", "anthropic"],
    ["POST", "/v1/messages/count", "anthropic"],
    ["POST", "/v2/", "firecrawl"],
    ["GET", "/v2/z", "firecrawl"],
    ["POST", "/v2", "openai"],
    ["PROPFIND", "/", "openai"],
  ])("%s %s is a 404 in the format of %s", async (method, path, surface) => {
    const response = await handler(new Request(`http://gateway${path}?key=secret`, { method }));
    const id = response.headers.get("x-request-id");
    const message = `There is no ${method} ${path} here.`;
    const bodies: Record<string, object> = {
      openai: { error: { message, type: "invalid_request_error", code: "route_not_found", param: null } },
      anthropic: { type: "error", error: { type: "not_found_error", message }, request_id: id },
      firecrawl: { success: false, error: message, code: "route_not_found" },
    };
    expect([response.status, await response.json()]).toEqual([404, bodies[surface]]);
    expect(id).toMatch(idShape);
    expect(JSON.stringify(log)).not.toContain("secret");
  });
});

describe("a path put together wrongly", () => {
  test.each(["/v1/x/", "/x", "/v1/v1/x"])("%s has the route that was meant", async (path) => {
    const headers = { authorization: `Bearer ${callers.token}` };
    const response = await handler(new Request(`http://gateway${path}`, { method: "POST", headers }));
    expect([response.status, await response.json()]).toEqual([200, { fine: true }]);
  });

  test("with another method is a 404 that allows the path's own", async () => {
    const response = await handler(new Request("http://gateway/open", { method: "POST" }));
    expect([response.status, response.headers.get("allow")]).toEqual([404, "GET, HEAD"]);
    expect(await response.text()).toContain("There is no POST /open here. It takes GET, HEAD.");
  });
});
