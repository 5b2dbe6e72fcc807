/** A gateway with entries of all kinds in front of one upstream, whose answers the tests write themselves. */
import { type Gateway, type ScriptedUpstream, startGateway, startScriptedUpstream } from "../kit/index.ts";

export type JsonBody = Record<string, unknown>;

/** An answer to a client, and the request to the upstream. */
export interface ReportAnswer {
  status: number;
  headers: Headers;
  text: string;
  /** The body of a whole answer. */
  body: JsonBody;
  /** The events of a stream. */
  events: JsonBody[];
  /** Undefined if nothing was sent. */
  sent: { path: string; body: JsonBody; text: string } | undefined;
}

export interface Scene {
  /** The answer is that of the upstream, or that to a request at a path. */
  ask(
    path: string,
    body: JsonBody,
    answer: Response | ((upstreamPath: string) => Response),
    headers?: Record<string, string>,
  ): Promise<ReportAnswer>;
  /** The record of a call. */
  generation(asked: ReportAnswer): Promise<{ usage: Record<string, number> }>;
  stop(): Promise<void>;
}

const compatible = ["deepseek", "mistral", "openrouter", "vllm", "groq", "moonshot"] as const;

function entriesAt(url: string): Record<string, object> {
  const at = (name: string, members: object): object => ({ base_url: `${url}/${name}`, api_key: "sk-any", ...members });
  return {
    openai: at("openai", { kind: "openai" }),
    "openai-responses": at("openai-responses", { kind: "openai", dialects: ["responses"] }),
    anthropic: at("anthropic", { kind: "anthropic" }),
    messages: at("messages", { kind: "anthropic", dialects: ["messages"] }),
    kimi: at("kimi", { kind: "anthropic", dialects: ["messages"], usage_includes_cache: true }),
    google: at("google", { kind: "google" }),
    xai: at("xai", { kind: "xai" }),
    byteplus: at("byteplus", { kind: "byteplus" }),
    generic: at("generic", { kind: "openai-compatible" }),
    ...Object.fromEntries(compatible.map((preset) => [preset, at(preset, { kind: "openai-compatible", preset })])),
  };
}

export async function startScene(): Promise<Scene> {
  const upstream: ScriptedUpstream = startScriptedUpstream();
  const gateway: Gateway = await startGateway({
    config: {
      upstream: { retries: 0 },
      pricing: { models: { "*": { input_mtok: 1, output_mtok: 2 } } },
    },
    providers: entriesAt(upstream.url),
  });
  const token = await gateway.token();
  const call = (path: string, body?: JsonBody, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(gateway.url + path, {
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
    });
  return {
    async ask(path, body, answer, headers = {}) {
      upstream.answerWith((seen) => (typeof answer === "function" ? answer(seen.path) : answer));
      const got = await call(path, body, headers);
      const text = await got.text();
      const request = upstream.requests.find(({ method }) => method === "POST");
      const isStream = got.headers.get("content-type")?.startsWith("text/event-stream") === true;
      return {
        status: got.status,
        headers: got.headers,
        text,
        body: isStream ? {} : (JSON.parse(text) as JsonBody),
        events: isStream ? dataOf(text) : [],
        sent: request && { path: request.path, body: JSON.parse(request.body) as JsonBody, text: request.body },
      };
    },
    async generation({ headers }) {
      const got = await call(`/v1/generations/${headers.get("x-request-id")}`);
      return (await got.json()) as { usage: Record<string, number> };
    },
    async stop() {
      await gateway.stop();
      await upstream.stop();
    },
  };
}

function dataOf(text: string): JsonBody[] {
  return text
    .split("\n")
    .filter((line) => line.startsWith("data: ") && line !== "data: [DONE]")
    .map((line) => JSON.parse(line.slice("data: ".length)) as JsonBody);
}

const EVENT_STREAM = { headers: { "content-type": "text/event-stream" } };

const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

/** A whole answer of chat. */
export function chatAnswer(message: JsonBody, finish = "stop", counted: JsonBody = usage): Response {
  const choices = [{ index: 0, message: { role: "assistant", ...message }, finish_reason: finish }];
  return Response.json({ id: "c1", object: "chat.completion", created: 1, model: "m", choices, usage: counted });
}

const chunk = (choices: readonly object[], members: JsonBody = {}): JsonBody => ({
  id: "c1",
  object: "chat.completion.chunk",
  created: 1,
  model: "m",
  choices,
  ...members,
});

/** A stream of chat: its deltas, and the end. */
export function chatStream(deltas: readonly JsonBody[], finish: string, counted: JsonBody = usage): Response {
  const chunks = [
    ...deltas.map((delta) => chunk([{ index: 0, delta, finish_reason: null }])),
    chunk([{ index: 0, delta: {}, finish_reason: finish }]),
    chunk([], { usage: counted }),
  ];
  const lines = chunks.map((one) => `data: ${JSON.stringify(one)}\n\n`);
  return new Response(`${lines.join("")}data: [DONE]\n\n`, EVENT_STREAM);
}

/** A stream whose events have names, as those of Messages and Responses. */
function namedStream(events: readonly JsonBody[]): Response {
  const lines = events.map((event) => `event: ${String(event["type"])}\ndata: ${JSON.stringify(event)}\n\n`);
  return new Response(lines.join(""), EVENT_STREAM);
}

/** A whole answer of Messages. */
export function messagesAnswer(members: JsonBody = {}): Response {
  return Response.json({
    id: "m1",
    type: "message",
    role: "assistant",
    model: "m",
    content: [{ type: "text", text: "ok" }],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
    ...members,
  });
}

const textItem = (text: string): JsonBody => ({
  type: "message",
  id: "msg_1",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text, annotations: [] }],
});

/** A whole answer of Responses. */
export function responsesAnswer(
  text = "ok",
  counted: JsonBody = { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
) {
  return Response.json({
    id: "resp_1",
    object: "response",
    created_at: 1,
    status: "completed",
    model: "m",
    output: [textItem(text)],
    usage: counted,
  });
}

/** An answer in the dialect of an upstream's path. */
export function answerAt(path: string): Response {
  if (path.endsWith("/messages")) return messagesAnswer();
  return path.endsWith("/responses") ? responsesAnswer() : chatAnswer({ content: "ok" });
}

/** A stream of Messages with one text. */
export function messagesStream(text: string, started: JsonBody, ended: JsonBody): Response {
  const message = { id: "m1", type: "message", role: "assistant", model: "m", content: [], stop_reason: null };
  return namedStream([
    { type: "message_start", message: { ...message, stop_sequence: null, usage: started } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: ended },
    { type: "message_stop" },
  ]);
}

/** A stream of Responses with one text, whose part has this index. */
export function responsesStream(text: string, contentIndex: number): Response {
  const item = textItem(text);
  const at = { output_index: 0, content_index: contentIndex, item_id: "msg_1" };
  const part = { type: "output_text", text, annotations: [] };
  const response = { id: "resp_1", object: "response", created_at: 1, model: "m", output: [] };
  return namedStream([
    { type: "response.created", response: { ...response, status: "in_progress" } },
    { type: "response.output_item.added", output_index: 0, item: { ...item, status: "in_progress", content: [] } },
    { type: "response.content_part.added", ...at, part: { ...part, text: "" } },
    { type: "response.output_text.delta", ...at, delta: text },
    { type: "response.output_text.done", ...at, text },
    { type: "response.content_part.done", ...at, part },
    { type: "response.output_item.done", output_index: 0, item },
    {
      type: "response.completed",
      response: {
        ...response,
        status: "completed",
        output: [item],
        usage: { input_tokens: 5, output_tokens: 1, total_tokens: 6 },
      },
    },
  ]);
}

/** The texts and calls in a stream of Messages, block by block. */
export function blocksOf(events: readonly JsonBody[]): JsonBody[] {
  const blocks: JsonBody[] = [];
  for (const event of events) {
    const index = Number(event["index"]);
    if (event["type"] === "content_block_start") blocks[index] = { ...(event["content_block"] as JsonBody), json: "" };
    const delta = (event["delta"] ?? {}) as JsonBody;
    const block = blocks[index];
    if (block === undefined) continue;
    if (delta["type"] === "text_delta") block["text"] = `${String(block["text"])}${String(delta["text"])}`;
    if (delta["type"] === "input_json_delta")
      block["json"] = `${String(block["json"])}${String(delta["partial_json"])}`;
  }
  return blocks;
}
