/** Limits of a token on several nodes: they share one truth, also when one of them dies. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  expectCleanAudit,
  gatedBody,
  type GatedUpstream,
  type Gateway,
  letLeasesLapse,
  postChat,
  sharedPostgres,
  startGatedUpstream,
  startGateway,
  startTwoNodes,
  until,
} from "../kit/index.ts";

const CALLS = 40;

const postgres = sharedPostgres();
let upstream: GatedUpstream;
beforeAll(() => {
  upstream = startGatedUpstream();
});
afterAll(() => upstream.stop());

const bodyOf = (model: string): object => gatedBody(model, { max_tokens: 10 });

async function startTwo() {
  const options = {
    storage: await postgres.createDatabase(),
    providers: { openai: { kind: "openai", base_url: upstream.url, api_key: "unused" } },
  };
  return { options, nodes: await startTwoNodes(options) };
}

/** Calls on both nodes in turn; returns how each was answered. */
async function callInTurn(nodes: readonly [Gateway, Gateway], token: string, model: string): Promise<number[]> {
  let refused = 0;
  const calls = Array.from({ length: CALLS }, async (_, index) => {
    const answer = await postChat(nodes[index % 2 === 0 ? 0 : 1], token, bodyOf(model));
    if (answer.status === 429) refused += 1;
    await answer.text();
    return answer.status;
  });
  await until("all calls are decided", () => upstream.received(model).length + refused === CALLS);
  upstream.release(model);
  return Promise.all(calls);
}

test.each([
  ["calls at the same time", { concurrency: 7 }],
  ["requests a minute", { rpm: 7 }],
])(
  "a token for 7 %s gets exactly 7 from two nodes",
  async (_title, limits) => {
    const { nodes } = await startTwo();
    const [first] = nodes;
    const token = await first.token({ user: "user", ...limits });
    const model = `held-${Object.keys(limits).join("")}`;
    const statuses = await callInTurn(nodes, token, model);
    expect(statuses.filter((status) => status === 200)).toHaveLength(7);
    expect(statuses.filter((status) => status === 429)).toHaveLength(CALLS - 7);
    expect(upstream.received(model)).toHaveLength(7);
    for (const node of nodes.toReversed()) {
      if (node === first) await expectCleanAudit(first);
      expect(await node.stop()).toBe(0);
    }
  },
  20_000,
);

test("calls that were open on a node that died count until their leases have run out", async () => {
  const { options, nodes } = await startTwo();
  const [first, second] = nodes;
  const token = await first.token({ user: "user", concurrency: 2 });
  const model = "held-dying";
  const cut = [1, 2].map(() => postChat(second, token, bodyOf(model)).catch(() => undefined));
  await until("the upstream has them", () => upstream.received(model).length === 2);
  second.process.kill("SIGKILL");
  await Promise.all([...cut, second.process.exited, second.stop()]);
  const quick = async (): Promise<number> => {
    const answer = await postChat(first, token, bodyOf("quick"));
    await answer.text();
    return answer.status;
  };
  expect(await quick()).toBe(429);
  await letLeasesLapse(first.storage);
  // A node sweeps when it starts.
  const third = await startGateway(options);
  await until("they are swept", async () => (await quick()) === 200);
  await expectCleanAudit(first);
  expect(await Promise.all([first.stop(), third.stop()])).toEqual([0, 0]);
});
