import { describe, expect, test } from "bun:test";
import type { Principal } from "../auth/index.ts";
import { GatewayError } from "../core/index.ts";
import { BusyTargets } from "./busy-targets.ts";
import { firstUsable, type ModelRoute, callerOfRoute, targetsOf } from "./model-routes.ts";
import type { ModelCaller } from "./target-condition.ts";

const target = (model: string, weight = 1) => ({ model, weight, on: new Set<never>() });
const route = (strategy: ModelRoute["strategy"]): ModelRoute => ({
  name: "fast",
  strategy,
  limits: { attempts: 4, deadlineMs: 1, attemptMsMax: 1, wholeMsMax: 1, headMsMax: 1, commit: undefined },
  tiers: [
    [target("a/1", 3), target("a/2"), target("a/3")],
    [target("b/1"), target("b/2", 9)],
  ],
});
const models = (targets: readonly { model: string }[]): string[] => targets.map(({ model }) => model);

const busy = new BusyTargets();

/** A generator with a fixed sequence. */
function random(): () => number {
  let state = 1;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}

test("in order: as written, tier after tier", () => {
  expect(models(targetsOf(route("order"), random(), { busy }))).toEqual(["a/1", "a/2", "a/3", "b/1", "b/2"]);
});

test("weighted: each comes first in its tier as often as its weight says, and none is left out", () => {
  const draw = random();
  const firsts = new Map<string, number>();
  const draws = 20_000;
  for (let index = 0; index < draws; index += 1) {
    const drawn = models(targetsOf(route("weighted"), draw, { busy }));
    expect(drawn.slice(0, 3).toSorted()).toEqual(["a/1", "a/2", "a/3"]);
    expect(drawn.slice(3).toSorted()).toEqual(["b/1", "b/2"]);
    for (const first of [drawn[0], drawn[3]]) firsts.set(first ?? "", (firsts.get(first ?? "") ?? 0) + 1);
  }
  const shares = Object.fromEntries(
    [...firsts].map(([model, count]) => [model, Math.round((count / draws) * 20) / 20]),
  );
  expect(shares).toEqual({ "a/1": 0.6, "a/2": 0.2, "a/3": 0.2, "b/1": 0.1, "b/2": 0.9 });
});

describe("the targets of a session, weighted", () => {
  const sessions = Array.from({ length: 2_000 }, (_, index) => `session ${index}`);
  const orderOf = (session: string, from = route("weighted")): string[] =>
    models(targetsOf(from, () => expect.unreachable(), { busy, session }));

  test("have the same order in every call and every process, by weight over all sessions", () => {
    const firsts = new Map<string, number>();
    for (const session of sessions) {
      const order = orderOf(session);
      expect(orderOf(session)).toEqual(order);
      firsts.set(order[0] ?? "", (firsts.get(order[0] ?? "") ?? 0) + 1);
    }
    expect([...firsts.keys()].toSorted()).toEqual(["a/1", "a/2", "a/3"]);
    expect(Math.abs((firsts.get("a/1") ?? 0) / sessions.length - 0.6)).toBeLessThan(0.04);
    // A hash that changed would move all sessions to other targets.
    expect(orderOf("session 1")).toEqual(["a/2", "a/3", "a/1", "b/2", "b/1"]);
  });

  test("lose and gain only the sessions of a target that goes or comes", () => {
    const fewer = { ...route("weighted"), tiers: [[target("a/1", 3), target("a/3")]] };
    for (const session of sessions) {
      const [before, after] = [orderOf(session).slice(0, 3), orderOf(session, fewer)];
      expect(after).toEqual(before.filter((model) => model !== "a/2"));
    }
  });

  test("in order: are as written", () => {
    expect(orderOf("any", route("order"))[0]).toBe("a/1");
  });
});

test("least busy: those with the fewest calls for their weight come first, and equals are drawn", () => {
  const some = new BusyTargets();
  const first = (): string[] => models(targetsOf(route("least_busy"), random(), { busy: some }));
  const ends = ["a/1", "a/1", "a/1", "a/2", "b/2"].map((model) => some.begin(model));
  // Three calls at weight 3 are as many as one at weight 1.
  expect([first()[0], first()[3]]).toEqual(["a/3", "b/1"]);
  const more = [some.begin("a/3"), some.begin("a/3"), ...Array.from({ length: 9 }, () => some.begin("b/1"))];
  expect([first()[2], first()[3]]).toEqual(["a/3", "b/2"]);
  for (const end of [...ends, ...more, ...ends]) end();
  expect(["a/1", "a/2", "a/3", "b/1", "b/2"].map((model) => some.of(model))).toEqual([0, 0, 0, 0, 0]);
});

describe("the first usable target", () => {
  const principal = (allowed: string[] | undefined): Principal => ({
    tokenId: "t",
    user: "u",
    accountId: "token:t",
    service: false,
    role: "member",
    models: allowed,
    rates: undefined,
    expiresAt: undefined,
  });
  const refusing =
    (...refused: string[]) =>
    (model: string, user: ModelCaller): string => {
      if (refused.includes(model)) throw new GatewayError("model_not_routed", model);
      return `${model} for ${String(user.models)}`;
    };

  test("is the first that is not refused", () => {
    expect(firstUsable(route("order"), { caller: principal(["b/*"]) }, refusing("a/1", "a/2", "a/3"))).toBe(
      "b/1 for b/*",
    );
  });

  test("is any for a token with the name of the route", () => {
    expect(callerOfRoute(principal(["fa*"]), route("order")).models).toBeUndefined();
    expect(firstUsable(route("order"), { caller: principal(["fa*"]) }, refusing())).toBe("a/1 for undefined");
  });

  test("of none, the first refusal is told", () => {
    const all = refusing("a/1", "a/2", "a/3", "b/1", "b/2");
    expect(() => firstUsable(route("order"), { caller: principal(undefined) }, all)).toThrow("a/1");
  });

  test("a fault of the gateway is no refusal", () => {
    const failing = (): never => {
      throw new TypeError("a bug");
    };
    expect(() => firstUsable(route("order"), { caller: principal(undefined) }, failing)).toThrow("a bug");
  });

  test("is one that is for the caller and the operation", () => {
    const of = (caller: ModelCaller, operation?: "chat" | "speech"): string =>
      firstUsable(conditional, { caller, ...(operation && { operation }) }, (model) => model);
    const conditional: ModelRoute = {
      ...route("order"),
      tiers: [
        [
          { ...target("a/1"), when: { user: ["alice", "b*"], operation: ["chat"] } },
          { ...target("a/2"), when: { organisation: ["acme"] } },
        ],
        [{ ...target("b/1"), when: { token: ["t*"], inputTokens: { min: 1_000, max: 2_000 } } }],
      ],
    };
    expect(of({ models: undefined, user: "bob" }, "chat")).toBe("a/1");
    expect(of({ models: undefined, user: "bob" })).toBe("a/1");
    expect(of({ models: undefined, user: "bob", organisation: "acme" }, "speech")).toBe("a/2");
    expect(of({ models: undefined, user: "carol", tokenId: "t1" }, "chat")).toBe("b/1");
    expect(() => of({ models: undefined, user: "carol" }, "chat")).toThrow(
      "The route fast has no target for this call.",
    );
  });
});
