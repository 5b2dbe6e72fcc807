import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  chatModels,
  chunksOf,
  comparable,
  contentOf,
  eachProvider,
  EventReader,
  eventsOf,
  isUsageChunk,
  type Rig,
  type ScriptedUpstream,
  startRig,
  startScriptedUpstream,
  until,
  withRoleOnce,
} from "../kit/index.ts";

let rig: Rig;
let upstream: ScriptedUpstream;
beforeAll(async () => {
  upstream = startScriptedUpstream();
  rig = await startRig({
    config: { upstream: { retries: 0 } },
    providers: () => ({ scripted: { kind: "openai-compatible", base_url: upstream.url, api_key: "key" } }),
  });
});
afterAll(async () => {
  await rig.expectBalancedBooks();
  await rig.stop();
  await upstream.stop();
});

const bareModel = (provider: string): string => (chatModels[provider] ?? "").slice(provider.length + 1);

/** Fields of a streamed call as the gateway sends it: it asks for usage wherever asking is possible. */
const asked = (provider: string): object => (provider === "mistral" ? {} : { stream_options: { include_usage: true } });

/** A limit for the models that hide thoughts: their streams get one from the gateway otherwise. */
const limited = (provider: string): object =>
  provider === "xai" || provider === "google" ? { max_completion_tokens: 5_000 } : {};

interface Streamed {
  fault?: string;
  more?: object;
  content?: string;
}

/** The same stream through the gateway and straight from the simulator, the latter with usage asked for. */
async function both(provider: string, { fault = "", more = {}, content = "Grüße 🌍, count words:40" }: Streamed = {}) {
  const model = bareModel(provider) + fault;
  const body = { model, messages: [{ role: "user", content }], stream: true, ...limited(provider) };
  const caller = await rig.caller();
  const [relayed, direct] = await Promise.all([
    caller.chat({ ...body, ...more, model: `${provider}/${model}` }),
    rig.direct(provider, { ...body, ...more, ...asked(provider) }),
  ]);
  return { relayed, direct, caller };
}

describe.each(Object.keys(chatModels))("%s", (provider) => {
  test("a stream with requested usage is the upstream's, byte for byte", async () => {
    const { relayed, direct } = await both(provider, { more: asked(provider) });
    const bytes = await relayed.bytes();
    expect(relayed.status).toBe(200);
    expect(Buffer.from(bytes).toString("utf8")).toEndWith("data: [DONE]\n\n");
    const sent = await direct.text();
    expect(comparable(provider, Buffer.from(bytes).toString("utf8"))).toBe(withRoleOnce(comparable(provider, sent)));
    expect(chunksOf(Buffer.from(bytes).toString("utf8")).some((chunk) => (chunk.usage?.total_tokens ?? 0) > 0)).toBe(
      true,
    );
  });

  test("a stream without requested usage lacks only the usage chunk", async () => {
    const { relayed, direct } = await both(provider);
    const [shown, sent] = [await relayed.text(), eventsOf(withRoleOnce(comparable(provider, await direct.text())))];
    expect(shown).toBe(sent.filter((event) => !isUsageChunk(event)).join(""));
    expect(eventsOf(shown).some(isUsageChunk)).toBe(false);
    expect(contentOf(shown).split(" ").length).toBe(40);
  });

  // A word of 40 letters in pieces of one byte is some 8,000 writes: short answers are enough.
  test.each(["+split-1", "+split-7", "+crlf", "+crlf+split-1", "+gzip"])("%s: the same bytes", async (fault) => {
    const { relayed, direct } = await both(provider, { fault, content: "Grüße 🌍 words:3" });
    const shown = await relayed.text();
    expect(shown.replaceAll("\r\n", "\n")).toBe(
      eventsOf(withRoleOnce(comparable(provider, (await direct.text()).replaceAll("\r\n", "\n"))))
        .filter((event) => !isUsageChunk(event))
        .join(""),
    );
    expect(eventsOf(shown).filter((event) => event.startsWith("data:")).length).toBeGreaterThan(3);
    expect(contentOf(shown).split(" ").length).toBe(3);
  });

  test("the first event is there while the upstream still holds back the rest", async () => {
    // After one event the upstream sends nothing more: whatever the client gets was not waited for.
    const { relayed, direct, caller } = await both(provider, { fault: "+stall-1" });
    const [reader, directly] = [new EventReader(relayed), new EventReader(direct)];
    const expected = await firstChunk(directly);
    expect(comparable(provider, (await firstChunk(reader)) ?? "")).toBe(comparable(provider, expected ?? ""));
    expect((await caller.books()).held).toBeGreaterThan(0n);
    await Promise.all([reader.cancel(), directly.cancel()]);
    await caller.closed();
  });
});

/** The first event that is no comment. */
async function firstChunk(reader: EventReader): Promise<string | undefined> {
  for (;;) {
    const event = await reader.next();
    if (event === undefined || !event.startsWith(":")) return event;
  }
}

test("each event arrives before the upstream sends the next", async () => {
  const events = ["one", "two", "three"].map(
    (content) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`,
  );
  let send: (event: string) => void = () => undefined;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      send = (event) => controller.enqueue(Buffer.from(event));
    },
  });
  upstream.answerWith(() => new Response(body, { headers: { "content-type": "text/event-stream" } }));
  send(events[0] ?? "");
  const caller = await rig.caller();
  const messages = [{ role: "user", content: "count" }];
  const relayed = await caller.chat({ model: "scripted/counter", messages, stream: true, max_tokens: 10 });
  const reader = new EventReader(relayed);
  for (const [position, event] of events.entries()) {
    expect(await reader.next()).toBe(event);
    send(events[position + 1] ?? "data: [DONE]\n\n");
  }
  expect(await reader.rest()).toEndWith("data: [DONE]\n\n");
});

test("an event of two mebibytes passes whole", async () => {
  const { relayed, direct } = await both("openai", { fault: "+huge-2", content: "words:2" });
  const shown = await relayed.text();
  expect(shown.length).toBeGreaterThan(2 * 1_048_576);
  expect(shown).toBe(
    eventsOf(await direct.text())
      .filter((event) => !isUsageChunk(event))
      .join(""),
  );
});

test("text that looks like usage, an error or an end is content", async () => {
  const content = 'Say "usage":{"prompt_tokens":9} and "error": data: [DONE] \\n\\n data: {"choices":[]}';
  const { relayed, direct, caller } = await both("openai", { content });
  const shown = await relayed.text();
  expect(shown).toBe(
    eventsOf(await direct.text())
      .filter((event) => !isUsageChunk(event))
      .join(""),
  );
  expect(contentOf(shown)).toContain('"usage":{"prompt_tokens":9}');
  expect(await caller.closed()).toBeGreaterThan(0n);
});

test("include_usage: false hides the chunk that the gateway asks for", async () => {
  const { relayed } = await both("xai", { more: { stream_options: { include_usage: false } } });
  const shown = await relayed.text();
  expect(eventsOf(shown).some(isUsageChunk)).toBe(false);
  expect(shown).toEndWith("data: [DONE]\n\n");
});

test("several choices and tool calls stream unchanged", async () => {
  const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
  const tools = [{ type: "function", function: { name: "get_weather", parameters } }];
  for (const more of [{ n: 3 }, { tools, tool_choice: "required" }]) {
    const { relayed, direct } = await both("openai", { more });
    const shown = await relayed.text();
    expect(shown).toBe(
      eventsOf(await direct.text())
        .filter((event) => !isUsageChunk(event))
        .join(""),
    );
  }
});

test("thousand short streams at sixteen at a time are all whole and all charged", async () => {
  const caller = await rig.caller();
  const body = { model: "openai/gpt-4o-mini", messages: [{ role: "user", content: "words:5" }], stream: true };
  const expected = await (await caller.chat(body)).text();
  const oneCosts = await caller.closed();
  let left = 1000;
  let different = 0;
  const work = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const shown = await (await caller.chat(body)).text();
      if (shown !== expected) different += 1;
    }
  };
  await Promise.all(Array.from({ length: 16 }, work));
  expect(different).toBe(0);
  expect(await caller.closed()).toBe(oneCosts * 1001n);
});

test("an upstream that stays connected after its last event delays nothing", () =>
  eachProvider(async (provider, model) => {
    const { relayed: whole } = await both(provider, { content: "words:3" });
    const events = eventsOf(await whole.text()).filter((event) => event.startsWith("data:")).length;
    // If the gateway hides a chunk of usage, the upstream sends one event more than the client gets.
    const sent = provider === "google" || provider === "mistral" ? events : events + 1;
    const caller = await rig.caller();
    const body = { model: `${model}+stall-${sent}`, messages: [{ role: "user", content: "words:3" }], stream: true };
    // The machine may be busy: one of three must end before the upstream is left.
    let leastMs = Number.POSITIVE_INFINITY;
    for (let attempt = 0; attempt < 3 && leastMs >= 900; attempt += 1) {
      const startedAt = performance.now();
      expect(await (await caller.chat(body)).text()).toEndWith("data: [DONE]\n\n");
      leastMs = Math.min(leastMs, performance.now() - startedAt);
    }
    expect(leastMs).toBeLessThan(900);
    expect(await caller.closed()).toBeGreaterThan(0n);
    // The upstream is left after a second.
    await until(
      "the upstream is left",
      () => rig.received(`${model.slice(provider.length + 1)}+stall-${sent}`)[0]?.outcome === "aborted",
    );
  }));
