import { describe, expect, test } from "bun:test";
import { z } from "@hono/zod-openapi";
import { type Access, type PlatformContract, platformContract } from "./contract.ts";

const described = { path: "/v1/x", operationId: "x", tag: "X", summary: "x", answer: z.object({}) };

/** The statuses that a contract declares. */
const statuses = (access: Access, contract: Partial<PlatformContract> = {}): string[] =>
  Object.keys(platformContract({ ...described, ...contract }, access).responses);

describe("the contract of a route answered by the gateway itself", () => {
  test("requires no token on a public route", () => {
    expect(platformContract(described, "public").security).toEqual([]);
    expect(platformContract(described, "token").security).toBeUndefined();
    expect(platformContract(described, "roles").security).toBeUndefined();
  });

  test("declares the refusal of other tokens on an admin route", () => {
    expect(statuses("token")).toEqual(["200", "401", "402", "422", "502"]);
    expect(statuses("roles")).toEqual(["200", "401", "402", "403", "422", "502"]);
  });

  test.each<["get" | "delete" | "post" | "patch"]>([["get"], ["delete"], ["post"], ["patch"]])(
    "is of a %s, too",
    (method) => {
      expect(platformContract({ ...described, method }, "token").method).toBe(method);
    },
  );

  test("is a GET by default", () => {
    expect(platformContract(described, "token").method).toBe("get");
  });

  test("requires its body, if it has one, and declares the statuses of the contract", () => {
    const body = z.object({ name: z.string() });
    expect(platformContract({ ...described, method: "patch", body }, "token").request).toEqual({
      body: { required: true, content: { "application/json": { schema: body } } },
    });
    expect(statuses("token", { method: "post", body })).toEqual(["200", "401", "402", "422", "502"]);
    expect(statuses("token", { method: "post" })).not.toContain("413");
  });
});
