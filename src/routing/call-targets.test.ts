/** The targets of one call, without the call. */
import { beforeEach, expect, test } from "bun:test";
import { PriceBook } from "../pricing/index.ts";
import { principalOf, router as plain, targetOf } from "./__fixtures__/upstreams.ts";
import { BusyTargets } from "./busy-targets.ts";
import { callTargets } from "./call-targets.ts";
import { circuitIdOf, Circuits } from "./health/circuits.ts";
import type { ModelRoute } from "./model-routes.ts";
import { ModelRouter } from "./router.ts";

let now: number;
let circuits: Circuits;
beforeEach(() => {
  now = 1_000_000;
  circuits = new Circuits({ clock: () => now, random: () => 0.99, onChange: () => undefined });
});

const cheapest: ModelRoute = {
  name: "cheap",
  strategy: "least_cost",
  tiers: [
    [
      { model: "xai/of-others", weight: 1, on: new Set(), when: { user: ["others"] } },
      { model: "openai/dear", weight: 1, on: new Set() },
      { model: "azure/cheap", weight: 1, on: new Set() },
    ],
  ],
  limits: {
    attempts: 4,
    deadlineMs: 60_000,
    attemptMsMax: 30_000,
    wholeMsMax: 300_000,
    headMsMax: 15_000,
    commit: undefined,
  },
};

const prices = new PriceBook({
  operatorPrices: { "*": { input_mtok: 1, output_mtok: 2 } },
  unpriced: "refuse",
  clock: () => 0,
});
const router = new ModelRouter(plain.routes, prices, { modelRoutes: [cheapest] });

const targetsFor = (modelId: string, fallback?: string) =>
  callTargets({
    router,
    random: () => 0,
    busy: new BusyTargets(),
    circuits,
    modelId,
    operations: ["chat"],
    principal: principalOf("u"),
    headers: new Headers(fallback === undefined ? {} : { "x-tollgate-fallback": fallback }),
    session: undefined,
  });

test("a caller's own targets come after the first one of a route, also if they cost less", async () => {
  const targets = targetsFor("cheap", "mistral/cheap,google/cheap");
  await targets?.orderByCost((target) => Promise.resolve(target.modelId.endsWith("/cheap") ? 1n : 9n));
  const asked = Array.from({ length: 3 }, () => targets?.next()?.modelId);
  expect(asked).toEqual(["openai/dear", "mistral/cheap", "google/cheap"]);
});

test("the first target of a route is the first one that is for the caller, also without others", () => {
  const targets = targetsFor("cheap", "none");
  expect([targets?.next()?.modelId, targets?.hasMore]).toEqual(["openai/dear", false]);
});

test("the targets of other providers are none for a call that refers to objects of one", () => {
  const targets = targetsFor("openai/m", "azure/m,openai/other,mistral/m");
  expect(targets?.next()?.modelId).toBe("openai/m");
  targets?.prefer("openai", { alone: true });
  expect([targets?.next("broken")?.modelId, targets?.hasMore]).toEqual(["openai/other", false]);
});

test("a call that ends before it was sent leaves its place at a half-open target to the next one", () => {
  const id = circuitIdOf(targetOf("openai/m", ["chat"]));
  for (let time = 0; time < 3; time += 1)
    circuits.note({ id, openings: circuits.openings, isProbe: false }, { retryAfterMs: undefined });
  now += 5_000;
  const refused = targetsFor("openai/m", "azure/m");
  expect([refused?.next()?.modelId, refused?.isProbe]).toEqual(["openai/m", true]);
  expect(targetsFor("openai/m", "azure/m")?.next()?.modelId).toBe("azure/m");
  expect(refused?.leave()).toBe("openai/m");
  const next = targetsFor("openai/m", "azure/m");
  expect([next?.next()?.modelId, next?.isProbe]).toEqual(["openai/m", true]);
});

/** A first target that is dead for a minute, and a call every four seconds, whatever becomes of those before. */
test.each([
  ["refuses", 0, 0],
  ["is silent for 10 s", 10_000, 3_000],
])("a target that %s is asked at most 8 times in a minute", (_, silentMs, probeMs) => {
  const begun = now;
  const failing: { at: number; fail: () => void }[] = [];
  const waits: number[] = [];
  for (let passed = 0; passed < 60_000; passed += 1_000) {
    now = begun + passed;
    for (const { at, fail } of failing) if (at === now) fail();
    if (passed % 4_000 !== 0) continue;
    const targets = targetsFor("openai/dead", "azure/m");
    if (targets?.next()?.modelId !== "openai/dead") continue;
    waits.push(targets.isProbe ? probeMs : silentMs);
    const fail = (): void => {
      targets.note({ retryAfterMs: undefined });
      // The call moves on, and is answered.
      expect(targets.next("no_head")?.modelId).toBe("azure/m");
      targets.note("works");
    };
    const [waited = 0] = waits.slice(-1);
    if (waited === 0) fail();
    else failing.push({ at: now + waited, fail });
  }
  expect(waits.length).toBeGreaterThan(3);
  expect(waits.length).toBeLessThanOrEqual(8);
  expect(waits.filter((waited) => waited === silentMs).length).toBeLessThanOrEqual(silentMs === 0 ? 8 : 5);
});
