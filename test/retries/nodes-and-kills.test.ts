/** Retry keys beyond one process: several nodes on one Postgres, and a gateway that is killed under a call. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  engines,
  EventReader,
  expectCleanAudit,
  gatedBody,
  gatedCosts,
  type GatedUpstream,
  type Gateway,
  letLeasesLapse,
  postChat,
  sharedPostgres,
  spentBy,
  startGatedUpstream,
  startGateway,
  startTwoNodes,
  storageOn,
  until,
  userBooks,
} from "../kit/index.ts";

const postgres = sharedPostgres();
let upstream: GatedUpstream;
beforeAll(() => {
  upstream = startGatedUpstream();
});
afterAll(() => upstream.stop());

const bodyOf = (model: string, stream = false): object => gatedBody(model, { max_tokens: 10, stream });
const key = { "idempotency-key": "key" };

const options = () => ({
  providers: { openai: { kind: "openai", base_url: upstream.url, api_key: "unused" } },
});

const isRefusal = ({ status }: Response): boolean => status === 503;

test("one key on two nodes at once is one call; each of them gives its answer again", async () => {
  const nodes = await startTwoNodes({ ...options(), storage: await postgres.createDatabase() });
  const [first, second] = nodes;
  const token = await first.token({ user: "user" });
  let refused = 0;
  const calls = Array.from({ length: 40 }, async (_, index) => {
    const answer = await postChat(index % 2 === 0 ? first : second, token, bodyOf("held-nodes"), { headers: key });
    if (answer.status === 409) refused += 1;
    return { status: answer.status, text: await answer.text() };
  });
  await until("all others are refused", () => refused === 39);
  upstream.release("held-nodes");
  const answered = (await Promise.all(calls)).filter(({ status }) => status === 200);
  expect(answered).toHaveLength(1);
  for (const node of nodes) {
    const again = await postChat(node, token, bodyOf("held-nodes"), { headers: key });
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(await again.text()).toBe(answered[0]?.text ?? "");
  }
  expect(upstream.received("held-nodes")).toHaveLength(1);
  expect(await spentBy(first, "user")).toBe(gatedCosts);
  await expectCleanAudit(first);
  expect(await Promise.all(nodes.map((node) => node.stop()))).toEqual([0, 0]);
});

test("a call that failed on one node may be sent again to the other at once", async () => {
  const nodes = await startTwoNodes({ ...options(), storage: await postgres.createDatabase() });
  const token = await nodes[0].token({ user: "user" });
  for (let times = 1; times <= 20; times += 1) {
    const answer = await postChat(nodes[times % 2 === 0 ? 0 : 1], token, bodyOf("fails"), { headers: key });
    expect(answer.status).toBe(400);
    await answer.text();
  }
  expect(await Promise.all(nodes.map((node) => node.stop()))).toEqual([0, 0]);
});

test("a stopping gateway waits for a call whose client has disconnected, and its answer exists afterwards", async () => {
  const first = await startGateway(options());
  const token = await first.token({ user: "user" });
  const body = bodyOf("held-stopping", true);
  const reader = new EventReader(await postChat(first, token, body, { headers: key }));
  await reader.next();
  await reader.cancel();
  const early = await postChat(first, token, body, { headers: key });
  expect(early.status).toBe(409);
  const stopping = first.stop({ keepFolder: true });
  await until("it takes no more calls", () => fetch(first.url + "/v1/models").then(isRefusal, () => true));
  upstream.release("held-stopping");
  expect(await stopping).toBe(0);

  const second = await startGateway({ ...options(), folder: first.folder });
  const again = await postChat(second, token, body, { headers: key });
  expect(again.headers.get("idempotent-replayed")).toBe("true");
  expect(await again.text()).toEndWith("data: [DONE]\n\n");
  expect((await userBooks(second, "user")).spent).toBe(gatedCosts);
  expect(upstream.received("held-stopping")).toHaveLength(1);
  expect(await second.stop()).toBe(0);
});

describe.each(engines)("on %s", (engine) => {
  test("after its gateway was killed a key is free once the hold has expired; answers that were kept are still there", async () => {
    const storage = await storageOn(engine, postgres);
    const killed = await startGateway({ ...options(), ...storage });
    const token = await killed.token({ user: "user" });
    const call = (gateway: Gateway, name: string, body: object): Promise<Response> =>
      postChat(gateway, token, body, { headers: { "idempotency-key": name } });

    const kept = await (await call(killed, "kept", bodyOf("quick"))).text();
    const model = `held-${engine}`;
    const whole = call(killed, "whole", bodyOf(model)).catch(() => undefined);
    const stream = new EventReader(await call(killed, "stream", bodyOf(model, true)));
    expect(await stream.next()).toContain("hello");
    await until("the upstream has both", () => upstream.received(model).length === 2);
    killed.process.kill("SIGKILL");
    await Promise.all([whole, stream.rest().catch(() => undefined), killed.process.exited]);
    await killed.stop({ keepFolder: true });
    upstream.release(model);

    const restarted = await startGateway({ ...options(), ...storage, folder: killed.folder });
    // The leases are still valid: whether the calls have ended is unknown.
    for (const [name, body] of [
      ["whole", bodyOf(model)],
      ["stream", bodyOf(model, true)],
    ] as const) {
      const early = await call(restarted, name, body);
      expect(early.status).toBe(409);
      expect(await early.text()).toContain("idempotency_key_in_use");
    }
    const again = await call(restarted, "kept", bodyOf("quick"));
    expect([again.headers.get("idempotent-replayed"), await again.text()]).toEqual(["true", kept]);

    await letLeasesLapse(restarted.storage);
    // A node sweeps when it starts.
    expect(await restarted.stop({ keepFolder: true })).toBe(0);
    const swept = await startGateway({ ...options(), ...storage, folder: killed.folder });
    const free = (name: string, body: object): Promise<string> =>
      until("the key is free", async () => {
        const answer = await call(swept, name, body);
        const text = await answer.text();
        return answer.status === 200 && !answer.headers.has("idempotent-replayed") && text;
      });
    expect(await free("whole", bodyOf(model))).toContain("hello there");
    expect(await free("stream", bodyOf(model, true))).toEndWith("data: [DONE]\n\n");
    expect(upstream.received(model)).toHaveLength(4);
    // The killed calls were free: nothing of them had been written down.
    expect(await spentBy(swept, "user")).toBe(3n * gatedCosts);
    await expectCleanAudit(swept);
    expect(await swept.stop()).toBe(0);
  });
});
