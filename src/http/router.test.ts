import { describe, expect, test } from "bun:test";
import type { MountedRoute } from "./route.ts";
import { createRouter } from "./router.ts";

const routeAt = (method: MountedRoute["method"], path: string): MountedRoute => ({
  kind: "http",
  method,
  path,
  surface: "openai",
  access: "public",
  handle: () => new Response(),
});

describe("a router", () => {
  const things = routeAt("get", "/v1/things");
  const count = routeAt("get", "/v1/things/count");
  const thing = routeAt("get", "/v1/things/{thing}");
  const removal = routeAt("delete", "/v1/things/{thing}");
  const { find } = createRouter([things, count, thing, removal]);

  test.each<[string, string, MountedRoute | undefined]>([
    ["GET", "/v1/things", things],
    ["GET", "/v1/things/count", count],
    ["GET", "/v1/things/other", thing],
    ["DELETE", "/v1/things/count", removal],
    ["GET", "/v1/things/", undefined],
    ["GET", "/v1/things/{thing}/part", undefined],
    ["POST", "/v1/things", undefined],
  ])("finds the route of %s %s", (method, path, route) => {
    expect(find(method, path)?.route).toBe(route);
  });

  test("finds what a client means that has put a path together wrongly, and lists the methods of a path", () => {
    const { findMeant, methodsOf } = createRouter([things, count, thing, removal]);
    for (const path of ["/v1/things/", "/things", "/things/", "/v1/v1/things", "/v1/v1/v1/things"]) {
      expect(findMeant("GET", path)?.route).toBe(things);
    }
    expect(findMeant("GET", "/v2/things")).toBeUndefined();
    const anyProvider = createRouter([routeAt("get", "/v1/{provider}/things")]);
    expect(anyProvider.findMeant("GET", "/v1beta/things")).toBeUndefined();
    expect(findMeant("POST", "/things")).toBeUndefined();
    expect([methodsOf("/v1/things/x"), methodsOf("/v1/nothing")]).toEqual([["GET", "DELETE"], []]);
  });

  test("prefers the longest text before a parameter", () => {
    const other = routeAt("get", "/v1/{name}/things");
    const one = routeAt("get", "/v1/{name}/things/{thing}");
    const { find: mixed } = createRouter([other, one, thing]);
    const found = (path: string) => {
      const { route, pathParameter } = mixed("GET", path) ?? {};
      return [route, pathParameter?.("name"), pathParameter?.("thing")];
    };
    expect(found("/v1/things/things")).toEqual([thing, "", "things"]);
    expect(found("/v1/any/things")).toEqual([other, "any", ""]);
    expect(found("/v1/things/things/a%2Fb")).toEqual([one, "things", "a/b"]);
    expect(found("/v1/any/thing")).toEqual([undefined, undefined, undefined]);
  });

  test("lets a last parameter contain slashes if its route wants them, encoded or not", () => {
    const model = { ...routeAt("get", "/v1/models/{id}"), takesSlashes: true };
    const files = routeAt("get", "/v1/{prefix}/files");
    const found = (path: string) => {
      const { route, pathParameter } = createRouter([files, model]).find("GET", path) ?? {};
      return [route, pathParameter?.("id")];
    };
    expect(found("/v1/models/up/m")).toEqual([model, "up/m"]);
    expect(found("/v1/models/up%2Forg%2Fm")).toEqual([model, "up/org/m"]);
    expect(found("/v1/models/up/org/m:free")).toEqual([model, "up/org/m:free"]);
    expect(found("/v1/models/")).toEqual([undefined, undefined]);
    expect(found("/v1/models/files")).toEqual([model, "files"]);
  });

  test.each<[string, MountedRoute]>([
    ["the same path", routeAt("get", "/v1/things")],
    ["a path whose parameter is called otherwise", routeAt("get", "/v1/things/{id}")],
  ])("refuses a second route at %s", (_, route) => {
    expect(() => createRouter([things, thing, route])).toThrow(`two routes for get ${route.path}`);
  });
});
