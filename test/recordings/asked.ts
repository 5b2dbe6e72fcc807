import { type Dialect, type JsonObject, parseObject } from "../../src/core/index.ts";
import { isEmpty, list, object, onlyKnows, text } from "./said.ts";

/** The content of a request, read from its body without the gateway's own readers. */
export interface Asked {
  texts: { role: "system" | "user" | "assistant"; text: string }[];
  tools: AskedTool[];
  calls: { id: string; name: string; arguments: unknown }[];
  /** `call`: the position of the call that it answers; -1 without one. */
  results: { call: number; text: string }[];
  /** Addresses, ids or bytes of images and files. */
  media: string[];
}

interface AskedTool {
  name: string;
  description: string;
  parameters: JsonObject;
}

/** Reads a request of this dialect. */
export function askedIn(dialect: Dialect, body: JsonObject): Asked {
  const asked: Asked = { texts: [], tools: [], calls: [], results: [], media: [] };
  readers[dialect](body, asked);
  return asked;
}

const readers: Readonly<Record<Dialect, (body: JsonObject, asked: Asked) => void>> = {
  chat: readChat,
  messages: readMessages,
  responses: readResponses,
  gemini: readGemini,
};

function roleOf(message: JsonObject): "system" | "user" | "assistant" {
  const role = message["role"] ?? "assistant";
  if (role === "user" || role === "assistant") return role;
  if (role === "system" || role === "developer") return "system";
  throw new Error(`no such role: ${JSON.stringify(role)}`);
}

function readChat(body: JsonObject, asked: Asked): void {
  for (const message of list(body["messages"])) {
    if (message["role"] === "tool") {
      addResult(asked, text(message["tool_call_id"]), message["content"]);
      continue;
    }
    onlyKnows(message, "a chat message", ["role", "content", "name", "tool_calls", "reasoning", "reasoning_content"]);
    addContent(asked, roleOf(message), message["content"]);
    for (const call of list(message["tool_calls"])) {
      const { name, arguments: said } = object(call["function"]);
      addCall(asked, text(call["id"]), text(name), text(said));
    }
  }
  for (const tool of list(body["tools"])) {
    const { name, description, parameters } = object(tool["function"]);
    if (tool["type"] === "function") addTool(asked, name, description, parameters);
  }
}

function readMessages(body: JsonObject, asked: Asked): void {
  addContent(asked, "system", body["system"]);
  for (const message of list(body["messages"])) {
    const role = roleOf(message);
    if (typeof message["content"] === "string") addContent(asked, role, message["content"]);
    for (const block of list(message["content"])) {
      if (block["type"] === "tool_use")
        addCall(asked, text(block["id"]), text(block["name"]), JSON.stringify(block["input"]));
      else if (block["type"] === "tool_result") addResult(asked, text(block["tool_use_id"]), block["content"]);
      else if (isSaid(block)) addContent(asked, role, [block]);
    }
  }
  for (const { type, name, description, input_schema: schema } of list(body["tools"])) {
    if (type === undefined || type === "custom") addTool(asked, name, description, schema);
  }
}

/** Thoughts are only for their maker; tools that Anthropic runs are omitted. */
const isSaid = ({ type }: JsonObject): boolean => type === "text" || type === "image" || type === "document";

function readResponses(body: JsonObject, asked: Asked): void {
  addContent(asked, "system", body["instructions"]);
  if (typeof body["input"] === "string") addContent(asked, "user", body["input"]);
  for (const item of list(body["input"])) {
    const { type = "message", call_id: id } = item;
    if (type === "message") addContent(asked, roleOf(item), item["content"]);
    if (type === "function_call") addCall(asked, text(id), text(item["name"]), text(item["arguments"]));
    if (type === "function_call_output") addResult(asked, text(id), item["output"]);
  }
  for (const { type, name, description, parameters } of list(body["tools"])) {
    if (type === "function") addTool(asked, name, description, parameters);
  }
}

function readGemini(body: JsonObject, asked: Asked): void {
  addContent(asked, "system", object(body["systemInstruction"])["parts"]);
  for (const { role, parts } of list(body["contents"])) {
    for (const part of list(parts)) {
      const { functionCall, functionResponse, inlineData, fileData } = part;
      const call = object(functionCall);
      const result = object(functionResponse);
      if (functionCall !== undefined)
        addCall(asked, text(call["id"]), text(call["name"]), JSON.stringify(call["args"]));
      else if (functionResponse !== undefined)
        addResult(asked, text(result["id"]), resultOf(object(result["response"])));
      else if (inlineData !== undefined) {
        const { mimeType, data } = object(inlineData);
        asked.media.push(`data:${text(mimeType)};base64,${text(data)}`);
      } else if (fileData !== undefined) asked.media.push(text(object(fileData)["fileUri"]));
      else addContent(asked, role === "model" ? "assistant" : "user", [part]);
    }
  }
  for (const { name, description, parametersJsonSchema } of list(body["tools"]).flatMap((tool) =>
    list(tool["functionDeclarations"]),
  )) {
    addTool(asked, name, description, parametersJsonSchema);
  }
}

function resultOf(response: JsonObject): string {
  const { output, error } = response;
  return text(output ?? error) || (output === "" ? "" : JSON.stringify(response));
}

function addContent(asked: Asked, role: "system" | "user" | "assistant", content: unknown): void {
  if (typeof content === "string" && content !== "") asked.texts.push({ role, text: content });
  for (const part of list(content)) {
    if (!isEmpty(part["text"])) asked.texts.push({ role, text: text(part["text"]) });
    asked.media.push(...mediaIn(part));
  }
}

/** The members that name or hold an image or a file, in any dialect. */
function mediaIn(part: JsonObject): string[] {
  const places = [
    part,
    object(part["source"]),
    object(part["image_url"]),
    object(part["file"]),
    object(part["input_audio"]),
  ];
  const members = ["url", "file_id", "file_url", "file_data", "image_url", "data"];
  return places.flatMap((place) =>
    members.flatMap((member) => (isEmpty(text(place[member])) ? [] : [text(place[member])])),
  );
}

function addCall({ calls }: Asked, id: string, name: string, said: string): void {
  calls.push({ id, name, arguments: parseObject(said === "" ? "{}" : said) ?? said });
}

/** The images of a result may follow it in a separate message. */
function addResult({ calls, results, media }: Asked, id: string, content: unknown): void {
  const parts = list(content);
  const said = typeof content === "string" ? content : parts.map((part) => text(part["text"])).join("");
  results.push({ call: calls.findLastIndex((call) => call.id === id), text: said });
  media.push(...parts.flatMap(mediaIn));
}

function addTool({ tools }: Asked, name: unknown, description: unknown, parameters: unknown): void {
  tools.push({ name: text(name), description: text(description), parameters: object(parameters) });
}
