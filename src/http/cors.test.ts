import { describe, expect, test } from "bun:test";
import { type CorsPolicy, withCors } from "./cors.ts";

const policy: CorsPolicy = {
  origins: ["https://app.example", "https://*.team.example", "http://localhost:*"],
  maxAgeMs: 90_500,
};
const everyOrigin: CorsPolicy = { ...policy, origins: ["*"] };

/** Answers everything, so that a preflight that is not answered on the way shows. */
const inner = (): Response => new Response("answer", { status: 401, headers: { "x-request-id": "r", vary: "accept" } });

function headersFor(used: CorsPolicy | undefined, headers: Record<string, string>, method = "POST") {
  return withCors(inner, used)(new Request("http://gateway/v1/x", { method, headers })) as Response;
}

const asked = {
  "access-control-request-method": "POST",
  "access-control-request-headers": "authorization,x-stainless-os",
};

const preflight = (origin: string, used: CorsPolicy = policy) => headersFor(used, { origin, ...asked }, "OPTIONS");

describe("a preflight", () => {
  test("of a permitted origin is answered without a token, for any header", () => {
    const { status, headers } = preflight("https://app.example");
    expect(status).toBe(204);
    expect(headers.toJSON() as object).toEqual({
      "access-control-allow-origin": "https://app.example",
      "access-control-allow-methods": "GET, HEAD, POST, PUT, PATCH, DELETE",
      "access-control-allow-headers": "authorization,x-stainless-os",
      "access-control-max-age": "90",
      vary: "origin, access-control-request-headers",
    });
  });

  test.each<[string, string | null]>([
    ["https://app.example", "https://app.example"],
    ["https://one.team.example", "https://one.team.example"],
    ["http://localhost:5173", "http://localhost:5173"],
    ["http://app.example", null],
    ["https://app.example:8443", null],
    ["https://app.example.evil.example", null],
    ["https://evil-team.example", null],
    ["https://team.example", null],
    ["null", null],
    ["", null],
  ])("of %p gets the origin %p", (origin, allowed) => {
    expect(preflight(origin).headers.get("access-control-allow-origin")).toBe(allowed);
  });

  test("of any origin gets *, if every origin is permitted", () => {
    for (const origin of ["https://anywhere.example", "null"]) {
      expect(preflight(origin, everyOrigin).headers.get("access-control-allow-origin")).toBe("*");
    }
  });

  test.each<[string, CorsPolicy | undefined]>([
    ["no policy", undefined],
    ["no origins", { origins: [], maxAgeMs: 1 }],
  ])("is no business of a gateway with %s", (_title, none) => {
    const { status, headers } = headersFor(none, { origin: "https://app.example", ...asked }, "OPTIONS");
    expect([status, headers.has("access-control-allow-origin")]).toEqual([401, false]);
  });

  test("is not every OPTIONS", () => {
    expect(headersFor(policy, { origin: "https://app.example" }, "OPTIONS").status).toBe(401);
    expect(headersFor(policy, { "access-control-request-method": "GET" }, "OPTIONS").status).toBe(401);
  });
});

describe("an answer", () => {
  test("to a permitted origin is readable with its headers, errors too", () => {
    const { status, headers } = headersFor(policy, { origin: "https://app.example" });
    expect([status, headers.get("access-control-allow-origin")]).toEqual([401, "https://app.example"]);
    expect(headers.get("access-control-expose-headers")).toBe("x-request-id");
    expect(headers.get("vary")).toBe("accept, origin");
  });

  test("never permits cookies", () => {
    for (const used of [policy, everyOrigin]) {
      expect(headersFor(used, { origin: "https://app.example" }).headers.has("access-control-allow-credentials")).toBe(
        false,
      );
    }
  });

  test("to another origin is as it was, but for caches", () => {
    const { headers } = headersFor(policy, { origin: "https://evil.example" });
    expect(headers.has("access-control-allow-origin")).toBe(false);
    expect(headers.has("access-control-expose-headers")).toBe(false);
    expect(headers.get("vary")).toBe("accept, origin");
  });

  test("without an origin is as it was", () => {
    expect(headersFor(everyOrigin, {}).headers.toJSON()).toEqual(inner().headers.toJSON());
  });
});
