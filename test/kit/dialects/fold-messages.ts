import { dataOfStream } from "./fold-chat.ts";

type Json = Record<string, unknown>;

/** A client's sum of the events of a Messages stream, as in Anthropic's SDK: the whole message. */
export function foldMessages(text: string): Json {
  let message: Json = {};
  const content: Json[] = [];
  const inputs = new Map<number, string>();
  for (const value of dataOfStream(text)) {
    const event = value as Json;
    const index = event["index"] as number;
    switch (event["type"]) {
      case "message_start":
        message = { ...(event["message"] as Json) };
        break;
      case "content_block_start":
        content[index] = { ...(event["content_block"] as Json) };
        break;
      case "content_block_delta":
        addDelta(content[index] ?? {}, event["delta"] as Json, inputs, index);
        break;
      case "message_delta":
        Object.assign(message, event["delta"]);
        message["usage"] = { ...(message["usage"] as Json), ...(event["usage"] as Json) };
        break;
    }
  }
  for (const [index, json] of inputs) (content[index] as Json)["input"] = parsed(json);
  return { ...message, content };
}

function addDelta(block: Json, delta: Json, inputs: Map<number, string>, index: number): void {
  switch (delta["type"]) {
    case "text_delta":
      block["text"] = String(block["text"]) + String(delta["text"]);
      break;
    case "thinking_delta":
      block["thinking"] = String(block["thinking"]) + String(delta["thinking"]);
      break;
    case "signature_delta":
      block["signature"] = delta["signature"];
      break;
    case "citations_delta":
      block["citations"] = [...((block["citations"] ?? []) as unknown[]), delta["citation"]];
      break;
    case "input_json_delta":
      inputs.set(index, (inputs.get(index) ?? "") + String(delta["partial_json"]));
      break;
  }
}

/** As in a whole answer: arguments that are not an object are kept as text. */
function parsed(json: string): unknown {
  if (json.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  } catch {
    // Kept below.
  }
  return { INVALID_JSON: json };
}
