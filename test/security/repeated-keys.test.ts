/** No upstream's error gives the key away to a caller, however it writes the key and wherever the error comes from. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { carriers, spell, spellings } from "../../src/routing/__fixtures__/spellings.ts";
import { forms, posts } from "../errors/every-route.ts";
import { type Rig, type ScriptedUpstream, startRig, startScriptedUpstream, until } from "../kit/index.ts";
import { Client } from "../realtime/realtime-scene.ts";

const key = "sk-live/Ab9+0123456789&'abcdef";

let rig: Rig;
let upstream: ScriptedUpstream;
let sockets: Bun.Server<undefined>;
/** The messages that a session gets at its beginning, before it is closed. */
let said: string[] = [];
beforeAll(async () => {
  upstream = startScriptedUpstream();
  sockets = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request, server) => (server.upgrade(request) ? undefined : new Response(null, { status: 404 })),
    websocket: {
      open(socket) {
        for (const message of said) socket.send(message);
        socket.close(4_000, key);
      },
      message: () => undefined,
    },
  });
  rig = await startRig({
    config: {
      upstream: { retries: 0 },
      web: { engine: { kind: "firecrawl", base_url: upstream.url, api_key: key }, allow_private_hosts: ["*"] },
    },
    providers: () => ({
      openai: { kind: "openai", base_url: upstream.url, api_key: key },
      anthropic: { kind: "anthropic", base_url: upstream.url, api_key: key },
      chats: { kind: "openai-compatible", base_url: upstream.url, api_key: key },
      voice: { kind: "openai", base_url: sockets.url.href.replace(/\/$/, ""), api_key: key },
    }),
  });
});
afterEach(() => rig.expectBalancedBooks());
afterAll(async () => {
  await rig.stop();
  await upstream.stop();
  await sockets.stop(true);
});

/** The text, then the text with its escapes of JSON, URLs and HTML decoded once, twice and so on, as a reader of a log may do. */
function decodings(text: string): string[] {
  const all = [text];
  for (let last = text; all.length < 8; last = all.at(-1) ?? "") {
    const next = last
      .replaceAll(/\\+u00([\da-f]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
      .replaceAll(/%([\da-f]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
      .replaceAll(/&#x([\da-f]+);/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
      .replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
      .replaceAll("&apos;", "'")
      .replaceAll("&amp;", "&")
      .replaceAll(/\\([/"'&])/g, "$1");
    if (next === last) break;
    all.push(next);
  }
  return all;
}

function expectNoKey(shown: string): void {
  for (const text of decodings(shown)) {
    expect(text).not.toContain(key);
    for (const [word] of text.matchAll(/[\w+/-]{16,}/g)) {
      for (let from = 0; from < 4; from += 1) {
        expect(
          Buffer.from(word.slice(from).replaceAll("-", "+").replaceAll("_", "/"), "base64").toString(),
        ).not.toContain(key);
      }
    }
  }
}

async function shownBy(answer: Response): Promise<string> {
  return `${answer.status} ${answer.statusText}\n${JSON.stringify([...answer.headers])}\n${await answer.text()}`;
}

const random = { key: fc.constantFrom(...carriers), ways: fc.array(fc.constantFrom(...spellings), { minLength: 1 }) };

/** Some ways to write the key, and always the plain one. */
function writings(count: number): string[] {
  const drawn = fc.sample(fc.record(random), count).map(({ key: carry, ways }) => spell(carry(key), ways));
  return [key, ...drawn];
}

/** Errors whose message has the key, written so. It may not be valid JSON any more, as of an upstream that builds it by hand. */
const errorWith = (written: string): string =>
  `{"error":{"message":"Wrong key ${written.replaceAll('"', "")}.","type":"invalid_request_error","code":"odd","param":null}}`;

function fail(status: number, written: string): void {
  const headers = { "content-type": "application/json", "x-request-id": `req-${key}`, "retry-after": "1" };
  upstream.answerWith(() => new Response(errorWith(written), { status, statusText: key, headers }));
}

describe("a whole error", () => {
  test.each([...posts])("of POST %s %j", async (path, body) => {
    const caller = await rig.caller();
    for (const [turn, written] of writings(12).entries()) {
      fail([400, 404, 422, 429, 500, 200][turn % 6] ?? 400, written);
      const headers = { authorization: `Bearer ${caller.token}`, "content-type": "application/json" };
      const init = { method: "POST", headers, body: JSON.stringify(body) };
      expectNoKey(await shownBy(await fetch(rig.gateway.url + path, init)));
    }
  });

  test.each([...forms])("of POST %s with a form", async (path, fields) => {
    const caller = await rig.caller();
    for (const written of writings(6)) {
      fail(400, written);
      const body = new FormData();
      for (const [name, value] of Object.entries(fields)) body.set(name, value);
      const headers = { authorization: `Bearer ${caller.token}` };
      expectNoKey(await shownBy(await fetch(rig.gateway.url + path, { method: "POST", headers, body })));
    }
  });

  test.each(["/v1/files", "/v1/models"])("of GET %s", async (path) => {
    const caller = await rig.caller();
    for (const written of writings(3)) {
      fail(400, written);
      const headers = { authorization: `Bearer ${caller.token}` };
      expectNoKey(await shownBy(await fetch(rig.gateway.url + path, { headers })));
    }
  });

  test.each([
    ["/v2/scrape", { url: "http://127.0.0.1:1/" }],
    ["/v2/map", { url: "http://127.0.0.1:1/" }],
  ])("of the web engine, POST %s", async (path, body) => {
    const caller = await rig.caller();
    const headers = { authorization: `Bearer ${caller.token}`, "content-type": "application/json" };
    const ask = () => fetch(rig.gateway.url + path, { method: "POST", headers, body: JSON.stringify(body) });
    for (const [turn, written] of writings(8).entries()) {
      fail([400, 402, 500][turn % 3] ?? 400, written);
      const shown = await shownBy(await ask());
      expect(shown).toContain("[redacted]");
      expectNoKey(shown);
    }
    for (const [status, code] of [
      [401, "refuses the gateway's key"],
      [302, "answered with status 302"],
    ] as const) {
      fail(status, key);
      const answer = await ask();
      expect([answer.status, await answer.text()]).toEqual([502, expect.stringContaining(code) as unknown as string]);
    }
  });
});

test("the head of an answer, whole and streamed, and the record of it", async () => {
  const caller = await rig.caller();
  const headers = { authorization: `Bearer ${caller.token}`, "content-type": "application/json" };
  const choices = [{ index: 0, message: { role: "assistant", content: "Hi." }, finish_reason: "stop" }];
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  const stream = 'data: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';
  for (const written of [
    key,
    ...fc.sample(fc.record(random), 6).map(({ key: carry, ways }) => spell(carry(key), ways)),
  ]) {
    const own = { "x-request-id": `r-${written}`, "openai-version": written, "openai-processing-ms": `1 ${written}` };
    for (const isStreamed of [false, true]) {
      const type = isStreamed ? "text/event-stream" : "application/json";
      const text = isStreamed
        ? stream
        : JSON.stringify({ id: "c", object: "chat.completion", model: "m", choices, usage });
      upstream.answerWith(() => new Response(text, { headers: { ...own, "content-type": `${type}; a="${written}"` } }));
      const messages = [{ role: "user", content: "hi" }];
      const body = JSON.stringify({ model: "chats/model", max_tokens: 5, messages, stream: isStreamed });
      const answer = await fetch(`${rig.gateway.url}/v1/chat/completions`, { method: "POST", headers, body });
      expect(answer.status).toBe(200);
      expect(answer.headers.get("x-upstream-request-id")).toContain("[redacted]");
      const id = answer.headers.get("x-request-id");
      expectNoKey(await shownBy(answer));
      const record = await until("the record", async () => {
        const found = await fetch(`${rig.gateway.url}/v1/generations/${id}`, { headers });
        return found.ok && found.text();
      });
      expectNoKey(record);
    }
  }
});

describe("an error event in a stream", () => {
  const word = 'data: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}]}\n\n';
  const message = 'event: message_start\ndata: {"type":"message_start","message":{"usage":{"input_tokens":1}}}\n\n';
  const created = 'event: response.created\ndata: {"type":"response.created","response":{"id":"resp_1"}}\n\n';
  const failed = (error: string): string =>
    `event: response.failed\ndata: {"type":"response.failed","response":{"id":"resp_1","status":"failed",${error.slice(1, -1)}}}\n\n`;
  /** The beginnings and the errors of streams, by the model's dialect. */
  const streams: Record<string, (error: string) => string> = {
    "chats/model": (error) => `${word}data: ${error}\n\n`,
    "openai/gpt-4o-mini": (error) => `${word}data: ${error}\n\n`,
    "anthropic/claude-haiku-4-5": (error) => `${message}event: error\ndata: {"type":"error",${error.slice(1)}\n\n`,
    responses: (error) => created + failed(error),
  };
  const paths = ["/v1/chat/completions", "/v1/messages", "/v1/responses"];

  test.each(paths.flatMap((path) => Object.keys(streams).map((model) => [path, model] as const)))(
    "at %s of %s, split at any place",
    async (path, name) => {
      const model =
        name === "responses" || path === "/v1/responses" ? (name === "responses" ? "openai/gpt-4o-mini" : name) : name;
      const caller = await rig.caller();
      const hasResponses = path === "/v1/responses" && model.startsWith("openai/");
      const stream = streams[hasResponses ? "responses" : name === "responses" ? "openai/gpt-4o-mini" : name];
      for (const written of writings(6)) {
        const bytes = Buffer.from(stream?.(errorWith(written)) ?? "");
        upstream.answerWith(() => new Response(inPieces(bytes), { headers: { "content-type": "text/event-stream" } }));
        const text = path === "/v1/responses" ? { input: "hi" } : { messages: [{ role: "user", content: "hi" }] };
        const answer = await fetch(rig.gateway.url + path, {
          method: "POST",
          headers: { authorization: `Bearer ${caller.token}`, "content-type": "application/json" },
          body: JSON.stringify({ model, max_tokens: 50, stream: true, ...text }),
        });
        expectNoKey(await shownBy(answer));
      }
    },
  );

  test("that is too large to be looked at whole", async () => {
    const caller = await rig.caller();
    // Around the size of the parts that sockets read, and of what is kept back of a part.
    for (const length of [1_500_000, 1_500_000 + 4_080, 2_000_000]) {
      const filling = `${"x".repeat(length)} ${key} `;
      const text = `${word}data: {"error":{"message":"${filling.repeat(2)}","type":"odd","code":"odd","param":null}}\n\n`;
      const bytes = Buffer.from(text);
      for (const piece of [65_536, 65_521, length + 20]) {
        upstream.answerWith(
          () =>
            new Response(
              inPieces(bytes, () => piece),
              { headers: { "content-type": "text/event-stream" } },
            ),
        );
        const answer = await fetch(`${rig.gateway.url}/v1/chat/completions`, {
          method: "POST",
          headers: { authorization: `Bearer ${caller.token}`, "content-type": "application/json" },
          body: JSON.stringify({ model: "chats/model", stream: true, messages: [{ role: "user", content: "hi" }] }),
        });
        const shown = await answer.text();
        expect(shown.split("[redacted]")).toHaveLength(3);
        expect(shown.includes(key)).toBe(false);
        expect(shown.replaceAll("[redacted]", key)).toStartWith(text);
      }
    }
  });

  test("of a WebSocket of Responses", async () => {
    const caller = await rig.caller();
    const client = new Client(`${rig.gateway.url.replace("http", "ws")}/v1/responses`, {
      headers: { authorization: `Bearer ${caller.token}` },
    });
    await client.opened;
    for (const [model, stream] of [
      ["openai/gpt-4o-mini", streams["responses"]],
      ["chats/model", streams["chats/model"]],
    ] as const) {
      for (const written of writings(4)) {
        const from = client.events.length;
        const bytes = Buffer.from(stream?.(errorWith(written)) ?? "");
        upstream.answerWith(() => new Response(inPieces(bytes), { headers: { "content-type": "text/event-stream" } }));
        client.send({ type: "response.create", model, input: "hi" });
        await client.find("the failure", ({ type }) => type === "error" || type === "response.failed", from);
        fail(400, written);
        client.send({ type: "response.create", model, input: "hi" });
        const next = client.events.length;
        await client.find("the refusal", ({ type }) => type === "error", next);
      }
    }
    client.socket.close();
    expectNoKey(client.messages.map(String).join("\n"));
  });

  function inPieces(bytes: Buffer, lengthAt = (at: number) => 1 + ((at * 7) % 40)): ReadableStream<Uint8Array> {
    let at = 0;
    return new ReadableStream({
      async pull(controller) {
        const length = lengthAt(at);
        controller.enqueue(bytes.subarray(at, at + length));
        at += length;
        await Bun.sleep(0);
        if (at >= bytes.length) controller.close();
      },
    });
  }
});

test("an error in a realtime session, and the reason of its end", async () => {
  const caller = await rig.caller();
  for (const written of writings(10)) {
    const error = errorWith(written).slice(1, -1);
    said = [
      '{"type":"session.created","session":{"type":"realtime","model":"gpt-realtime"}}',
      `{"type":"error",${error}}`,
      `{"type":"response.created","response":{"id":"resp_1","status":"in_progress"}}`,
      `{"type":"response.done","response":{"id":"resp_1","status":"failed","status_details":{"type":"failed",${error}}}}`,
      `{"type":"conversation.item.input_audio_transcription.failed","item_id":"item_1",${error}}`,
      `{${error},"type":"error"}`,
    ];
    const client = new Client(`${rig.gateway.url.replace("http", "ws")}/v1/realtime?model=voice/gpt-realtime`, {
      headers: { authorization: `Bearer ${caller.token}` },
    });
    const { reason } = await client.ended();
    const shown = client.messages.map(String);
    expect(shown).toHaveLength(said.length);
    expectNoKey(shown.join("\n") + reason);
  }
});

test("the error of a video job, in its look-up, in the list and in the message about its end", async () => {
  const caller = await rig.caller();
  const headers = { authorization: `Bearer ${caller.token}`, "content-type": "application/json" };
  const video = { id: "video_1", object: "video", model: "sora-2", status: "queued", seconds: "4", size: "720x1280" };
  upstream.answerWith(() => Response.json(video));
  const body = JSON.stringify({ model: "openai/sora-2", prompt: "a cat" });
  expect((await fetch(`${rig.gateway.url}/v1/videos`, { method: "POST", headers, body })).status).toBe(200);
  const message = `Wrong key ${key}, ${Buffer.from(`Bearer ${key}`).toString("base64")}`;
  upstream.answerWith(() =>
    Response.json({ ...video, status: "failed", error: { code: "odd", message }, detail: key }),
  );
  const shown = await until("the failure", async () => {
    const text = await (await fetch(`${rig.gateway.url}/v1/videos/video_1`, { headers })).text();
    return text.includes('"failed"') && text;
  });
  expect(shown).toContain("Wrong key [redacted]");
  expectNoKey(shown);
  expectNoKey(await shownBy(await fetch(`${rig.gateway.url}/v1/videos`, { headers })));
});

test("the log", () => {
  expectNoKey(rig.gateway.log());
});
