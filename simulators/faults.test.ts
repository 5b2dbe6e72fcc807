import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { gunzipSync } from "node:zlib";

import { type Simulators, startSimulators } from "./index.ts";
import {
  bodyOf,
  chat,
  chunksOf,
  completionOf,
  eventData,
  failureOf,
  firstPiece,
  get,
  member,
  post,
  rawPost,
  until,
} from "./testing/client.ts";

let simulators: Simulators;
let url: string;

beforeAll(async () => {
  simulators = await startSimulators();
  url = `${simulators.providers.openai}/chat/completions`;
});
afterEach(() => simulators.clear());
afterAll(() => simulators.stop());

const stream = { stream: true };
const model = "gpt-4o-mini";

async function askStatus(faulty: string, key = "good-key"): Promise<number> {
  return (await post(url, chat(faulty, "hi"), { authorization: `Bearer ${key}` })).status;
}

function outcome(): string | undefined {
  return simulators.requests().at(-1)?.outcome;
}

describe("how a fault is asked for", () => {
  test("the model's suffix is taken off before the answer", async () => {
    const reply = await post(url, chat(`${model}+slow-1+pace-1`, "hi"));
    expect(completionOf(reply).model).toBe(model);
  });

  test("the request header works for requests without a model", async () => {
    const reply = await get(`${simulators.providers.openai}/models`, { "x-sim-fault": "status-503" });
    expect(reply.status).toBe(503);
    expect(member(bodyOf(reply), "error", "code")).toBe("slow_down");
  });

  test("the API key's suffix works for requests without a model", async () => {
    const headers = { authorization: "Bearer good-key+status-500" };
    expect((await get(`${simulators.providers.openai}/models`, headers)).status).toBe(500);
  });

  test("an unknown directive is refused explicitly", async () => {
    const reply = await post(url, chat(`${model}+stauts-500`, "hi"));
    expect(reply.status).toBe(400);
    expect(reply.text).toContain("stauts-500");
  });
});

describe("whole answers", () => {
  test("status-N answers the provider's own error, retry-after-S adds the header", async () => {
    const reply = await post(url, chat(`${model}+status-429+retry-after-7`, "hi"));
    expect(reply.status).toBe(429);
    expect(reply.headers.get("retry-after")).toBe("7");
    expect(member(bodyOf(reply), "error")).toMatchObject({
      type: "requests",
      code: "rate_limit_exceeded",
      param: null,
    });
  });

  test("times-K faults the first K requests with this model string only, until the clear", async () => {
    const statuses = async (): Promise<number[]> => {
      const seen: number[] = [];
      for (let index = 0; index < 3; index++)
        seen.push((await post(url, chat(`${model}+status-500+times-2`, "hi"))).status);
      return seen;
    };
    expect(await statuses()).toEqual([500, 500, 200]);
    expect((await post(url, chat("gpt-4o+status-500+times-2", "hi"))).status).toBe(500);
    simulators.clear();
    expect(await statuses()).toEqual([500, 500, 200]);
  });

  test("key-KEY faults one API key only, and counts only its requests", async () => {
    const faulty = `${model}+status-401+key-sk-tired+times-1`;
    const statuses: number[] = [];
    for (const key of ["sk-fresh", "sk-tired", "sk-tired"]) statuses.push(await askStatus(faulty, key));
    expect(statuses).toEqual([200, 401, 200]);
  });

  test("connect-reset closes the socket without a byte", async () => {
    const raw = await rawPost(url, chat(`${model}+connect-reset`, "hi"));
    expect(raw).toMatchObject({ text: "", errorCode: "ECONNRESET" });
    expect(outcome()).toBe("answered");
  });

  test("slow-MS waits before the first byte", async () => {
    const start = performance.now();
    let firstByte = 0;
    await rawPost(url, chat(`${model}+slow-120`, "hi"), {
      leaveWhen: () => {
        firstByte ||= performance.now() - start;
        return true;
      },
    });
    expect(firstByte).toBeGreaterThanOrEqual(119);
  });

  test("malformed answers 200 with JSON that ends too soon", async () => {
    const reply = await post(url, chat(`${model}+malformed`, "hi"));
    expect(reply.status).toBe(200);
    expect(reply.text).toStartWith('{"id"');
    expect(() => bodyOf(reply)).toThrow();
  });

  test("huge-MIB answers valid JSON of that size with the plain answer's usage", async () => {
    const plain = completionOf(await post(url, chat(model, "hi")));
    const reply = await post(url, chat(`${model}+huge-3`, "hi"));
    const content = completionOf(reply).choices[0]?.message.content ?? "";
    expect(content.length).toBeGreaterThan(3 * 1_048_576);
    expect(completionOf(reply).usage).toEqual(plain.usage);
  });

  test("no-usage leaves the usage out", async () => {
    const reply = await post(url, chat(`${model}+no-usage`, "hi"));
    expect(reply.status).toBe(200);
    expect(bodyOf(reply)).not.toHaveProperty("usage");
  });

  test("truncate sends less than the content-length", async () => {
    const raw = await rawPost(url, chat(`${model}+truncate`, "hi"));
    const [head = "", body = ""] = raw.text.split("\r\n\r\n");
    const promised = Number(/content-length: (\d+)/i.exec(head)?.[1]);
    expect(body.length).toBeGreaterThan(0);
    expect(body.length).toBeLessThan(promised);
  });

  test("html-502 answers a page", async () => {
    const reply = await post(url, chat(`${model}+html-502`, "hi"));
    expect(reply.status).toBe(502);
    expect(reply.headers.get("content-type")).toStartWith("text/html");
    expect(reply.text).toContain("<html>");
  });

  test("empty answers 200 without a body", async () => {
    const reply = await post(url, chat(`${model}+empty`, "hi"));
    expect(reply).toMatchObject({ status: 200, text: "" });
  });

  test("gzip encodes although identity was asked for", async () => {
    const headers = { authorization: "Bearer good-key", "accept-encoding": "identity" };
    const body = JSON.stringify(chat(`${model}+gzip`, "hi"));
    const response = await fetch(url, { method: "POST", headers, body, decompress: false });
    expect(response.headers.get("content-encoding")).toBe("gzip");
    const answer = bodyOf({ text: gunzipSync(await response.bytes()).toString() });
    expect(member(answer, "model")).toBe(model);
  });

  test("stall-0 sends the head and nothing more, cut-1 half of the body", async () => {
    const stalled = await rawPost(url, chat(`${model}+stall-0`, "hi"), {
      leaveWhen: (text) => text.endsWith("\r\n\r\n"),
    });
    expect(stalled.text).toStartWith("HTTP/1.1 200");
    await until("the caller's leaving to be seen", () => outcome() === "aborted");
    const cut = await rawPost(url, chat(`${model}+cut-1`, "hi"));
    expect(cut.text).toContain('"chat.completion"');
    expect(cut.text).not.toContain('"total_tokens"');
  });

  test("error-200 answers 200 with the provider's error body", async () => {
    const reply = await post(`${simulators.providers.xai}/chat/completions`, chat("grok-3+error-200", "hi"));
    expect(reply.status).toBe(200);
    expect(member(bodyOf(reply), "code")).toBeString();
    expect(member(bodyOf(reply), "error")).toBeString();
  });
});

describe("streams", () => {
  test("pace-MS waits between events", async () => {
    const start = performance.now();
    const reply = await post(url, chat(`${model}+pace-20`, "words:3", stream));
    expect(eventData(reply.text)).toHaveLength(6);
    expect(performance.now() - start).toBeGreaterThanOrEqual(5 * 19);
  });

  test("stall-N sends N events and then keeps the connection open", async () => {
    const raw = rawPost(url, chat(`${model}+stall-2`, "words:9", stream), {
      leaveWhen: (text) => eventData(text).length === 2 && text.endsWith("\n\n\r\n"),
    });
    expect(eventData((await raw).text)).toHaveLength(2);
    await until("the caller's leaving to be seen", () => outcome() === "aborted");
  });

  test("cut-N cuts after N events without the end of the body", async () => {
    const raw = await rawPost(url, chat(`${model}+cut-3`, "words:9", stream));
    expect(eventData(raw.text)).toHaveLength(3);
    expect(raw.text).not.toContain("\r\n0\r\n\r\n");
    expect(outcome()).toBe("answered");
  });

  test("cut-N cuts even after the last event", async () => {
    const whole = await rawPost(url, chat(model, "words:2", stream));
    const events = eventData(whole.text).length;
    expect(whole.text).toEndWith("\r\n0\r\n\r\n");
    const raw = await rawPost(url, chat(`${model}+cut-${events}`, "words:2", stream));
    expect(eventData(raw.text).at(-1)).toBe("[DONE]");
    expect(raw.text).not.toContain("\r\n0\r\n\r\n");
  });

  test("error-N sends N events, the provider's error, and a proper end", async () => {
    const raw = await rawPost(url, chat(`${model}+error-2`, "words:9", stream));
    const events = eventData(raw.text);
    expect(events).toHaveLength(3);
    expect(member(JSON.parse(events[2] ?? ""), "error", "type")).toBe("server_error");
    expect(raw.text).toEndWith("\r\n0\r\n\r\n");
  });

  test("malformed breaks the second event", async () => {
    const events = eventData((await post(url, chat(`${model}+malformed`, "words:9", stream))).text);
    expect(() => bodyOf({ text: events[1] ?? "" })).toThrow();
    expect(JSON.parse(events[2] ?? "")).toMatchObject({ object: "chat.completion.chunk" });
    expect(events.at(-1)).toBe("[DONE]");
  });

  test("huge-MIB sends one event of that size", async () => {
    const events = eventData((await post(url, chat(`${model}+huge-2`, "hi", stream))).text);
    expect(events.filter((event) => event.length > 2 * 1_048_576)).toHaveLength(1);
  });

  test("no-usage sends no usage chunk even when asked", async () => {
    const more = { stream: true, stream_options: { include_usage: true } };
    const chunks = chunksOf(await post(url, chat(`${model}+no-usage`, "hi", more)));
    expect(chunks.every((chunk) => chunk.choices.length > 0 && !("usage" in chunk))).toBe(true);
  });

  test("crlf ends lines with both characters", async () => {
    const { text } = await post(url, chat(`${model}+crlf`, "hi", stream));
    expect(text).toContain("\r\n\r\n");
    expect(text.replaceAll("\r\n", "")).not.toContain("\n");
    expect(eventData(text).at(-1)).toBe("[DONE]");
  });

  test("split-BYTES writes pieces of that size", async () => {
    const raw = await rawPost(url, chat(`${model}+split-5`, "words:3", stream));
    const [, body = ""] = raw.text.split(/\r\n\r\n(.*)/s);
    const sizes = [...body.matchAll(/(?:^|\r\n)([0-9a-f]+)\r\n/g)].map((match) => Number.parseInt(match[1] ?? "", 16));
    expect(sizes.length).toBeGreaterThan(50);
    expect(Math.max(...sizes)).toBe(5);
    const joined = await post(url, chat(`${model}+split-5`, "words:3", stream));
    expect(eventData(joined.text).at(-1)).toBe("[DONE]");
  });

  test("gzip encodes the stream event by event", async () => {
    const body = JSON.stringify(chat(`${model}+gzip`, "words:3", stream));
    const headers = { authorization: "Bearer good-key" };
    const response = await fetch(url, { method: "POST", headers, body, decompress: false });
    expect(response.headers.get("content-encoding")).toBe("gzip");
    const text = gunzipSync(await response.bytes()).toString();
    expect(eventData(text)).toHaveLength(6);
    const stalled = await fetch(url, {
      method: "POST",
      headers,
      body: JSON.stringify(chat(`${model}+gzip+stall-1`, "hi", stream)),
    });
    expect(eventData(await firstPiece(stalled))).toHaveLength(1);
  });

  test("empty ends the stream without an event", async () => {
    const reply = await post(url, chat(`${model}+empty`, "hi", stream));
    expect(reply.headers.get("content-type")).toStartWith("text/event-stream");
    expect(reply.text).toBe("");
  });
});

describe("callers that leave", () => {
  test("a stream stops at once and is recorded as aborted", async () => {
    const caller = new AbortController();
    const body = JSON.stringify(chat(`${model}+pace-10`, "words:100000", stream));
    const headers = { authorization: "Bearer good-key" };
    const response = await fetch(url, { method: "POST", headers, body, signal: caller.signal });
    await response.body?.getReader().read();
    expect(outcome()).toBe("open");
    caller.abort();
    await until("the abort to be recorded", () => outcome() === "aborted");
  });

  test("a caller that leaves in the middle of a huge event is recorded as aborted", async () => {
    const raw = await rawPost(url, chat(`${model}+huge-64`, "hi", stream), {
      leaveWhen: (text) => text.length > 1_000,
    });
    expect(raw.text.length).toBeLessThan(64 * 1_048_576);
    await until("the abort to be recorded", () => outcome() === "aborted");
  });

  test("a caller that leaves during slow-MS is recorded as aborted", async () => {
    const caller = new AbortController();
    const body = JSON.stringify(chat(`${model}+slow-60000`, "hi"));
    const headers = { authorization: "Bearer good-key" };
    const pending = fetch(url, { method: "POST", headers, body, signal: caller.signal });
    await until("the request to arrive", () => simulators.total() === 1);
    caller.abort();
    expect(await failureOf(pending)).toMatchObject({ name: "AbortError" });
    await until("the abort to be recorded", () => outcome() === "aborted");
  });
});

describe("the recorder", () => {
  test("stores the requests, in process and over HTTP", async () => {
    await post(url, chat(`${model}+status-500`, "hello"), { "x-mark": "seen" });
    const [request] = simulators.requests();
    expect(request).toMatchObject({ provider: "openai", method: "POST", path: "/openai/v1/chat/completions" });
    expect(request?.headers["x-mark"]).toBe("seen");
    expect(JSON.parse(request?.body ?? "")).toMatchObject({ model: `${model}+status-500` });
    const listed = await get(`${simulators.url}/__requests`);
    expect(bodyOf(listed)).toEqual({ requests: simulators.requests(), total: 1 });
  });

  test("DELETE clears it and resets the counters of times-K", async () => {
    const faulty = `${model}+status-500+times-1`;
    expect([await askStatus(faulty), await askStatus(faulty)]).toEqual([500, 200]);
    await fetch(`${simulators.url}/__requests`, { method: "DELETE" });
    expect(simulators.total()).toBe(0);
    expect(await askStatus(faulty)).toBe(500);
  });

  test("keeps at most 64 KiB of a body and 2,000 requests", async () => {
    await post(url, chat(model, "x".repeat(100_000)));
    expect(simulators.requests()[0]?.body).toHaveLength(65_536);
    for (let batch = 0; batch < 21; batch++) {
      const batchSize = Array.from({ length: 100 });
      await Promise.all(batchSize.map(() => get(`${simulators.providers.byteplus}/models`)));
    }
    expect(simulators.total()).toBe(2_101);
    expect(simulators.requests()).toHaveLength(2_000);
  });
});
