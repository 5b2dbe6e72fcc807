import Anthropic from "@anthropic-ai/sdk";
import { type Access, type Ask, type Driver, notingFetch, png, type ClientResult, tools } from "./driver.ts";

type Message = Anthropic.MessageParam;

const classes: Record<number, ReturnType<Driver["errorClass"]>> = {
  400: Anthropic.BadRequestError,
  401: Anthropic.AuthenticationError,
  404: Anthropic.NotFoundError,
  422: Anthropic.UnprocessableEntityError,
  429: Anthropic.RateLimitError,
};

/** Messages with Anthropic's SDK; its helper gathers streams. */
export function messagesDriver({ url, token }: Access): Driver {
  const requestIds: string[] = [];
  let streamed = "";
  const client = new Anthropic({ baseURL: url, apiKey: token, maxRetries: 0, fetch: notingFetch(requestIds) });

  async function readStream(body: Anthropic.MessageStreamParams): Promise<Anthropic.Message> {
    const stream = client.messages.stream(body);
    stream.on("text", (text) => {
      streamed += text;
    });
    return stream.finalMessage();
  }

  async function tell(ask: Ask, messages: readonly Message[]): Promise<ClientResult> {
    const body = bodyOf(ask, messages);
    const message = await (ask.stream === true ? readStream(body) : client.messages.create(body));
    const { content, usage } = message;
    const calls = content.flatMap((block) =>
      block.type === "tool_use" ? [{ id: block.id, name: block.name, arguments: JSON.stringify(block.input) }] : [],
    );
    const cached = (usage.cache_read_input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0);
    return {
      text: content.map((block) => (block.type === "text" ? block.text : "")).join(""),
      thoughts: content.map((block) => (block.type === "thinking" ? block.thinking : "")).join(""),
      calls,
      stop: stops[message.stop_reason ?? ""] ?? "end",
      usage: { input: usage.input_tokens + cached, output: usage.output_tokens },
      reply: (results, model = ask.model) => {
        const told = results.map((result, index): Anthropic.ToolResultBlockParam => {
          return { type: "tool_result", tool_use_id: calls[index]?.id ?? "", content: result };
        });
        return tell({ ...ask, model }, [
          ...messages,
          { role: "assistant", content: content as Anthropic.ContentBlockParam[] },
          { role: "user", content: told },
        ]);
      },
    };
  }

  return {
    requestIds,
    streamed: () => streamed,
    errorClass: (status) => (status >= 500 ? Anthropic.InternalServerError : (classes[status] ?? Anthropic.APIError)),
    ask: (ask) => tell(ask, [{ role: "user", content: contentOf(ask) }]),
  };
}

const stops: Record<string, ClientResult["stop"]> = {
  end_turn: "end",
  stop_sequence: "stop-sequence",
  tool_use: "tools",
  max_tokens: "length",
};

function contentOf({ text, image }: Ask): Anthropic.ContentBlockParam[] | string {
  if (image !== true) return text;
  return [
    { type: "text", text },
    { type: "image", source: { type: "base64", media_type: "image/png", data: png } },
  ];
}

function bodyOf(ask: Ask, messages: readonly Message[]): Anthropic.MessageCreateParamsNonStreaming {
  const { model, tools: count = 0, thinks, schema, stop, tokensMax = 16_000 } = ask;
  const offered = tools.slice(0, count).map(({ parameters, ...tool }) => ({ ...tool, input_schema: parameters }));
  return {
    model,
    max_tokens: tokensMax,
    messages: [...messages],
    ...(count === 0 ? {} : { tools: offered }),
    ...(thinks === true ? { thinking: { type: "enabled" as const, budget_tokens: 15_000 } } : {}),
    ...(schema === undefined ? {} : { output_config: { format: { type: "json_schema" as const, schema } } }),
    ...(stop === undefined ? {} : { stop_sequences: [stop] }),
  };
}
