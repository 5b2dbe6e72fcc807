/** Answers with every form of usage that providers are known to send, for which there is no recording: whole and streamed. */
import type { JsonObject } from "../../src/core/index.ts";
import type { Recording } from "./recordings.ts";

/** An answer as a recording would have it. */
export type Answered = Pick<Recording, "upstream" | "dialect" | "stream" | "model"> & { name: string; bytes: string };

type Upstream = Pick<Answered, "upstream" | "dialect">;

/** A form of usage, and the upstreams that send it. */
interface UsageShape {
  name: string;
  upstreams: readonly string[];
  usage: JsonObject;
}

/** Those whose usage is read by rules of their own, and one for all others. */
const compatible = ["groq", "openrouter", "deepseek", "google", "xai", "openai"];

const chatShapes: readonly UsageShape[] = [
  { name: "plain", upstreams: compatible, usage: { prompt_tokens: 90, completion_tokens: 11, total_tokens: 101 } },
  {
    name: "null details",
    upstreams: compatible,
    usage: chatUsage({ prompt_tokens_details: null, completion_tokens_details: null }),
  },
  { name: "without a total", upstreams: compatible, usage: { prompt_tokens: 90, completion_tokens: 11 } },
  { name: "cached", upstreams: compatible, usage: chatUsage({ prompt_tokens_details: { cached_tokens: 64 } }) },
  {
    name: "cached and written",
    upstreams: ["openrouter", "openai"],
    usage: chatUsage({ prompt_tokens_details: { cached_tokens: 40, cache_write_tokens: 20 } }),
  },
  {
    name: "hits and misses",
    upstreams: ["deepseek"],
    usage: chatUsage({ prompt_cache_hit_tokens: 64, prompt_cache_miss_tokens: 26 }),
  },
  {
    name: "thought in the output",
    upstreams: compatible.filter((name) => name !== "xai"),
    usage: chatUsage({ completion_tokens_details: { reasoning_tokens: 7 } }),
  },
  {
    name: "thought beside the output",
    upstreams: ["xai", "google"],
    usage: {
      prompt_tokens: 90,
      completion_tokens: 11,
      total_tokens: 121,
      completion_tokens_details: { reasoning_tokens: 20 },
    },
  },
  {
    name: "thought in the total alone",
    upstreams: ["google"],
    usage: { prompt_tokens: 90, completion_tokens: 11, total_tokens: 121 },
  },
  {
    name: "all of the output thought",
    upstreams: ["openai", "deepseek", "openrouter"],
    usage: chatUsage({ completion_tokens_details: { reasoning_tokens: 11 } }),
  },
  {
    name: "images and sound in the input",
    upstreams: ["openai", "openrouter", "google"],
    usage: chatUsage({ prompt_tokens_details: { image_tokens: 30, audio_tokens: 20, text_tokens: 40 } }),
  },
  {
    name: "an image in the output",
    upstreams: ["openrouter", "openai", "google"],
    usage: chatUsage({ completion_tokens_details: { image_tokens: 9 } }),
  },
  {
    name: "sound in the output",
    upstreams: ["openai", "openrouter"],
    usage: chatUsage({ completion_tokens_details: { audio_tokens: 6, reasoning_tokens: 2 } }),
  },
];

function chatUsage(more: JsonObject): JsonObject {
  return { prompt_tokens: 90, completion_tokens: 11, total_tokens: 101, ...more };
}

const message = { role: "assistant", content: "Hello there." };
const chatHead = { id: "chatcmpl-1", created: 1, model: "m" };

function chatWhole(usage: JsonObject): string {
  const choices = [{ index: 0, message, finish_reason: "stop" }];
  return JSON.stringify({ ...chatHead, object: "chat.completion", choices, usage });
}

const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
const chunk = (more: JsonObject): string => data({ ...chatHead, object: "chat.completion.chunk", ...more });
const said = { index: 0, delta: message, finish_reason: null };
const stopped = { index: 0, delta: {}, finish_reason: "stop" };

/** The places of usage in a stream. */
const chatStreams: Readonly<Record<string, (usage: JsonObject) => string>> = {
  "in a chunk of its own": (usage) =>
    chunk({ choices: [said] }) + chunk({ choices: [stopped] }) + chunk({ choices: [], usage }) + "data: [DONE]\n\n",
  "in the last chunk": (usage) =>
    chunk({ choices: [said], usage: null }) + chunk({ choices: [stopped], usage }) + "data: [DONE]\n\n",
  "in each chunk": (usage) =>
    chunk({ choices: [said], usage }) + chunk({ choices: [stopped], usage }) + "data: [DONE]\n\n",
};

const messagesShapes: readonly UsageShape[] = [
  { name: "plain", upstreams: ["anthropic", "openrouter"], usage: { input_tokens: 90, output_tokens: 11 } },
  {
    name: "cached and written",
    upstreams: ["anthropic"],
    usage: { input_tokens: 30, cache_read_input_tokens: 40, cache_creation_input_tokens: 20, output_tokens: 11 },
  },
  {
    name: "two lifetimes",
    upstreams: ["anthropic"],
    usage: {
      input_tokens: 30,
      cache_read_input_tokens: 40,
      cache_creation_input_tokens: 20,
      cache_creation: { ephemeral_5m_input_tokens: 15, ephemeral_1h_input_tokens: 5 },
      output_tokens: 11,
    },
  },
  {
    name: "thought",
    upstreams: ["anthropic"],
    usage: { input_tokens: 90, output_tokens: 30, output_tokens_details: { thinking_tokens: 20 } },
  },
  {
    name: "an image in the output",
    upstreams: ["anthropic", "openrouter"],
    usage: { input_tokens: 90, output_tokens: 30, output_tokens_details: { thinking_tokens: 2, image_tokens: 20 } },
  },
  {
    name: "nulls",
    upstreams: ["anthropic"],
    usage: {
      input_tokens: 90,
      cache_read_input_tokens: null,
      cache_creation_input_tokens: null,
      cache_creation: null,
      output_tokens: 11,
    },
  },
];

const messageHead = { id: "msg_1", type: "message", role: "assistant", model: "m" };
const textBlock = { type: "text", text: "Hello there." };

const messagesWhole = (usage: JsonObject): string =>
  JSON.stringify({ ...messageHead, content: [textBlock], stop_reason: "end_turn", stop_sequence: null, usage });

const frame = (event: JsonObject & { type: string }): string => `event: ${event.type}\n${data(event)}`;

function messagesStream(start: JsonObject, end: JsonObject): string {
  const empty = { ...messageHead, content: [], stop_reason: null, stop_sequence: null, usage: start };
  return [
    { type: "message_start", message: empty },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hello there." } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: end },
    { type: "message_stop" },
  ]
    .map(frame)
    .join("");
}

const messagesStreams: Readonly<Record<string, (usage: JsonObject) => string>> = {
  "at both ends": (usage) => messagesStream({ ...usage, output_tokens: 1 }, usage),
  "its output at the end": (usage) =>
    messagesStream(
      { ...usage, output_tokens: 1 },
      { output_tokens: usage["output_tokens"], output_tokens_details: usage["output_tokens_details"] },
    ),
  "at the end alone": (usage) => messagesStream({ input_tokens: 0, output_tokens: 0 }, usage),
};

const responders = ["openai", "xai", "byteplus", "openrouter", "deepseek"];

const responsesShapes: readonly UsageShape[] = [
  { name: "plain", upstreams: responders, usage: { input_tokens: 90, output_tokens: 11, total_tokens: 101 } },
  {
    name: "null details",
    upstreams: responders,
    usage: responsesUsage({ input_tokens_details: null, output_tokens_details: null }),
  },
  { name: "cached", upstreams: responders, usage: responsesUsage({ input_tokens_details: { cached_tokens: 64 } }) },
  {
    name: "cached and written",
    upstreams: ["openai", "openrouter"],
    usage: responsesUsage({ input_tokens_details: { cached_tokens: 40, cache_write_tokens: 20 } }),
  },
  {
    name: "thought in the output",
    upstreams: responders,
    usage: responsesUsage({ output_tokens_details: { reasoning_tokens: 7 } }),
  },
  {
    name: "all of the output thought",
    upstreams: responders,
    usage: responsesUsage({ output_tokens_details: { reasoning_tokens: 11 } }),
  },
  {
    name: "images in the input",
    upstreams: ["openai"],
    usage: responsesUsage({ input_tokens_details: { image_tokens: 30, text_tokens: 60 } }),
  },
  {
    name: "images and sound in the output",
    upstreams: responders,
    usage: responsesUsage({ output_tokens_details: { image_tokens: 6, audio_tokens: 2, reasoning_tokens: 1 } }),
  },
];

function responsesUsage(more: JsonObject): JsonObject {
  return { input_tokens: 90, output_tokens: 11, total_tokens: 101, ...more };
}

/** Two messages, a free text for a tool, and a search that the upstream has run. */
const output = [
  {
    type: "web_search_call",
    id: "ws_1",
    status: "completed",
    action: { type: "open_page", url: "https://example.com" },
  },
  ...["One.", "Two."].map((text, index) => ({
    type: "message",
    id: `msg_${index}`,
    status: "completed",
    role: "assistant",
    content: [{ type: "output_text", text, annotations: [] }],
  })),
];

const responseOf = (more: JsonObject): JsonObject => ({
  id: "resp_1",
  object: "response",
  created_at: 1,
  model: "m",
  status: "completed",
  ...more,
});

function responsesStream(end: "completed" | "incomplete", first: number) {
  return (usage: JsonObject): string => {
    const details = end === "incomplete" ? { incomplete_details: { reason: "max_output_tokens" } } : {};
    const items = output.flatMap((item, index) => {
      const at = { output_index: index + first, item_id: item.id };
      const text = "content" in item ? (item.content[0]?.text ?? "") : undefined;
      const deltas = (text?.match(/../g) ?? []).map((delta) => {
        return { type: "response.output_text.delta", ...at, content_index: first, delta };
      });
      const added = { ...item, status: "in_progress", ...(text === undefined ? {} : { content: [] }) };
      return [
        { type: "response.output_item.added", ...at, item: added },
        ...deltas,
        { type: "response.output_item.done", ...at, item },
      ];
    });
    return [
      { type: "response.created", response: responseOf({ status: "in_progress", output: [], usage: null }) },
      ...items,
      { type: `response.${end}`, response: responseOf({ status: end, output, usage, ...details }) },
    ]
      .map((event, sequence_number) => frame({ ...event, sequence_number }))
      .join("");
  };
}

const responsesStreams: Readonly<Record<string, (usage: JsonObject) => string>> = {
  "in the last event": responsesStream("completed", 0),
  "of one that was cut off": responsesStream("incomplete", 0),
  "counted from 1": responsesStream("completed", 1),
};

interface Forms {
  dialect: Upstream["dialect"];
  shapes: readonly UsageShape[];
  whole: (usage: JsonObject) => string;
  streams: Readonly<Record<string, (usage: JsonObject) => string>>;
}

const forms: readonly Forms[] = [
  { dialect: "chat", shapes: chatShapes, whole: chatWhole, streams: chatStreams },
  { dialect: "messages", shapes: messagesShapes, whole: messagesWhole, streams: messagesStreams },
  {
    dialect: "responses",
    shapes: responsesShapes,
    whole: (usage) => JSON.stringify(responseOf({ output, usage })),
    streams: responsesStreams,
  },
];

/** Each shape of each upstream, whole and as a stream, of whose kinds each has its turn. */
export const usageShapes: readonly Answered[] = forms.flatMap(({ dialect, shapes, whole, streams }) => {
  const places = Object.entries(streams);
  return shapes
    .flatMap(({ name, upstreams, usage }) => upstreams.map((upstream) => ({ name, upstream, usage })))
    .flatMap(({ name, upstream, usage }, turn): Answered[] => {
      const [place, write] = places[turn % places.length] ?? ["", whole];
      const common = { upstream, dialect, model: null };
      return [
        { ...common, name: `${name}, whole`, stream: false, bytes: whole(usage) },
        { ...common, name: `${name}, ${place}`, stream: true, bytes: write(usage) },
      ];
    });
});
