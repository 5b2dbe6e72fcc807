import OpenAI from "openai";
import type { Response as Responded, ResponseInputItem } from "openai/resources/responses/responses";
import { type Access, type Ask, type Driver, notingFetch, png, type ClientResult, tools } from "./driver.ts";
import { openaiError } from "./openai-errors.ts";

/** Responses with OpenAI's SDK; its helper gathers streams and checks the order of their events. */
export function responsesDriver({ url, token }: Access): Driver {
  const requestIds: string[] = [];
  let streamed = "";
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: token, maxRetries: 0, fetch: notingFetch(requestIds) });

  async function readStream(body: ReturnType<typeof bodyOf>): Promise<Responded> {
    const stream = client.responses.stream(body);
    stream.on("response.output_text.delta", ({ delta }) => {
      streamed += delta;
    });
    return stream.finalResponse();
  }

  async function tell(ask: Ask, input: readonly ResponseInputItem[]): Promise<ClientResult> {
    const body = bodyOf(ask, input);
    const response = await (ask.stream === true
      ? readStream(body)
      : client.responses.create({ ...body, stream: false }));
    const { output, usage } = response;
    const calls = output.flatMap((item) =>
      item.type === "function_call" ? [{ id: item.call_id, name: item.name, arguments: item.arguments }] : [],
    );
    const input_tokens = usage?.input_tokens ?? 0;
    return {
      text: response.output_text,
      thoughts: thoughtsIn(output),
      calls,
      stop: stopOf(response, calls.length),
      usage: { input: input_tokens, output: (usage?.total_tokens ?? 0) - input_tokens },
      reply: (results, model = ask.model) => {
        const told = results.map((result, index): ResponseInputItem => {
          return { type: "function_call_output", call_id: calls[index]?.id ?? "", output: result };
        });
        return tell({ ...ask, model }, [...input, ...output.map(asInput), ...told]);
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

function contentOf({ text, image }: Ask): OpenAI.Responses.ResponseInputMessageContentList | string {
  if (image !== true) return text;
  return [
    { type: "input_text", text },
    { type: "input_image", detail: "auto", image_url: `data:image/png;base64,${png}` },
  ];
}

/** Nothing is kept upstream: the client sends everything back. */
function bodyOf(ask: Ask, input: readonly ResponseInputItem[]) {
  const { model, tools: count = 0, thinks, schema, tokensMax, stop } = ask;
  return {
    model,
    input: [...input],
    ...(count === 0
      ? {}
      : { tools: tools.slice(0, count).map((tool) => ({ type: "function" as const, strict: true, ...tool })) }),
    ...(thinks === true
      ? {
          reasoning: { effort: "high" as const, summary: "auto" as const },
          include: ["reasoning.encrypted_content" as const],
          store: false,
        }
      : {}),
    ...(schema === undefined
      ? {}
      : { text: { format: { type: "json_schema" as const, name: "weather", schema, strict: true } } }),
    ...(tokensMax === undefined ? {} : { max_output_tokens: tokensMax }),
    ...(stop === undefined ? {} : { stop: [stop] }),
  };
}

function thoughtsIn(output: Responded["output"]): string {
  return output
    .flatMap((item) => (item.type === "reasoning" ? [...(item.content ?? []), ...item.summary] : []))
    .map(({ text }) => text)
    .join("");
}

function stopOf({ status, incomplete_details: details }: Responded, calls: number): ClientResult["stop"] {
  if (status === "incomplete") return details?.reason === "max_output_tokens" ? "length" : "end";
  return calls > 0 ? "tools" : "end";
}

/** The helper's own additions are none of the API's members. */
function asInput(item: Responded["output"][number]): ResponseInputItem {
  const { parsed_arguments: _, ...rest } = item as typeof item & { parsed_arguments?: unknown };
  return rest as ResponseInputItem;
}
