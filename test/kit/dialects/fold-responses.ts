import { dataOfStream } from "./fold-chat.ts";

type Json = Record<string, unknown>;

/**
 * A client's sum of the events of a Responses stream, as in OpenAI's SDK: the items. Throws if they differ from the
 * items of the last event.
 */
export function foldResponses(text: string): Json {
  const output: Json[] = [];
  let last: Json = {};
  for (const value of dataOfStream(text)) {
    if (value === "[DONE]") continue;
    const event = value as Json;
    if (event["response"] !== undefined) last = event["response"] as Json;
    else addEvent(output, event);
  }
  if (last["status"] !== "failed" && !Bun.deepEquals(output, last["output"])) {
    throw new Error(`events say ${JSON.stringify(output)}, the response says ${JSON.stringify(last["output"])}`);
  }
  return last;
}

function addEvent(output: Json[], event: Json): void {
  const index = event["output_index"] as number;
  const type = String(event["type"]).slice("response.".length);
  const item = output[index] ?? {};
  switch (type) {
    case "output_item.added":
      if (index !== output.length) throw new Error(`item ${index} of ${output.length}`);
      output.push(event["item"] as Json);
      return;
    case "output_item.done":
      expectEqual(contentOf(item), contentOf(event["item"] as Json));
      output[index] = event["item"] as Json;
      return;
    case "content_part.added":
      (item["content"] as Json[])[event["content_index"] as number] = event["part"] as Json;
      return;
    case "content_part.done":
      expectEqual((item["content"] as Json[])[event["content_index"] as number], event["part"]);
      return;
    case "output_text.delta":
    case "refusal.delta":
      addDelta((item["content"] as Json[])[event["content_index"] as number] as Json, event);
      return;
    case "output_text.annotation.added":
      annotationsOf(item, event)[event["annotation_index"] as number] = event["annotation"] as Json;
      return;
    case "function_call_arguments.delta":
      item["arguments"] = String(item["arguments"]) + String(event["delta"]);
      return;
    case "custom_tool_call_input.delta":
      item["input"] = String(item["input"]) + String(event["delta"]);
      return;
    case "reasoning_summary_part.added":
      (item["summary"] as Json[])[event["summary_index"] as number] = event["part"] as Json;
      return;
    case "reasoning_summary_text.delta": {
      const part = (item["summary"] as Json[])[event["summary_index"] as number] as Json;
      part["text"] = String(part["text"]) + String(event["delta"]);
    }
  }
}

function addDelta(part: Json, { delta, logprobs }: Json): void {
  const name = part["type"] === "refusal" ? "refusal" : "text";
  part[name] = String(part[name]) + String(delta);
  if (logprobs !== undefined) part["logprobs"] = [...(part["logprobs"] as unknown[]), ...(logprobs as unknown[])];
}

function annotationsOf(item: Json, event: Json): Json[] {
  const part = (item["content"] as Json[])[event["content_index"] as number] as Json;
  return part["annotations"] as Json[];
}

/** Items of tools, of which most is known at their end alone. */
const ofTools: ReadonlySet<unknown> = new Set([
  "web_search_call",
  "mcp_call",
  "mcp_list_tools",
  "code_interpreter_call",
  "file_search_call",
  "image_generation_call",
]);

/** The content of an item; its status and encrypted data come with its end. */
function contentOf(item: Json): Json {
  if (ofTools.has(item["type"])) return { id: item["id"], type: item["type"] };
  return { ...item, status: undefined, encrypted_content: undefined, result: undefined };
}

function expectEqual(added: unknown, told: unknown): void {
  if (!Bun.deepEquals(added, told)) throw new Error(`${JSON.stringify(added)} is not ${JSON.stringify(told)}`);
}
