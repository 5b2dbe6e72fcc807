/** Processes on one storage learn from each other which targets fail. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Gateway, postChat, sharedPostgres, startTwoNodes, until } from "../kit/index.ts";
import { type FailingUpstream, startFailingUpstream } from "./failing-upstream.ts";

const postgres = sharedPostgres();
let upstream: FailingUpstream;
beforeAll(async () => {
  upstream = await startFailingUpstream();
});
afterAll(() => upstream.stop());

describe("two nodes", () => {
  let nodes: [Gateway, Gateway];
  let token: string;
  beforeAll(async () => {
    upstream.dead.clear();
    const own = { kind: "openai-compatible", base_url: upstream.url, api_key: "k" };
    nodes = await startTwoNodes({
      storage: await postgres.createDatabase(),
      providers: { one: own, two: { ...own, api_key: "l" } },
      config: {
        pricing: { unpriced: "free" },
        upstream: { retries: 0 },
        routing: { routes: { either: { tiers: [[{ model: "one/a" }, { model: "two/b" }]] } } },
      },
    });
    token = await nodes[0].token();
  });
  afterAll(() => Promise.all(nodes.map((node) => node.stop())));

  const call = async (node: Gateway): Promise<void> => {
    const answer = await postChat(node, token, { model: "either", messages: [{ role: "user", content: "hi" }] });
    expect(answer.status).toBe(200);
    await answer.text();
  };

  test("a target that failed at one node is not asked by the other one", async () => {
    upstream.dead.add("a");
    for (let times = 0; times < 3; times += 1) await call(nodes[0]);
    const lines = (): unknown[] => nodes[1].logLines().filter(({ msg }) => msg === "target is left out");
    const openedAt = performance.now();
    await until("the other node knows it", () => lines().length === 1);
    expect(performance.now() - openedAt).toBeLessThan(2_000);
    upstream.asked.length = 0;
    await call(nodes[1]);
    expect(upstream.asked).toEqual(["b"]);
  });
});
