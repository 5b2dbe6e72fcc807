import { type JsonObject, objectOf } from "../../core/index.ts";
import { invalid, optional, readList, readObject, readWord } from "../conversation/index.ts";

/** What is kept of earlier responses, and a request refers to. Items as `inputItems` and the answers themselves have them. */
export interface KeptItems {
  /** What `previous_response_id` stands for: everything that went in and came out before, the oldest first. */
  earlier?: readonly JsonObject[] | undefined;
  /** The item that an `item_reference` names, or undefined where none is kept. */
  find?: ((id: string) => JsonObject | undefined) | undefined;
}

/** The ids that the input refers to by `item_reference`: what must be looked up before it is read. */
export function referencedItems(body: JsonObject): string[] {
  const input: readonly unknown[] = Array.isArray(body["input"]) ? body["input"] : [];
  return input.flatMap((value) => {
    const item = objectOf(value);
    const id = item === undefined || !isReference(item) ? undefined : item["id"];
    return typeof id === "string" ? [id] : [];
  });
}

/** The kind of an item: a message need not say that it is one, and neither need a reference. */
export function typeOf(item: JsonObject, at: string): string {
  const type = optional(item["type"], `${at}.type`, readWord);
  return type ?? (isReference(item) ? "item_reference" : "message");
}

function isReference({ type, role, id }: JsonObject): boolean {
  return type === "item_reference" || ((type === undefined || type === null) && role === undefined && id !== undefined);
}

/** The item that is meant: itself, or the kept one that it refers to; a reference itself where nothing is looked up. */
export function resolveItem(item: JsonObject, at: string, { earlier = [], find }: KeptItems): JsonObject {
  if (find === undefined || typeOf(item, at) !== "item_reference") return item;
  const id = readWord(item["id"], `${at}.id`);
  const found = earlier.find((one) => one["id"] === id) ?? find(id);
  if (found === undefined) throw invalid(`${at}.id`, "no item is kept that has this id");
  return found;
}

const prefixes: Readonly<Record<string, string>> = {
  message: "msg",
  function_call: "fc",
  function_call_output: "fco",
  custom_tool_call: "ctc",
  custom_tool_call_output: "ctco",
  reasoning: "rs",
};

/**
 * The request's own input as it is kept and listed: references resolved, every item with a type, an id and a status,
 * content in parts. `callId` is what the answer's ids are made from.
 */
export function inputItems(body: JsonObject, callId: string, kept: KeptItems = {}): JsonObject[] {
  const { input } = body;
  if (typeof input === "string") return [keptItem({ role: "user", content: input }, "input", `${callId}_in0`)];
  return readList(input, "input").map((value, index) => {
    const at = `input.${index}`;
    const item = readObject(value, at);
    const resolved = resolveItem(item, at, kept);
    return resolved === item ? keptItem(item, at, `${callId}_in${index}`) : resolved;
  });
}

function keptItem(item: JsonObject, at: string, name: string): JsonObject {
  const type = typeOf(item, at);
  const prefix = Object.hasOwn(prefixes, type) ? prefixes[type] : "item";
  const head = { type, id: item["id"] ?? `${prefix}_${name}` };
  if (type === "item_reference") return item;
  if (type !== "message") return { ...head, status: "completed", ...item, ...head };
  const { content, role } = item;
  const said = role === "assistant" ? { type: "output_text", annotations: [], logprobs: [] } : { type: "input_text" };
  const parts = typeof content === "string" ? [{ ...said, text: content }] : content;
  return { ...head, status: "completed", ...item, ...head, content: parts };
}
