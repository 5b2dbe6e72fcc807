/** A refusal from the view of the official SDK. */
import { expect, test } from "bun:test";
import OpenAI from "openai";
import { sharedGatedGateway, until } from "../kit/index.ts";

const gated = sharedGatedGateway();

const call = (client: OpenAI, model: string) =>
  client.chat.completions.create({ model: `openai/${model}`, messages: [{ role: "user", content: "hi" }] });

test("a call beyond a limit is a RateLimitError with the delay", async () => {
  const token = await gated.gateway.token({ user: "limited", rpm: 1 });
  const client = new OpenAI({ baseURL: `${gated.gateway.url}/v1`, apiKey: token, maxRetries: 0 });
  const { response } = await call(client, "quick").withResponse();
  expect(response.headers.get("x-ratelimit-remaining-requests")).toBe("0");
  const error: unknown = await call(client, "quick").catch((thrown: unknown) => thrown);
  if (!(error instanceof OpenAI.RateLimitError)) throw new Error(`no RateLimitError: ${String(error)}`);
  expect(error).toMatchObject({
    status: 429,
    code: "rate_limit_exceeded",
    type: "rate_limit_error",
    requestID: expect.stringMatching(/^req_/) as unknown,
  });
  expect(error.message).toContain("This token is limited to 1 request a minute.");
  expect(Number(error.headers.get("retry-after"))).toBeWithin(1, 61);
});

test("the SDK's own retries wait for an open call to end, and succeed", async () => {
  const token = await gated.gateway.token({ user: "patient", concurrency: 1 });
  const statuses: number[] = [];
  const client = new OpenAI({
    baseURL: `${gated.gateway.url}/v1`,
    apiKey: token,
    fetch: async (...request) => {
      const answer = await fetch(...request);
      statuses.push(answer.status);
      return answer;
    },
  });
  const first = call(client, "held-first");
  await until("the upstream has it", () => gated.upstream.received("held-first").length === 1);
  const second = call(client, "quick");
  await until("it has been refused once", () => statuses.includes(429));
  gated.upstream.release("held-first");
  expect((await second).choices[0]?.message.content).toBe("hello there");
  expect((await first).choices[0]?.message.content).toBe("hello there");
});
