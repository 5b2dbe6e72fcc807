/**
 * The fixed upstream's answers, as bytes created once: OpenAI's chat completion, its stream of 100 events, and
 * Anthropic's and Google's streams of the same text.
 */

import type { UpstreamDialect } from "./protocol.ts";

/** Events before `data: [DONE]`: the role, the words, the finish reason and the usage. */
export const streamEventCount = 100;
/** Words of the answer, an event each; a chat stream has three further events, a Messages stream five. */
export const streamWordCount = streamEventCount - 3;
export const messagesEventCount = streamWordCount + 5;
export const geminiEventCount = streamWordCount + 1;
/** How many separately flushed writes a stream's events are spread over. */
export const streamBurstCount = 10;
/** A text that only the whole answer holds; the load generator looks for it. */
export const chatMarker = "measured in microseconds";
export const transcriptMarker = "every sample was heard";

const usage = {
  prompt_tokens: 19,
  completion_tokens: 98,
  total_tokens: 117,
  prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
};

const chatBody = {
  id: "chatcmpl-bench000000000000000000001",
  object: "chat.completion",
  created: 1_760_000_000,
  model: "bench-model",
  choices: [
    {
      index: 0,
      message: {
        role: "assistant",
        content: `A gateway should be too fast to notice: what it adds to a call is ${chatMarker}, not in milliseconds.`,
        refusal: null,
        annotations: [],
      },
      logprobs: null,
      finish_reason: "stop",
    },
  ],
  usage,
  service_tier: "default",
  system_fingerprint: null,
};

const modelsBody = {
  object: "list",
  data: [{ id: "bench-model", object: "model", created: 1_760_000_000, owned_by: "bench" }],
};

const upstreamHeaders = "x-request-id: req_bench\r\nopenai-processing-ms: 1\r\nopenai-version: 2020-10-01\r\n";

const transcriptionBody = { text: `The file came as it was sent, and ${transcriptMarker}.` };

function wholeAnswer(status: string, body: unknown): Buffer {
  const text = JSON.stringify(body);
  const head = `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\n${upstreamHeaders}`;
  return Buffer.from(`${head}content-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
}

export const chatAnswer = wholeAnswer("200 OK", chatBody);
export const modelsAnswer = wholeAnswer("200 OK", modelsBody);
export const transcriptionAnswer = wholeAnswer("200 OK", transcriptionBody);
export const busyAnswer = wholeAnswer("503 Service Unavailable", refusal("The benchmark's upstream is busy"));
export const notFoundAnswer = wholeAnswer("404 Not Found", refusal("The benchmark's upstream has no such path"));

/** For an upload that did not come as it was sent. */
export function wrongUploadAnswer(problem: string): Buffer {
  return wholeAnswer("400 Bad Request", refusal(`The benchmark's upstream has seen ${problem}`));
}

function refusal(message: string): unknown {
  return { error: { message, type: "invalid_request_error", param: null, code: null } };
}

const streamHead = Buffer.from(
  `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ncache-control: no-cache\r\n` +
    `${upstreamHeaders}transfer-encoding: chunked\r\n\r\n`,
);

function event(choices: unknown[], eventUsage: unknown): string {
  const payload = {
    id: "chatcmpl-bench000000000000000000001",
    object: "chat.completion.chunk",
    created: 1_760_000_000,
    model: "bench-model",
    service_tier: "default",
    system_fingerprint: null,
    choices,
    usage: eventUsage,
  };
  return `data: ${JSON.stringify(payload)}\n\n`;
}

function delta(content: Record<string, unknown>, finishReason: string | null): string {
  return event([{ index: 0, delta: content, logprobs: null, finish_reason: finishReason }], null);
}

const word = " word";
const wordEvent = delta({ content: word }, null);

function chatEvents(): string[] {
  const words = Array.from({ length: streamWordCount }, () => wordEvent);
  return [delta({ role: "assistant", content: "" }, null), ...words, delta({}, "stop"), event([], usage)];
}

function messagesEvent(type: string, members: Record<string, unknown>): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
}

const messagesWordEvent = messagesEvent("content_block_delta", { index: 0, delta: { type: "text_delta", text: word } });

function messagesEvents(): string[] {
  const message = {
    id: "msg_bench000000000000000000001",
    type: "message",
    role: "assistant",
    model: "bench-model",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 19, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 1 },
  };
  return [
    messagesEvent("message_start", { message }),
    messagesEvent("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
    ...Array.from({ length: streamWordCount }, () => messagesWordEvent),
    messagesEvent("content_block_stop", { index: 0 }),
    messagesEvent("message_delta", {
      delta: { stop_reason: "end_turn", stop_sequence: null },
      usage: { output_tokens: 98 },
    }),
    messagesEvent("message_stop", {}),
  ];
}

/** With running figures in each chunk, as Google has them. */
function geminiEvent(text: string, words: number, end: Record<string, unknown> = {}): string {
  const candidate = { content: { parts: [{ text }], role: "model" }, ...end, index: 0 };
  const usageMetadata = {
    promptTokenCount: 19,
    candidatesTokenCount: words,
    totalTokenCount: 19 + words,
    promptTokensDetails: [{ modality: "TEXT", tokenCount: 19 }],
  };
  const payload = { candidates: [candidate], usageMetadata, modelVersion: "bench-model", responseId: "bench001" };
  return `data: ${JSON.stringify(payload)}\n\n`;
}

function geminiEvents(): string[] {
  const words = Array.from({ length: streamWordCount }, (_, index) => geminiEvent(word, index + 1));
  return [...words, geminiEvent("", streamWordCount, { finishReason: "STOP" })];
}

function chunk(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}

function burstsOf(events: readonly string[], end: string): Buffer[] {
  const size = Math.ceil(events.length / streamBurstCount);
  const last = streamBurstCount - 1;
  return Array.from({ length: streamBurstCount }, (_, index) => {
    const text = events.slice(index * size, (index + 1) * size).join("");
    const framed = index === last ? `${chunk(`${text}${end}`)}0\r\n\r\n` : chunk(text);
    return index === 0 ? Buffer.concat([streamHead, Buffer.from(framed)]) : Buffer.from(framed);
  });
}

/** The writes of one stream. */
export interface UpstreamStream {
  /** One entry a flush: the first carries the answer's head, the last the end of the stream. */
  bursts: readonly Buffer[];
  /** One event more, for streams that are kept open. */
  word: Buffer;
}

export const streamsOf: Readonly<Record<UpstreamDialect, UpstreamStream>> = {
  chat: { bursts: burstsOf(chatEvents(), "data: [DONE]\n\n"), word: Buffer.from(chunk(wordEvent)) },
  messages: { bursts: burstsOf(messagesEvents(), ""), word: Buffer.from(chunk(messagesWordEvent)) },
  gemini: { bursts: burstsOf(geminiEvents(), ""), word: Buffer.from(chunk(geminiEvent(word, 1))) },
};
