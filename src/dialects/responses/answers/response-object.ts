import { type JsonObject, listOf, objectOf, parseObject } from "../../../core/index.ts";
import type { ClientContext } from "../../conversation/index.ts";

/** The parts of a response that change while it is generated. */
export interface ResponseState {
  status: "queued" | "in_progress" | "completed" | "incomplete" | "failed";
  incompleteDetails?: JsonObject | null | undefined;
  error?: JsonObject | undefined;
  /** Items as JSON text. */
  output: readonly string[];
  usage?: JsonObject | undefined;
  serviceTier?: string | undefined;
}

/** The parts of a call that its response repeats. */
type NamedCall = Pick<ClientContext, "callId" | "created" | "request">;

/** A response in the background before its beginning. */
export function queuedResponse(call: NamedCall, model: string): JsonObject {
  const text = new ResponseWriter(call, model, undefined).write({ status: "queued", output: [] });
  return { ...parseObject(text), background: true };
}

/**
 * The response as JSON text. The repeated part of the request is serialized once: it may be long, and is in three
 * events of every stream.
 */
export class ResponseWriter {
  readonly #head: string;
  readonly #echo: string;

  constructor(client: NamedCall, model: string, created: number | undefined) {
    const identity = {
      id: `resp_${client.callId}`,
      object: "response",
      created_at: created ?? client.created,
      model,
    };
    this.#head = JSON.stringify(identity).slice(0, -1);
    this.#echo = JSON.stringify(echoOf(client.request)).slice(1);
  }

  write({ status, incompleteDetails = null, error, output, usage, serviceTier = "default" }: ResponseState): string {
    const state = { status, error: error ?? null, incomplete_details: incompleteDetails, service_tier: serviceTier };
    const counted = usage === undefined ? "" : `"usage":${JSON.stringify(usage)},`;
    const members = JSON.stringify(state).slice(1, -1);
    return `${this.#head},${members},"output":[${output.join(",")}],${counted}${this.#echo}`;
  }
}

/** Fields of the request, with defaults for omitted ones; null if only the upstream knows the value. */
function echoOf(request: JsonObject): JsonObject {
  const { effort = null, summary = null } = objectOf(request["reasoning"]) ?? {};
  const tools = listOf(request["tools"]);
  return {
    background: false,
    instructions: request["instructions"] ?? null,
    max_output_tokens: request["max_output_tokens"] ?? null,
    max_tool_calls: request["max_tool_calls"] ?? null,
    metadata: request["metadata"] ?? {},
    parallel_tool_calls: request["parallel_tool_calls"] ?? true,
    previous_response_id: request["previous_response_id"] ?? null,
    prompt_cache_key: request["prompt_cache_key"] ?? null,
    reasoning: { effort, summary },
    safety_identifier: request["safety_identifier"] ?? null,
    store: request["store"] ?? true,
    temperature: request["temperature"] ?? null,
    text: { format: { type: "text" }, ...objectOf(request["text"]) },
    tool_choice: request["tool_choice"] ?? "auto",
    tools: tools.map(echoTool),
    top_logprobs: request["top_logprobs"] ?? 0,
    top_p: request["top_p"] ?? null,
    truncation: request["truncation"] ?? "disabled",
    ...conversationOf(request),
    ...(request["user"] === undefined ? {} : { user: request["user"] }),
  };
}

/** The conversation that the response belongs to. */
function conversationOf({ conversation: given }: JsonObject): JsonObject {
  const id = typeof given === "string" ? given : objectOf(given)?.["id"];
  return id === undefined ? {} : { conversation: { id } };
}

/** Members of a function that may be omitted in requests, but are always present here. */
function echoTool(tool: unknown): unknown {
  const given = objectOf(tool);
  if (given?.["type"] !== "function") return tool;
  return { ...given, parameters: given["parameters"] ?? null, strict: given["strict"] ?? null };
}
