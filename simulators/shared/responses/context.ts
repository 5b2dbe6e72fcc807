import { asArray, asObject, isGiven, type JsonObject } from "../json.ts";
import { itemsOf } from "../kept-answers.ts";
import type { Call, ErrorAnswer } from "../types.ts";
import type { ResponsesWire } from "./wire.ts";

/** All items before an answer, or the reason why they cannot be used. */
export type Context = { readonly items: readonly JsonObject[] } | { readonly error: ErrorAnswer };

/** Joins the items of earlier responses with the request's own input, each item with an id. */
export function readContext(call: Call, body: JsonObject, wire: ResponsesWire): Context {
  const previous = body["previous_response_id"];
  const earlier = typeof previous === "string" ? call.kept.get(previous) : undefined;
  if (typeof previous === "string" && earlier === undefined) {
    return { error: wire.notKept("response", previous, "previous_response_id") };
  }
  const own = ownItems(call, body, wire);
  if ("error" in own) return own;
  const items = [...(earlier === undefined ? [] : itemsOf(earlier)), ...own.items];
  const error = checkItems(items, call, wire);
  return error === null ? { items } : { error };
}

/** The items of the request itself, references resolved. */
function ownItems(call: Call, body: JsonObject, wire: ResponsesWire): Context {
  const { input } = body;
  const given = typeof input === "string" ? [{ role: "user", content: input }] : asArray(input).map(asObject);
  const items: JsonObject[] = [];
  for (const [index, item] of given.entries()) {
    const id = String(item["id"]);
    const found = item["type"] === "item_reference" ? call.kept.item(id) : named(item, index, call, wire);
    if (found === undefined) return { error: wire.notKept("item", id, "input") };
    items.push(found);
  }
  return { items };
}

const prefixes = new Map([
  ["function_call", "fc"],
  ["function_call_output", "fc"],
  ["reasoning", "rs"],
]);

/** The item as it is kept: with type, id, and its content as parts. */
function named(item: JsonObject, index: number, call: Call, wire: ResponsesWire): JsonObject {
  const type = typeof item["type"] === "string" ? item["type"] : "message";
  const id = item["id"] ?? wire.itemId(prefixes.get(type) ?? "msg", `input ${index}`, call.identity);
  if (type !== "message") return { status: "completed", ...item, id };
  const assistant = item["role"] === "assistant";
  const content = typeof item["content"] === "string" ? [textPart(item["content"], assistant)] : item["content"];
  return { type, id, status: "completed", ...item, content };
}

function textPart(text: string, assistant: boolean): JsonObject {
  return assistant ? { type: "output_text", text, annotations: [], logprobs: [] } : { type: "input_text", text };
}

function checkItems(items: readonly JsonObject[], call: Call, wire: ResponsesWire): ErrorAnswer | null {
  for (const [index, item] of items.entries()) {
    const { type, encrypted_content: sealed } = item;
    if (type === "compaction" && wire.seal.open(sealed) === undefined) return wire.forged(String(sealed));
    const error =
      type === "reasoning" ? checkReasoning(item, items[index + 1], call, wire) : checkPair(item, items, wire);
    if (error !== null) return error;
  }
  return null;
}

/** The results of reasoning besides a message. */
const callTypes: ReadonlySet<unknown> = new Set(["function_call", "custom_tool_call", "web_search_call"]);

/** Reasoning comes back sealed, or as an item that is still kept; and never as the last word. */
function checkReasoning(
  item: JsonObject,
  next: JsonObject | undefined,
  call: Call,
  wire: ResponsesWire,
): ErrorAnswer | null {
  const { id, encrypted_content: sealed } = item;
  if (isGiven(sealed) && wire.seal.open(sealed) === undefined) return wire.forged(String(sealed));
  if (!wire.strictItems) return null;
  const kept = isGiven(sealed) || call.kept.item(String(id)) !== undefined;
  if (!kept) return wire.notKept("item", String(id), "input");
  const followed = next !== undefined && (next["role"] === "assistant" || callTypes.has(next["type"]));
  return followed ? null : refused(wire, `Item '${String(id)}' of type 'reasoning' lacks its required following item.`);
}

/** A result answers a call; the strict provider also wants a result for each call. */
function checkPair(item: JsonObject, items: readonly JsonObject[], wire: ResponsesWire): ErrorAnswer | null {
  const id = item["call_id"];
  const has = (type: string): boolean => items.some((other) => other["type"] === type && other["call_id"] === id);
  for (const type of ["function_call", "custom_tool_call"]) {
    if (item["type"] === `${type}_output` && !has(type)) {
      return refused(wire, `No tool call found for ${type.replaceAll("_", " ")} output with call_id ${String(id)}.`);
    }
    if (wire.strictItems && item["type"] === type && !has(`${type}_output`)) {
      return refused(wire, `No tool output found for ${type.replaceAll("_", " ")} ${String(id)}.`);
    }
  }
  return null;
}

function refused(wire: ResponsesWire, message: string): ErrorAnswer {
  return wire.errors.forProblem({ kind: "bad-value", field: "input", message, value: null });
}
