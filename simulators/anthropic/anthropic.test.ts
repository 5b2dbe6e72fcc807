import { afterAll, beforeAll, expect, test } from "bun:test";

import { type Simulators, startSimulators } from "../index.ts";
import { bodyOf, chat, get, post } from "../testing/client.ts";

let simulators: Simulators;

beforeAll(async () => {
  simulators = await startSimulators();
});
afterAll(() => simulators.stop());

test("the native listing needs a version, takes both kinds of keys, and comes in pages", async () => {
  const url = `${simulators.providers.anthropic}/v1/models`;
  const bare = await fetch(url, { headers: { "x-api-key": "good-key" } });
  expect(bare.status).toBe(400);
  expect(await bare.json()).toMatchObject({ type: "error", error: { type: "invalid_request_error" } });
  const ids: string[] = [];
  let more = true;
  while (more) {
    const after = ids.length === 0 ? "" : `&after_id=${ids.at(-1)}`;
    const headers = { "x-api-key": "good-key", "anthropic-version": "2023-06-01" };
    const page = (await (await fetch(`${url}?limit=2${after}`, { headers })).json()) as {
      data: { id: string; created_at: string; max_input_tokens: number }[];
      has_more: boolean;
      last_id: string;
    };
    expect(page.data[0]?.created_at).toMatch(/^\d{4}-.+Z$/);
    ids.push(...page.data.map((model) => model.id));
    expect(page.last_id).toBe(ids.at(-1) ?? "");
    more = page.has_more;
  }
  expect(ids).toHaveLength(5);
  const bearer = await get(`${url}?before_id=${ids[3]}&limit=2`, { "anthropic-version": "2026-10-21" });
  expect(bodyOf(bearer)).toMatchObject({ first_id: ids[1], last_id: ids[2], has_more: true });
});

test("the request id has a header of its own", async () => {
  const reply = await post(`${simulators.providers.anthropic}/v1/chat/completions`, chat("claude-haiku-4-5", "hi"));
  expect(reply.headers.get("request-id")).toStartWith("req_");
});
