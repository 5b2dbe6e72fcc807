import OpenAI from "openai";
import { type Access, type Ask, type Driver, notingFetch, png, type ClientResult, tools } from "./driver.ts";
import { openaiError } from "./openai-errors.ts";

type Message = OpenAI.Chat.ChatCompletionMessageParam;
type Body = OpenAI.Chat.ChatCompletionCreateParams;

/** A message as upstreams send it: OpenAI's format, with additions of others. */
interface Said {
  role: "assistant";
  content?: string | null | ContentChunk[];
  reasoning_content?: string | null;
  reasoning_details?: unknown[];
  tool_calls?: { index?: number; id: string; function: { name: string; arguments: string } }[] | null;
}

/** Mistral's content with thinking. */
interface ContentChunk {
  type: string;
  text?: string;
  thinking?: { text: string }[];
}

interface Counts {
  prompt_tokens: number;
  total_tokens: number;
}

interface Answer {
  message: Said;
  finish: string;
  usage: Counts | undefined;
}

/** Chat completions with OpenAI's SDK. */
export function chatDriver({ url, token }: Access): Driver {
  const requestIds: string[] = [];
  let streamed = "";
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: token, maxRetries: 0, fetch: notingFetch(requestIds) });

  async function readStream(body: Body): Promise<Answer> {
    const stream = await client.chat.completions.create({
      ...body,
      stream: true,
      stream_options: { include_usage: true },
    });
    const answer: Answer = { message: { role: "assistant" }, finish: "", usage: undefined };
    for await (const chunk of stream) {
      const [choice] = (chunk.choices as (typeof chunk)["choices"] | undefined) ?? [];
      if (choice !== undefined) {
        addDelta(answer.message, choice.delta as Partial<Said>);
        streamed += textOf((choice.delta as Partial<Said>).content);
        answer.finish = choice.finish_reason ?? answer.finish;
      }
      answer.usage = chunk.usage ?? answer.usage;
    }
    return answer;
  }

  async function readWhole(body: Body): Promise<Answer> {
    const { choices, usage } = await client.chat.completions.create({ ...body, stream: false });
    const [choice] = choices;
    return { message: choice?.message as Said, finish: choice?.finish_reason ?? "", usage };
  }

  async function tell(ask: Ask, messages: readonly Message[]): Promise<ClientResult> {
    const body = bodyOf(ask, messages);
    const { message, finish, usage } = await (ask.stream === true ? readStream(body) : readWhole(body));
    const calls = (message.tool_calls ?? []).map(({ id, function: { name, arguments: said } }) => {
      return { id, name, arguments: said };
    });
    return {
      text: textOf(message.content),
      thoughts: (message.reasoning_content ?? "") + thoughtsIn(message.content),
      calls,
      stop: stops[finish] ?? "end",
      usage: { input: usage?.prompt_tokens ?? 0, output: (usage?.total_tokens ?? 0) - (usage?.prompt_tokens ?? 0) },
      reply: (results, model = ask.model) => {
        const told = results.map((content, index): Message => {
          return { role: "tool", tool_call_id: calls[index]?.id ?? "", content };
        });
        return tell({ ...ask, model }, [...messages, message as Message, ...told]);
      },
    };
  }

  return {
    requestIds,
    streamed: () => streamed,
    errorClass: openaiError,
    ask: (ask) => tell(ask, [{ role: "user", content: contentOf(ask) }]),
  };
}

const stops: Record<string, ClientResult["stop"]> = { stop: "end", tool_calls: "tools", length: "length" };

function contentOf({ text, image }: Ask): OpenAI.Chat.ChatCompletionContentPart[] | string {
  if (image !== true) return text;
  return [
    { type: "text", text },
    { type: "image_url", image_url: { url: `data:image/png;base64,${png}` } },
  ];
}

function bodyOf({ model, tools: count = 0, thinks, schema, stop, tokensMax }: Ask, messages: readonly Message[]): Body {
  const offered = tools.slice(0, count).map((tool) => ({ type: "function" as const, function: tool }));
  return {
    model,
    messages: [...messages],
    ...(count === 0 ? {} : { tools: offered }),
    ...(thinks === true ? { reasoning_effort: "high" as const } : {}),
    ...(schema === undefined
      ? {}
      : { response_format: { type: "json_schema", json_schema: { name: "weather", schema, strict: true } } }),
    ...(stop === undefined ? {} : { stop: [stop] }),
    ...(tokensMax === undefined ? {} : { max_completion_tokens: tokensMax }),
  };
}

/** Google's calls come whole and without an index. */
function addDelta(said: Said, delta: Partial<Said>): void {
  if (Array.isArray(delta.content)) {
    said.content = [...(Array.isArray(said.content) ? said.content : []), ...delta.content];
  } else if (typeof delta.content === "string") {
    if (Array.isArray(said.content)) said.content.push({ type: "text", text: delta.content });
    else said.content = (said.content ?? "") + delta.content;
  }
  if (typeof delta.reasoning_content === "string") {
    said.reasoning_content = (said.reasoning_content ?? "") + delta.reasoning_content;
  }
  if (delta.reasoning_details !== undefined) {
    said.reasoning_details = [...(said.reasoning_details ?? []), ...delta.reasoning_details];
  }
  for (const piece of delta.tool_calls ?? []) addCall(said, piece);
  // Byteplus's encrypted thoughts, and whatever else others add: as it came.
  const added = new Set(["role", "content", "reasoning_content", "reasoning_details", "tool_calls"]);
  Object.assign(said, Object.fromEntries(Object.entries(delta).filter(([name]) => !added.has(name))));
}

function addCall(said: Said, piece: NonNullable<Said["tool_calls"]>[number]): void {
  const calls = (said.tool_calls ??= []);
  const call = calls[piece.index ?? calls.length];
  if (call === undefined) {
    const { index: _, ...whole } = piece;
    calls.push({ ...whole, function: { ...whole.function, arguments: whole.function.arguments } });
  } else {
    call.function.arguments += piece.function.arguments;
  }
}

function textOf(content: Said["content"]): string {
  if (!Array.isArray(content)) return content ?? "";
  return content.map(({ text = "" }) => text).join("");
}

function thoughtsIn(content: Said["content"]): string {
  if (!Array.isArray(content)) return "";
  return content.flatMap(({ thinking = [] }) => thinking.map(({ text }) => text)).join("");
}
