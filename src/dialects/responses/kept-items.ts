import { type JsonObject, listOf, objectOf } from "../../core/index.ts";
import { invalid, optional, readList, readObject, readWord } from "../conversation/index.ts";
import { isMakersOwn } from "./client-tools.ts";

/** The ids that the input references by `item_reference`, or by an image without its bytes: they must be looked up before it is read. */
export function referencedItems(body: JsonObject): string[] {
  return idsOf(body, (item) => isReference(item) || isBareImage(item));
}

function idsOf(body: JsonObject, isNamed: (item: JsonObject) => boolean): string[] {
  return listOf(body["input"]).flatMap((value) => {
    const item = objectOf(value);
    const id = item === undefined || !isNamed(item) ? undefined : item["id"];
    return typeof id === "string" ? [id] : [];
  });
}

/** Whether an item is an image by its id alone. */
function isBareImage({ type, result }: JsonObject): boolean {
  return type === "image_generation_call" && (typeof result !== "string" || result === "");
}

/** The ids of the input's items that their makers alone can read, but not of those that are referenced too. */
export function itemsOfMakers(body: JsonObject): string[] {
  const ids: string[] = [];
  for (const value of listOf(body["input"])) {
    const item = objectOf(value);
    if (item !== undefined && typeof item["id"] === "string" && isMakersOwn(item)) ids.push(item["id"]);
  }
  if (ids.length === 0) return ids;
  const referenced = new Set(idsOf(body, isReference));
  return ids.filter((id) => !referenced.has(id));
}

/**
 * Whether an id is of a run, a search in files or an image of the gateway's own (`src/hosted`): they end with the numbers of the round
 * and the use. No upstream knows such an item, nor its container.
 */
export function isOwnRun(id: unknown): id is string {
  return typeof id === "string" && OWN_RUN.test(id);
}

const OWN_RUN = /^(?:ci|fs|sh|sho|ig)_0[a-z\d]{24}_\d+_\d+$/;

/** The kind of an item: `type` is optional for a message, and for a reference. */
export function typeOf(item: JsonObject, at: string): string {
  const type = optional(item["type"], `${at}.type`, readWord);
  return type ?? (isReference(item) ? "item_reference" : "message");
}

/** Whether an item only names another one. */
export function isReference({ type, role, id }: JsonObject): boolean {
  return type === "item_reference" || ((type === undefined || type === null) && role === undefined && id !== undefined);
}

const prefixes: Readonly<Record<string, string>> = {
  message: "msg",
  function_call: "fc",
  function_call_output: "fco",
  custom_tool_call: "ctc",
  custom_tool_call_output: "ctco",
  reasoning: "rs",
};

/** The item of an `item_reference`, or undefined if none is stored. */
type FindItem = (id: string) => JsonObject | undefined;

/**
 * The request's own input as it is stored and listed: every item with a type, an id and a status, content in parts, and
 * references resolved if a look-up is given. `callId` is the base of the answer's ids.
 */
export function inputItems(body: JsonObject, callId: string, find?: FindItem): JsonObject[] {
  const { input } = body;
  if (typeof input === "string") return [storedItem({ role: "user", content: input }, "input", `${callId}_in0`)];
  return readList(input, "input").map((value, index) => {
    const at = `input.${index}`;
    const item = readObject(value, at);
    const named = find === undefined ? undefined : itemNamed(item, at, find);
    return named ?? storedItem(item, at, `${callId}_in${index}`);
  });
}

/** Undefined for an item that is not a reference. An image that is not kept is the upstream's. */
function itemNamed(item: JsonObject, at: string, find: FindItem): JsonObject | undefined {
  if (isBareImage(item) && typeof item["id"] === "string") {
    const found = find(item["id"]);
    return found?.["type"] === "image_generation_call" ? found : undefined;
  }
  if (typeOf(item, at) !== "item_reference") return undefined;
  const found = find(readWord(item["id"], `${at}.id`));
  if (found === undefined) throw invalid(`${at}.id`, "no item is kept that has this id");
  return found;
}

function storedItem(item: JsonObject, at: string, name: string): JsonObject {
  const type = typeOf(item, at);
  const prefix = Object.hasOwn(prefixes, type) ? prefixes[type] : "item";
  const head = { type, id: item["id"] ?? `${prefix}_${name}` };
  if (type === "item_reference") return item;
  if (type !== "message") return { ...head, status: "completed", ...item, ...head };
  const { content, role } = item;
  const empty = role === "assistant" ? { type: "output_text", annotations: [], logprobs: [] } : { type: "input_text" };
  const parts = typeof content === "string" ? [{ ...empty, text: content }] : content;
  return { ...head, status: "completed", ...item, ...head, content: parts };
}
