/** Retry keys with the official SDK: it sends the key of a request if its client names the header. */
import { expect, test } from "bun:test";
import OpenAI from "openai";
import { gatedCosts, sharedGatedGateway, spentBy, until } from "../kit/index.ts";

const gated = sharedGatedGateway();

/** The SDK has the option `idempotencyKey`, and leaves the header's name to who subclasses it. */
class RetryingOpenAI extends OpenAI {
  protected override idempotencyHeader = "Idempotency-Key";
}

const optionsFor = async (user: string) => ({
  baseURL: `${gated.gateway.url}/v1`,
  apiKey: await gated.gateway.token({ user }),
});

const chat = (model: string) => ({
  model: `openai/${model}`,
  messages: [{ role: "user" as const, content: "hi" }],
});

test("the request option idempotencyKey is the key", async () => {
  const client = new RetryingOpenAI(await optionsFor("option"));
  const first = await client.chat.completions.create(chat("quick"), { idempotencyKey: "key" });
  const again = await client.chat.completions.create(chat("quick"), { idempotencyKey: "key" }).withResponse();
  expect(again.data).toEqual(first);
  expect(again.response.headers.get("idempotent-replayed")).toBe("true");
  expect(await spentBy(gated.gateway, "option")).toBe(gatedCosts);
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
  expect(await spentBy(gated.gateway, "header")).toBe(gatedCosts);
});

test("a request that the SDK sends again after its own time-out is charged once, and answered", async () => {
  const client = new RetryingOpenAI({ ...(await optionsFor("late")), timeout: 300, maxRetries: 8 });
  const calling = client.chat.completions.create(chat("held-late"));
  await until("it has been sent again", () =>
    gated.gateway.logLines().some((line) => line["error"] === "idempotency_key_in_use"),
  );
  gated.upstream.release("held-late");
  expect((await calling).choices[0]?.message.content).toBe("hello there");
  expect(gated.upstream.received("held-late")).toHaveLength(1);
  expect(await spentBy(gated.gateway, "late")).toBe(gatedCosts);
});
