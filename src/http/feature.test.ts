import { describe, expect, test } from "bun:test";
import { z } from "@hono/zod-openapi";
import { askRoute } from "./__fixtures__/ask-route.ts";
import { type Feature, mountFeatures, startFeatures } from "./feature.ts";
import { platformRoute } from "./route.ts";
import { createRouter } from "./router.ts";

interface Services {
  greeting: string;
  /** The running background tasks, by name. */
  running: Set<string>;
}

const described = { operationId: "x", tag: "X", summary: "x", answer: z.object({}) };

const renameRoute = platformRoute({
  contract: { ...described, method: "patch", path: "/v1/things/{thing}", body: z.object({ name: z.string() }) },
  access: "token",
  handle: ({ principal, pathParameter }, { greeting }: Pick<Services, "greeting">) =>
    Response.json(`${greeting} ${principal.user}, here is ${pathParameter("thing")}`),
});

const listRoute = platformRoute({
  contract: { ...described, path: "/v1/things" },
  access: "public",
  handle: () => Response.json([]),
});

/** A feature with a background task. */
const runningFeature = (name: string): Feature<Services> => ({
  routes: [],
  start({ running }) {
    running.add(name);
    return { stop: () => void running.delete(name) };
  },
});

const features: readonly Feature<Services>[] = [
  { routes: [renameRoute, listRoute] },
  runningFeature("one"),
  runningFeature("two"),
];

const services = (): Services => ({ greeting: "Hello", running: new Set() });

describe("features", () => {
  test("are mounted with all their routes, at the declared paths", () => {
    const { find } = createRouter(mountFeatures(features, services()));
    expect(find("PATCH", "/v1/things/one")?.route).toMatchObject({ access: "token", surface: "openai" });
    expect(find("GET", "/v1/things")?.route).toMatchObject({ access: "public" });
    expect(find("GET", "/v1/things/one")).toBeUndefined();
  });

  test("pass their services to their routes", async () => {
    expect(await askRoute(renameRoute, services(), { parameters: { thing: "it" } })).toBe("Hello alice, here is it");
  });

  test("start what they run", async () => {
    const given = services();
    const parts = startFeatures(features, given);
    expect([...given.running]).toEqual(["one", "two"]);
    for (const part of parts) await part.stop?.();
    expect([...given.running]).toEqual([]);
  });
});
