/** The script of a page that calls a gateway with both official SDKs. The test bundles it and calls `window.run`. */
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";

/** The page's view of its calls, as text. */
export type Seen = Record<string, string | null>;

async function withOpenai(url: string, apiKey: string): Promise<Seen> {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey, dangerouslyAllowBrowser: true, maxRetries: 0 });
  const body = { model: "anthropic/claude-haiku-4-5", messages: [{ role: "user" as const, content: "Hello!" }] };
  const { data, response } = await client.chat.completions.create(body).withResponse();
  const streamed = await client.chat.completions.stream(body).finalContent();
  const models = await client.models.list();
  return {
    text: data.choices[0]?.message.content ?? null,
    requestId: response.headers.get("x-request-id"),
    credits: response.headers.get("x-tollgate-credits"),
    streamed,
    firstModel: models.data[0]?.id ?? null,
  };
}

async function withAnthropic(url: string, apiKey: string): Promise<Seen> {
  const client = new Anthropic({ baseURL: url, apiKey, dangerouslyAllowBrowser: true, maxRetries: 0 });
  const messages = [{ role: "user" as const, content: "Hello!" }];
  const body = { model: "openai/gpt-4.1-mini", max_tokens: 64, messages };
  const { data, response } = await client.messages.create(body).withResponse();
  const streamed = await client.messages.stream(body).finalText();
  return {
    text: data.content[0]?.type === "text" ? data.content[0].text : null,
    requestId: response.headers.get("request-id"),
    credits: response.headers.get("x-tollgate-credits"),
    streamed,
  };
}

/** A page's view of a failure; a browser tells it nothing of an answer that it may not read. */
const failureOf = (error: unknown): Seen => {
  if (error instanceof OpenAI.APIError || error instanceof Anthropic.APIError) {
    return { failure: String(error.status ?? error.message), requestId: error.requestID ?? null };
  }
  return { failure: String(error) };
};

Object.assign(globalThis, {
  run: async (sdk: "openai" | "anthropic", url: string, token: string): Promise<Seen> =>
    (sdk === "openai" ? withOpenai(url, token) : withAnthropic(url, token)).catch(failureOf),
});
