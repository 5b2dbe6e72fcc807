import {
  type JsonObject,
  listOf,
  objectOf,
  type ObjectReader,
  ReferenceList,
  type StoredObject,
} from "../../core/index.ts";
import { isOwnRun, isReference } from "./kept-items.ts";
import type { ResponsesRequest } from "./request.ts";

/** The events with output items: each item when it begins and ends, and all of them at the end. */
const WORDS = [
  "response.output_item.added",
  "response.output_item.done",
  "response.completed",
  "response.incomplete",
  "response.failed",
].map((name) => Buffer.from(`"${name}"`));

/** Output items, containers, files, and everything that hosted tools search or run in. */
export const responsesObjects: ObjectReader<ResponsesRequest> = {
  references(body) {
    const list = new ReferenceList();
    addItems(list, body);
    list.add("conversation", body["conversation"], "conversation");
    list.add("prompt", body["prompt"], "prompt");
    addTools(list, body["tools"], "tools");
    return list.all;
  },

  created: () => ({
    words: WORDS,
    read({ item, response, output }) {
      const items = [item, ...listOf(output ?? objectOf(response)?.["output"])];
      return items.flatMap((each) => createdBy(objectOf(each) ?? {}));
    },
  }),
};

function createdBy(item: JsonObject): StoredObject[] {
  const found: StoredObject[] = [];
  if (typeof item["id"] === "string") found.push({ kind: "item", id: item["id"] });
  const container = containerOf(item);
  if (typeof container === "string") found.push({ kind: "container", id: container });
  return found;
}

/** The container of a call that ran code. */
function containerOf(item: JsonObject): unknown {
  return item["container_id"] ?? objectOf(item["environment"])?.["container_id"];
}

function addItems(list: ReferenceList, { input, tools }: ResponsesRequest): void {
  if (!Array.isArray(input)) return;
  // A tool with an automatic container continues in that of an earlier call.
  const runsCode = listOf(tools).some((tool) => {
    const { container, environment } = objectOf(tool) ?? {};
    return container !== undefined || objectOf(environment) !== undefined;
  });
  for (let index = 0; index < input.length; index += 1) {
    const item: JsonObject | undefined = input[index];
    if (item === undefined) continue;
    const param = `input.${index}`;
    if (isLookedUp(item)) list.add("item", item["id"], `${param}.id`);
    addApproval(list, item, input, param);
    if (runsCode && !isOwnRun(item["id"])) list.add("container", containerOf(item), `${param}.container_id`);
    if (Array.isArray(item["content"])) list.addParts(item["content"], `${param}.content`);
    const { output } = item;
    if (Array.isArray(output)) list.addParts(output, `${param}.output`);
    else if (typeof output === "object" && output !== null) list.addPart(objectOf(output) ?? {}, `${param}.output`);
  }
}

/** Whether the upstream takes the content of an item from what it has stored under the id, instead of from the item. */
function isLookedUp(item: JsonObject): boolean {
  if (item["id"] === undefined || item["id"] === null) return false;
  switch (item["type"]) {
    case "reasoning":
    case "compaction":
      return !isText(item["encrypted_content"]);
    case "image_generation_call":
      return !isText(item["result"]);
    default:
      return isReference(item) || Object.keys(item).every((name) => BARE.has(name));
  }
}

/** The members of an item without content. */
const BARE: ReadonlySet<string> = new Set(["id", "type", "status"]);

/** The request of a tool call that is approved, unless the input contains it. */
function addApproval(list: ReferenceList, item: JsonObject, input: readonly JsonObject[], param: string): void {
  const id = item["approval_request_id"];
  if (item["type"] !== "mcp_approval_response" || input.some((other) => other["id"] === id && !isLookedUp(other)))
    return;
  list.add("item", id, `${param}.approval_request_id`);
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

function addTools(list: ReferenceList, tools: unknown, param: string): void {
  for (const [index, value] of listOf(tools).entries()) {
    const tool = objectOf(value);
    if (tool === undefined || tool["type"] === "function" || tool["type"] === "custom") continue;
    const at = `${param}.${index}`;
    list.addEach("vector_store", tool["vector_store_ids"], `${at}.vector_store_ids`);
    // xAI's name for them.
    list.addEach("vector_store", tool["collection_ids"], `${at}.collection_ids`);
    addContainer(list, tool["container"], `${at}.container`);
    addContainer(list, tool["environment"], `${at}.environment`);
    list.add("file", objectOf(tool["input_image_mask"])?.["file_id"], `${at}.input_image_mask.file_id`);
    addTools(list, tool["tools"], `${at}.tools`);
  }
}

/** A container by its id, or a description of one with what it starts with. A computer's environment is only a word. */
function addContainer(list: ReferenceList, container: unknown, param: string): void {
  const details = objectOf(container);
  if (details === undefined) {
    if (param.endsWith(".container")) list.add("container", container, param);
    return;
  }
  list.add("container", details["container_id"], `${param}.container_id`);
  list.addEach("file", details["file_ids"], `${param}.file_ids`);
  for (const [index, skill] of listOf(details["skills"]).entries()) {
    list.add("skill", objectOf(skill)?.["skill_id"], `${param}.skills.${index}.skill_id`);
  }
}
