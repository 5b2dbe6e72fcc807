import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { type Simulators, startSimulators } from "../index.ts";
import { asObject } from "../shared/json.ts";
import {
  bodyOf,
  chat,
  chunksOf,
  completionOf,
  eventsOf,
  get,
  listOf,
  member,
  post,
  weatherTool,
} from "../testing/client.ts";

let simulators: Simulators;

beforeAll(async () => {
  simulators = await startSimulators();
});
afterAll(() => simulators.stop());

const ask = (body: unknown) => post(`${simulators.providers.byteplus}/chat/completions`, body);

test("errors are in camel case; the two limits exclude each other", async () => {
  const reply = await ask(chat("seed-1-6", "hi", { max_tokens: 5, max_completion_tokens: 5 }));
  expect(reply.status).toBe(400);
  expect(member(bodyOf(reply), "error")).toMatchObject({
    code: "InvalidParameter",
    type: "BadRequest",
    param: "max_completion_tokens",
  });
  expect(member(bodyOf(await ask({ messages: [] })), "error", "code")).toBe("MissingParameter");
  expect(member(bodyOf(await ask(chat("missing-x", "hi"))), "error", "code")).toBe("InvalidEndpointOrModel.NotFound");
});

test("usage of every chunk can be asked for", async () => {
  const stream_options = { chunk_include_usage: true };
  const chunks = chunksOf(await ask(chat("seed-1-6", "hi", { stream: true, stream_options })));
  expect(chunks.every((chunk) => typeof chunk.usage?.total_tokens === "number")).toBe(true);
});

test("reasoning has a field of its own and a call's content is empty, not null", async () => {
  const thinking = { type: "enabled" };
  const completion = completionOf(await ask(chat("seed-1-6", "hi", { thinking, tools: [weatherTool] })));
  expect(completion.choices[0]?.message.content).toBe("");
  expect(completion.choices[0]?.message.reasoning_content).toBeString();
});

test("encrypted reasoning comes back unchanged, or not at all", async () => {
  const asked = chat("seed-1-6", "hi", { thinking: { type: "enabled" }, tools: [weatherTool] });
  const message = member(bodyOf(await ask(asked)), "choices", 0, "message");
  const id = member(message, "tool_calls", 0, "id");
  const back = (more: object) => ({
    ...asked,
    messages: [
      { role: "user", content: "hi" },
      { ...asObject(message), ...more },
      { role: "tool", tool_call_id: id, content: "18 degrees" },
    ],
  });
  expect((await ask(back({}))).status).toBe(200);
  expect((await ask(back({ encrypted_content: undefined }))).status).toBe(200);
  expect((await ask(back({ encrypted_content: "AAAA" }))).status).toBe(400);
});

test("a filtered answer shows it in its finish reason and its hit", async () => {
  const [choice] = completionOf(await ask(chat("seed-1-6", "refuse:violence"))).choices;
  expect(choice).toMatchObject({ finish_reason: "content_filter", moderation_hit_type: "severe_violation" });
});

describe("responses", () => {
  const url = () => `${simulators.providers.byteplus}/responses`;
  const respond = (body: object) => post(url(), { model: "seed-1-6", ...body });

  test("leave out unrequested members, and live for three days", async () => {
    const body = asObject(bodyOf(await respond({ input: "hi" })));
    expect(Number(body["expire_at"]) - Number(body["created_at"])).toBe(259_200);
    expect(body).toMatchObject({ caching: { type: "disabled" }, store: true, service_tier: "default" });
    for (const absent of ["tools", "temperature", "instructions", "reasoning"]) expect(body).not.toHaveProperty(absent);
    const kept = await respond({ input: "hi", thinking: { type: "enabled" }, expire_at: 2_000_000_000 });
    expect(bodyOf(kept)).toMatchObject({ expire_at: 2_000_000_000, thinking: { type: "enabled" } });
    expect(member(bodyOf(kept), "output", 0, "summary", 0, "text")).toBeString();
  });

  test("have no refusals: a filtered one is incomplete", async () => {
    const events = eventsOf(await respond({ input: "refuse:violence", stream: true }));
    expect(events.at(-2)).toMatchObject({
      event: "response.incomplete",
      data: { response: { incomplete_details: { reason: "content_filter", content_filter: { type: "violence" } } } },
    });
  });

  test("are refused with this provider's codes", async () => {
    const codes = [
      { input: "hi", include: ["web_search_call.results"] },
      { input: "hi", thinking: { type: "sometimes" } },
      { input: "hi", instructions: "x", caching: { type: "enabled", prefix: true } },
      { input: "hi", previous_response_id: "resp_none" },
      { input: [{ type: "reasoning", summary: [], encrypted_content: "AAAA" }] },
      { input: [{ type: "function_call_output", call_id: "call_1", output: "x" }] },
    ];
    for (const body of codes) {
      const reply = await respond(body);
      expect([reply.status, member(bodyOf(reply), "error", "code")], reply.text).toEqual([400, "InvalidParameter"]);
    }
    expect((await get(`${url()}/resp_none`)).status).toBe(404);
  });

  test("take a beta tool with its header only", async () => {
    const body = { model: "seed-1-6", input: "hi", tools: [{ type: "web_search" }] };
    expect((await post(url(), body)).status).toBe(400);
    expect((await post(url(), body, { "ark-beta-web-search": "true" })).status).toBe(200);
  });

  test("take video, and list their input", async () => {
    const content = [
      { type: "input_video", video_url: "https://example.com/a.mp4", fps: 1 },
      { type: "input_text", text: "see" },
    ];
    const body = bodyOf(await respond({ input: [{ role: "user", content }] }));
    expect(member(body, "output", 0, "content", 0, "text")).toContain("I see video https://example.com/a.mp4.");
    const items = listOf(await get(`${url()}/${String(member(body, "id"))}/input_items`), "data");
    expect(member(items, 0, "content")).toEqual(content);
  });
});
