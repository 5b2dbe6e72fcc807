import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { version } from "../core/index.ts";
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

const answerTo = ({ id }: NodeAsk) => ({ id, result: { ok: true, changed: ["pricing.markup"] } });

test("each node is asked once, and answers for itself; one that is silent is a failure", async () => {
  const asked: [name: string, ask: NodeAsk][] = [];
  const outcomes = new Map<string, Node["outcome"]>([
    ["b", { id: "of an earlier request", result: { ok: true }, earlier: [] }],
  ]);
  const store = {
    ask(name: string, ask: NodeAsk) {
      asked.push([name, ask]);
      if (name === "a") outcomes.set(name, { ...answerTo(ask), earlier: [] });
      return Promise.resolve(true);
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

test("requests of several people wait for each other, and each gets its own outcome, also when a later one is there", async () => {
  const waiting: NodeAsk[] = [];
  let outcome: Node["outcome"];
  const answer = (): void => {
    const asked = waiting.shift();
    if (asked === undefined) return;
    const earlier = outcome === undefined ? [] : [outcome, ...outcome.earlier];
    outcome = { id: asked.id, result: { ok: true, changed: [String(asked.force)] }, earlier };
  };
  const store = {
    ask(_: string, asked: NodeAsk) {
      if (waiting.length > 0) return Promise.resolve(false);
      waiting.push(asked);
      // The next request is there before this one's outcome is read.
      queueMicrotask(answer);
      return Promise.resolve(true);
    },
    seenSince: () => Promise.resolve([{ ...nodeOf("a"), outcome }]),
  };
  const options = { store, randomBytes: (size: number) => randomBytes(size), waitMsMax: 5_000 };
  const asked = [true, false, true].map((force) => reloadNodes([nodeOf("a")], { ...options, force }));
  expect((await Promise.all(asked)).flat().map(({ result }) => result["changed"])).toEqual([
    ["true"],
    ["false"],
    ["true"],
  ]);
});

test("a node of another version is not asked to compare: an earlier one would reload", async () => {
  const asked: string[] = [];
  const store = {
    ask(name: string) {
      asked.push(name);
      return Promise.resolve(true);
    },
    seenSince: () => Promise.resolve([]),
  };
  const options = { store, randomBytes: (size: number) => randomBytes(size), force: false, waitMsMax: 100 };
  const nodes = [
    { ...nodeOf("old"), version: "0.0.1" },
    { ...nodeOf("new"), version },
  ];
  const [old] = await reloadNodes(nodes, { ...options, check: true });
  expect(old?.result).toMatchObject({ ok: false, error: expect.stringContaining("version") as string });
  expect(asked).toEqual(["new"]);
});
