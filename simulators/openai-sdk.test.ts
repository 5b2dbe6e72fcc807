import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import OpenAI, { RateLimitError } from "openai";
import type { ChatCompletionTool } from "openai/resources/chat/completions";

import { type Simulators, startSimulators } from "./index.ts";
import { failureOf, weatherTool } from "./testing/client.ts";
import { type Profile, profiles } from "./testing/profiles.ts";

let simulators: Simulators;

beforeAll(async () => {
  simulators = await startSimulators();
});
afterAll(() => simulators.stop());

function client(profile: Profile, apiKey = "good-key"): OpenAI {
  const baseURL = simulators.providers[profile.name] + profile.chatPath.replace("/chat/completions", "");
  return new OpenAI({ baseURL, apiKey, maxRetries: 0, defaultHeaders: { ...profile.listHeaders } });
}

const messages = [{ role: "user" as const, content: "hello sdk" }];
function ask(profile: Profile, model: string, apiKey?: string) {
  return client(profile, apiKey).chat.completions.create({ model, messages });
}

const tools: ChatCompletionTool[] = [{ ...weatherTool, type: "function" }];

describe.each(profiles.map((profile) => [profile.name, profile] as const))("%s", (_name, profile: Profile) => {
  test("a plain answer", async () => {
    const completion = await client(profile).chat.completions.create({ model: profile.model, messages });
    expect(completion.choices[0]?.message.content).toContain("hello sdk");
    expect(completion.usage?.total_tokens).toBeGreaterThan(0);
  });

  test("a stream", async () => {
    const stream = await client(profile).chat.completions.create({ model: profile.model, messages, stream: true });
    let text = "";
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? "";
    expect(text).toContain("hello sdk");
  });

  // The SDK joins fragments by `index` and refuses Google's deltas, which have none.
  test.skipIf(!profile.toolIndex)("a stream of tool calls, joined by the SDK", async () => {
    const content = "both in parallel";
    const body = { model: profile.model, messages: [{ role: "user" as const, content }], tools };
    const final = await client(profile).chat.completions.stream(body).finalChatCompletion();
    const calls = final.choices[0]?.message.tool_calls ?? [];
    expect(calls).toHaveLength(2);
    for (const call of calls) {
      expect(call.type === "function" && JSON.parse(call.function.arguments)).toEqual({ city: "sample city", days: 1 });
    }
  });

  test("errors are the SDK's classes", async () => {
    expect(await failureOf(ask(profile, `${profile.model}+status-429`))).toBeInstanceOf(RateLimitError);
    const refused = await failureOf(ask(profile, profile.model, "bad-key"));
    expect(refused).toMatchObject({ status: profile.statuses.keyInvalid });
  });

  test.skipIf(profile.modelsPath === null)("the models list", async () => {
    const ids: string[] = [];
    for await (const model of client(profile).models.list()) ids.push(model.id);
    expect(ids.length).toBeGreaterThanOrEqual(4);
  });
});

test("an error in the middle of a stream is thrown", async () => {
  const [profile] = profiles;
  if (profile === undefined) throw new Error("no profiles");
  const model = `${profile.model}+error-2`;
  const stream = await client(profile).chat.completions.create({ model, messages, stream: true });
  const read = async (): Promise<void> => {
    for await (const chunk of stream) expect(chunk.object).toBe("chat.completion.chunk");
  };
  expect(String(await failureOf(read()))).toContain("The server had an error");
});
