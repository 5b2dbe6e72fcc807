import { afterAll, beforeAll, expect, test } from "bun:test";

import { type Simulators, startSimulators } from "../index.ts";
import type { JsonObject } from "../shared/json.ts";
import { bodyOf, member, post, type Reply } from "../testing/client.ts";

let simulators: Simulators;

beforeAll(async () => {
  simulators = await startSimulators();
});
afterAll(() => simulators.stop());

function ask(content: unknown, more: JsonObject, beta = "message-threads-2026-08-12"): Promise<Reply> {
  const body = { model: "claude-haiku-4-5", max_tokens: 100, messages: [{ role: "user", content }], ...more };
  const headers = { "anthropic-version": "2026-10-21", ...(beta === "" ? {} : { "anthropic-beta": beta }) };
  return post(`${simulators.providers.anthropic}/v1/messages`, body, headers);
}

async function open(more: JsonObject = {}): Promise<string> {
  return String(member(bodyOf(await ask("hello", { thread: { type: "create" }, ...more })), "id"));
}

const goOn = (previous_message_id: string) => ({ thread: { type: "continue", previous_message_id } });

test("a thread holds the conversation with its system prompt and tools", async () => {
  const first = await open({ system: "be brief", stream: false });
  const second = bodyOf(await ask("again", goOn(first)));
  // The system prompt, two questions and the first answer.
  expect(member(second, "usage", "input_tokens")).toBe(10 + 14 + 4);
  const third = await ask("and again", goOn(String(member(second, "id"))));
  expect(third.status).toBe(200);
});

test("a streamed answer can be continued as well", async () => {
  const streamed = await ask("hello", { thread: { type: "create" }, stream: true });
  const id = /"id":"(msg_\w+)"/.exec(streamed.text)?.[1] ?? "";
  expect((await ask("again", goOn(id))).status).toBe(200);
});

test("each answer is continued once, and only stored ones", async () => {
  const first = await open();
  expect((await ask("again", goOn(first))).status).toBe(200);
  const twice = bodyOf(await ask("once more", goOn(first)));
  expect(member(twice, "error", "details")).toEqual({ error_code: "thread_already_continued" });
  const lost = await ask("again", goOn("msg_none"));
  expect(lost.status).toBe(404);
  expect(member(bodyOf(lost), "error", "details")).toEqual({ error_code: "thread_not_found" });
});

test("the thread's content is not sent again, and not everything can be threaded", async () => {
  const repeated = bodyOf(await ask("again", { ...goOn(await open()), system: "be brief" }));
  expect(member(repeated, "error", "details", "error_code")).toBe("thread_fingerprint_mismatch");
  const unsupported = bodyOf(await ask("hi", { thread: { type: "create" }, context_management: {} }));
  expect(member(unsupported, "error", "details")).toEqual({
    error_code: "thread_unsupported_request",
    unsupported: ["context_management"],
  });
});

test("threads are asked for in the beta header", async () => {
  const refused = await ask("hi", { thread: { type: "create" } }, "");
  expect(member(bodyOf(refused), "error", "message")).toBe("thread: Extra inputs are not permitted");
});
