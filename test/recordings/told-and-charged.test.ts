/**
 * Every recorded answer, and every form of usage, through a gateway, for clients of all dialects, as the stream or the whole that it is and as the
 * stream of a whole: the usage that the client reads is the one that its call is charged for.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Dialect } from "../../src/core/index.ts";
import {
  chatPath,
  type Gateway,
  messagesPath,
  responsesPath,
  type ScriptedUpstream,
  startGateway,
  startScriptedUpstream,
  until,
} from "../kit/index.ts";
import { streams, wholes } from "./answered.ts";
import { bytesOf, recordings } from "./recordings.ts";
import { type Counts, parse } from "./said.ts";
import { type Answered, usageShapes } from "./usage-shapes.ts";

const answers: readonly Answered[] = [
  ...recordings
    .filter(({ status }) => status === 200)
    .map((recording) => ({ ...recording, name: String(recording.id), bytes: bytesOf(recording).toString("utf8") })),
  ...usageShapes,
];

let upstream: ScriptedUpstream;
let gateway: Gateway;
let token: string;
beforeAll(async () => {
  upstream = startScriptedUpstream();
  const names = new Set(answers.map(prefixOf));
  gateway = await startGateway({
    config: { upstream: { retries: 0 } },
    providers: Object.fromEntries([...names].map((name) => [name, entryOf(name)])),
  });
  token = await gateway.token();
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

function prefixOf({ upstream: name, dialect }: Pick<Answered, "upstream" | "dialect">): string {
  return `${name}-${dialect}`;
}

/** Only the recording's dialect is offered, so that it is asked in that one. */
function entryOf(prefix: string): object {
  const at = prefix.lastIndexOf("-");
  const [name, dialect] = [prefix.slice(0, at), prefix.slice(at + 1)];
  const entry = { base_url: upstream.url, api_key: "k", dialects: [dialect] };
  if (["openai", "google", "xai", "byteplus", "anthropic"].includes(name)) return { ...entry, kind: name };
  return { ...entry, kind: "openai-compatible", preset: name === "openai-compatible" ? "generic" : name };
}

const paths = {
  chat: () => chatPath,
  messages: () => messagesPath,
  responses: () => responsesPath,
  gemini: (model: string, stream: boolean) =>
    `/v1beta/models/${model}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
};
const limit = 30_000;
const bodies: Readonly<Record<Dialect, object>> = {
  chat: { messages: [{ role: "user", content: "Hello." }], max_tokens: limit, stream_options: { include_usage: true } },
  messages: { messages: [{ role: "user", content: "Hello." }], max_tokens: limit },
  responses: { input: "Hello.", max_output_tokens: limit, store: false },
  gemini: { contents: [{ parts: [{ text: "Hello." }] }], generationConfig: { maxOutputTokens: limit } },
};

/** The usage that a client reads, and the one that its call is charged for; undefined for a stream that breaks off. */
async function usagesOf(recording: Answered, dialect: Dialect, stream: boolean) {
  const type = recording.stream ? "text/event-stream" : "application/json";
  upstream.answerWith(() => new Response(recording.bytes, { headers: { "content-type": type } }));
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const { stream_options: options, ...body } = { stream_options: undefined, ...bodies[dialect] };
  const model = `${prefixOf(recording)}/${recording.model ?? "m"}`;
  const asked = { ...body, model, stream, ...(stream && options !== undefined ? { stream_options: options } : {}) };
  const answer = await fetch(gateway.url + paths[dialect](model, stream), {
    method: "POST",
    headers,
    body: JSON.stringify(asked),
  });
  const text = await answer.text();
  expect(answer.status, text.slice(0, 300)).toBe(200);
  const isStream = answer.headers.get("content-type")?.startsWith("text/event-stream") === true;
  const said = isStream ? streams[dialect](text) : wholes[dialect](parse(text));
  const charged = await chargedFor(answer.headers.get("x-request-id") ?? "");
  return said.failure === undefined ? { told: said.usage ?? {}, charged } : undefined;
}

async function chargedFor(id: string): Promise<Record<string, number>> {
  let usage: Record<string, number> = {};
  await until(`the record of ${id}`, async () => {
    const answer = await fetch(`${gateway.url}/v1/generations/${id}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    if (answer.ok) ({ usage } = (await answer.json()) as { usage: Record<string, number> });
    return answer.ok;
  });
  return usage;
}

const sum = (counts: Readonly<Record<string, number | undefined>>, names: readonly string[]): number =>
  names.reduce((all, name) => all + (counts[name] ?? 0), 0);

/** The counts that all dialects have. */
function toldIn(usage: Counts) {
  return {
    input: sum(usage, [
      "input",
      "cacheRead",
      "cacheWrite5m",
      "cacheWrite1h",
      "inputAudio",
      "inputImage",
      "cacheAudioRead",
    ]),
    cacheRead: sum(usage, ["cacheRead", "cacheAudioRead"]),
    written: sum(usage, ["cacheWrite5m", "cacheWrite1h"]),
    output: sum(usage, ["output", "reasoning", "outputAudio", "outputImage"]),
    reasoning: usage.reasoning ?? 0,
    image: usage.outputImage ?? 0,
  };
}

function chargedIn(usage: Record<string, number>) {
  const cacheRead = ["cache_read", "cache_audio_read", "cache_image_read"];
  const written = ["cache_write_5m", "cache_write_1h"];
  return {
    input: sum(usage, ["input", "input_audio", "input_image", ...cacheRead, ...written]),
    cacheRead: sum(usage, cacheRead),
    written: sum(usage, written),
    output: sum(usage, ["output", "reasoning", "output_audio", "output_image"]),
    reasoning: usage["reasoning"] ?? 0,
    image: usage["output_image"] ?? 0,
  };
}

const dialects: readonly Dialect[] = ["chat", "messages", "responses", "gemini"];

describe.each(dialects)("a client of %s", (dialect) => {
  test.each(answers.map((recording) => ({ name: `${recording.name} of ${prefixOf(recording)}`, recording })))(
    "$name",
    async ({ recording }) => {
      for (const stream of recording.stream ? [true] : [false, true]) {
        const usages = await usagesOf(recording, dialect, stream);
        if (usages === undefined) continue;
        const charged = chargedIn(usages.charged);
        // Google does not count what is written to a cache.
        expect(toldIn(usages.told)).toEqual(dialect === "gemini" ? { ...charged, written: 0 } : charged);
      }
    },
  );
});
