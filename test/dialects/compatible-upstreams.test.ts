/** An openai-compatible upstream that has Responses and Messages too: each client reaches it in its own dialect. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { failureOf } from "../kit/failure-of.ts";
import { type Caller, post, type Rig, simulatedKey, startGateway, startRig } from "../kit/index.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({
    providers: ({ providers }) => {
      const entry = (more: object) => ({
        kind: "openai-compatible",
        base_url: providers["openai-compatible"],
        api_key: simulatedKey,
        ...more,
      });
      return {
        plain: entry({}),
        all: entry({ dialects: ["chat", "responses", "messages"] }),
        responses: entry({ dialects: ["responses"] }),
        messages: entry({ dialects: ["messages"] }),
        router: entry({ preset: "openrouter" }),
        routed: entry({ preset: "openrouter", dialects: ["chat"] }),
      };
    },
  });
});
afterEach(() => rig.expectBalancedBooks());
afterAll(() => rig.stop());

const text = "words:3";

/** One whole and one streamed call in each dialect; each answers with its text. */
const clients: Record<string, (token: string, model: string) => Promise<string[]>> = {
  async chat(token, model) {
    const { completions } = new OpenAI({ baseURL: `${rig.gateway.url}/v1`, apiKey: token }).chat;
    const body = { model, messages: [{ role: "user" as const, content: text }] };
    const whole = await completions.create(body);
    const stream = await completions.create({ ...body, stream: true });
    const deltas = (await Array.fromAsync(stream)).map(({ choices }) => choices[0]?.delta.content ?? "");
    return [whole.choices[0]?.message.content ?? "", deltas.join("")];
  },
  async responses(token, model) {
    const { responses } = new OpenAI({ baseURL: `${rig.gateway.url}/v1`, apiKey: token });
    const whole = await responses.create({ model, input: text });
    const stream = await responses.create({ model, input: text, stream: true });
    const deltas = (await Array.fromAsync(stream)).map((event) =>
      event.type === "response.output_text.delta" ? event.delta : "",
    );
    return [whole.output_text, deltas.join("")];
  },
  async messages(token, model) {
    const { messages } = new Anthropic({ baseURL: rig.gateway.url, apiKey: token });
    const body = { model, max_tokens: 50, messages: [{ role: "user" as const, content: text }] };
    const whole = await messages.create(body);
    const stream = await messages.create({ ...body, stream: true });
    const deltas = (await Array.fromAsync(stream)).map((event) =>
      event.type === "content_block_delta" && event.delta.type === "text_delta" ? event.delta.text : "",
    );
    return [whole.content.map((block) => (block.type === "text" ? block.text : "")).join(""), deltas.join("")];
  },
};

const paths: Record<string, string> = { chat: "/chat/completions", responses: "/responses", messages: "/messages" };

describe("a call", () => {
  test.each([
    ["plain", "chat", "chat"],
    ["plain", "responses", "chat"],
    ["plain", "messages", "chat"],
    ["all", "chat", "chat"],
    ["all", "responses", "responses"],
    ["all", "messages", "messages"],
    ["responses", "chat", "responses"],
    ["responses", "responses", "responses"],
    ["responses", "messages", "responses"],
    ["messages", "chat", "messages"],
    ["messages", "responses", "messages"],
    ["messages", "messages", "messages"],
    ["router", "chat", "chat"],
    ["router", "responses", "responses"],
    ["router", "messages", "chat"],
    ["routed", "responses", "chat"],
  ])("of %s from a client of %s goes out in %s, and is charged", async (prefix, dialect, sent) => {
    const caller = await rig.caller();
    rig.simulators.clear();
    const [whole, streamed] = (await clients[dialect]?.(caller.token, `${prefix}/claude-haiku-4-5`)) ?? [];
    expect(whole?.split(" ")).toHaveLength(3);
    expect(streamed).toBe(whole ?? "");
    const received = rig.simulators.requests();
    expect(received.map(({ path }) => path)).toEqual([1, 2].map(() => `/openai-compatible/v1${paths[sent]}`));
    for (const { headers } of received) {
      expect(headers["authorization"]).toBe(`Bearer ${simulatedKey}`);
      expect(headers["x-api-key"]).toBe(sent === "messages" ? simulatedKey : undefined);
    }
    expect(await caller.closed()).toBeGreaterThan(0n);
  });
});

describe("Responses of an upstream that stores none", () => {
  const newClient = ({ token }: Caller): OpenAI => new OpenAI({ baseURL: `${rig.gateway.url}/v1`, apiKey: token });

  test("are stored by the gateway, with the whole input, and continued from there", async () => {
    const caller = await rig.caller();
    const { responses } = newClient(caller);
    // Longer than what the gateway decodes of a body that passes through.
    const long = `${"x".repeat(200_000)} the end`;
    const first = await responses.create({ model: "all/claude-haiku-4-5", input: long });
    expect(await responses.retrieve(first.id)).toMatchObject({ id: first.id, status: "completed" });
    const items = await responses.inputItems.list(first.id);
    expect(JSON.stringify(items.data)).toContain(`x the end`);
    rig.simulators.clear();
    const next = await responses.create({
      model: "all/claude-haiku-4-5",
      input: "And now?",
      previous_response_id: first.id,
    });
    expect(next.status).toBe("completed");
    const [sent] = rig.simulators.requests();
    expect(sent?.path).toBe("/openai-compatible/v1/responses");
    expect(sent?.body).not.toContain("previous_response_id");
    await responses.delete(first.id);
    expect(await failureOf(responses.retrieve(first.id))).toMatchObject({ status: 404 });
  });

  test("never get a tool of OpenAI's, whose cost is not known there", async () => {
    const caller = await rig.caller();
    rig.simulators.clear();
    const { responses } = newClient(caller);
    const asked = { model: "all/claude-haiku-4-5", input: text, tools: [{ type: "web_search" as const }] };
    expect((await responses.create(asked)).status).toBe("completed");
    expect(rig.simulators.requests().map(({ body }) => body.includes("web_search"))).toEqual([false]);
    const demanded = responses.create({ ...asked, tool_choice: { type: "web_search_preview" } });
    expect(await failureOf(demanded)).toMatchObject({ status: 422 });
  });
});

test.each(["/v1/responses", "/v1/messages"])(
  "a purchase without a price is refused at %s, as in chat",
  async (path) => {
    const caller = await rig.caller();
    const said = path === "/v1/responses" ? { input: text } : { messages: [{ role: "user", content: text }] };
    const body = { model: "all/claude-haiku-4-5", max_tokens: 50, plugins: [{ id: "web" }], ...said };
    const answer = await post(rig, path, caller.token, body);
    expect([answer.status, await answer.text()]).toEqual([
      422,
      expect.stringContaining("plugins") as unknown as string,
    ]);
  },
);

test("dialects that leave a provider without an operation stop the start", async () => {
  for (const [kind, dialect, own] of [
    ["anthropic", "responses", "chat and messages"],
    ["google", "messages", "chat and gemini"],
  ] as const) {
    const provider = { kind, base_url: "https://upstream.example", api_key: "k", dialects: [dialect] };
    expect(String(await failureOf(startGateway({ providers: { up: provider } })))).toContain(
      `tollgate: config: providers.up.dialects: a provider of this kind has ${own} only`,
    );
  }
});
