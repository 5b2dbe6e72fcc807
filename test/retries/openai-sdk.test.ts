/** Retry keys by the official SDK: it sends the key of a request where its client names the header. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import OpenAI from "openai";
import {
  type GatedUpstream,
  type Gateway,
  startGatedUpstream,
  startGateway,
  stopGateways,
  until,
  userBooks,
} from "../kit/index.ts";

let upstream: GatedUpstream;
let gateway: Gateway;
beforeAll(async () => {
  upstream = startGatedUpstream();
  gateway = await startGateway({
    providers: { openai: { kind: "openai", base_url: upstream.url, api_key: "unused" } },
  });
});
afterAll(async () => {
  await stopGateways();
  await upstream.stop();
});

/** The SDK has the option `idempotencyKey`, and leaves the header's name to who subclasses it. */
class RetryingOpenAI extends OpenAI {
  protected override idempotencyHeader = "Idempotency-Key";
}

const optionsFor = async (user: string) => ({
  baseURL: `${gateway.url}/v1`,
  apiKey: await gateway.token({ user }),
});

const chat = (model: string) => ({
  model: `openai/${model}`,
  messages: [{ role: "user" as const, content: "hi" }],
});

async function spentBy(user: string): Promise<bigint | undefined> {
  await until("nothing is held", async () => (await userBooks(gateway, user)).held === 0n);
  return (await userBooks(gateway, user)).spent;
}

const costs = 7_000n;

test("the request option idempotencyKey is the key", async () => {
  const client = new RetryingOpenAI(await optionsFor("option"));
  const first = await client.chat.completions.create(chat("quick"), { idempotencyKey: "key" });
  const again = await client.chat.completions.create(chat("quick"), { idempotencyKey: "key" }).withResponse();
  expect(again.data).toEqual(first);
  expect(again.response.headers.get("idempotent-replayed")).toBe("true");
  expect(await spentBy("option")).toBe(costs);
  const other: unknown = await client.chat.completions
    .create(chat("other"), { idempotencyKey: "key", maxRetries: 0 })
    .catch((thrown: unknown) => thrown);
  expect(other).toBeInstanceOf(OpenAI.ConflictError);
  expect(other).toMatchObject({ status: 409, code: "idempotency_key_reused", param: "idempotency-key" });
});

test("without such a client the header does it, for streams too", async () => {
  const client = new OpenAI(await optionsFor("header"));
  const options = { headers: { "Idempotency-Key": "key" } };
  const read = async (): Promise<object[]> => {
    const chunks: object[] = [];
    const stream = await client.chat.completions.create({ ...chat("quick"), stream: true }, options);
    for await (const chunk of stream) chunks.push(chunk);
    return chunks;
  };
  const first = await read();
  expect(first.length).toBeGreaterThan(2);
  expect(await read()).toEqual(first);
  expect(await spentBy("header")).toBe(costs);
});

test("a request that the SDK sends again after its own time-out is charged once, and answered", async () => {
  const client = new RetryingOpenAI({ ...(await optionsFor("late")), timeout: 300, maxRetries: 8 });
  const calling = client.chat.completions.create(chat("held-late"));
  await until("it has been sent again", () =>
    gateway.logLines().some((line) => line["error"] === "idempotency_key_in_use"),
  );
  upstream.release("held-late");
  expect((await calling).choices[0]?.message.content).toBe("hello there");
  expect(upstream.received("held-late")).toHaveLength(1);
  expect(await spentBy("late")).toBe(costs);
}, 15_000);
