import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { reloadNodes } from "./reload-nodes.ts";
import type { Node, NodeAsk } from "./store.ts";

const nodeOf = (name: string): Node => ({
  name,
  host: "elsewhere",
  pid: 1,
  version: "1",
  port: undefined,
  startedAt: 0,
  seenAt: 0,
  fingerprint: {},
  fingerprintAt: 0,
  asked: undefined,
  outcome: undefined,
});

test("each node is asked once, and answers for itself; one that is silent is a failure", async () => {
  const asked: [name: string, ask: NodeAsk][] = [];
  const outcomes = new Map<string, Node["outcome"]>([["b", { id: "of an earlier request", result: { ok: true } }]]);
  const store = {
    ask(name: string, ask: NodeAsk) {
      asked.push([name, ask]);
      if (name === "a") outcomes.set(name, { id: ask.id, result: { ok: true, changed: ["pricing.markup"] } });
      return Promise.resolve();
    },
    seenSince: () => Promise.resolve(["a", "b"].map((name) => ({ ...nodeOf(name), outcome: outcomes.get(name) }))),
  };
  const reloaded = await reloadNodes([nodeOf("a"), nodeOf("b")], {
    store,
    randomBytes: (size) => randomBytes(size),
    force: true,
    waitMsMax: 150,
  });
  expect(reloaded).toEqual([
    { node: "a", result: { ok: true, changed: ["pricing.markup"] } },
    {
      node: "b",
      result: { ok: false, changed: [], need_restart: [], error: expect.stringContaining("no answer") as string },
    },
  ]);
  expect(asked.map(([name, { force }]) => [name, force])).toEqual([
    ["a", true],
    ["b", true],
  ]);
});
