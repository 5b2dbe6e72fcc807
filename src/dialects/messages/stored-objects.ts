import {
  type JsonObject,
  listOf,
  objectOf,
  type ObjectReader,
  ReferenceList,
  type StoredObject,
} from "../../core/index.ts";
import type { CountTokensRequest, MessagesRequest } from "./request.ts";

/** The events with a container, a message id or a file. */
const WORDS = ['"message_start"', '"message_delta"', '"content_block_start"'].map((word) => Buffer.from(word));

/** Containers and skills, threads, user profiles, and files in content blocks. */
export const messagesObjects: ObjectReader<MessagesRequest> = {
  references: messagesReferences,

  created(body) {
    const hasThread = isGiven(body["thread"]) || isGiven(body["diagnostics"]);
    if (!hasThread && !isGiven(body["container"]) && !listOf(body["tools"]).some(isHosted)) return undefined;
    return { words: WORDS, read: (answer) => createdIn(objectOf(answer["message"]) ?? answer, hasThread) };
  },
};

/** The objects that a Messages body refers to, also if its tokens are only counted. */
export function messagesReferences(body: CountTokensRequest): ReferenceList["all"] {
  const list = new ReferenceList();
  addBlocks(list, body.system, "system");
  for (let index = 0; index < body.messages.length; index += 1) {
    const content = body.messages[index]?.content;
    // Most contents are texts, and need no path.
    if (Array.isArray(content)) addBlocks(list, content, `messages.${index}.content`);
  }
  addContainer(list, body["container"]);
  for (const name of ["thread", "diagnostics"]) {
    list.add("message", objectOf(body[name])?.["previous_message_id"], `${name}.previous_message_id`);
  }
  list.add("user_profile", body["user_profile_id"], "user_profile_id");
  return list.all;
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** Whether the upstream runs the tool: only those can create a container. */
function isHosted(tool: unknown): boolean {
  const type = objectOf(tool)?.["type"];
  return isGiven(type) && type !== "custom";
}

function addContainer(list: ReferenceList, container: unknown): void {
  const details = objectOf(container);
  list.add("container", details === undefined ? container : details["id"], "container");
  for (const [index, value] of listOf(details?.["skills"]).entries()) {
    const skill = objectOf(value);
    // Anthropic's own skills are the same for everybody.
    if (skill?.["type"] !== "anthropic") list.add("skill", skill?.["skill_id"], `container.skills.${index}.skill_id`);
  }
}

function addBlocks(list: ReferenceList, blocks: unknown, param: string): void {
  if (!Array.isArray(blocks)) return;
  list.addParts(blocks, param);
  for (let index = 0; index < blocks.length; index += 1) {
    const block = objectOf(blocks[index]);
    if (block?.["type"] === "tool_result") addBlocks(list, block["content"], `${param}.${index}.content`);
    const source = objectOf(block?.["source"]);
    if (source?.["type"] === "content") addBlocks(list, source["content"], `${param}.${index}.source.content`);
  }
}

/** `message`: a whole answer, or an event with a part of it. */
function createdIn(message: JsonObject, hasThread: boolean): StoredObject[] {
  const found: StoredObject[] = [];
  const add = (kind: StoredObject["kind"], id: unknown): void => {
    if (typeof id === "string") found.push({ kind, id });
  };
  if (hasThread && message["type"] === "message") add("message", message["id"]);
  add("container", objectOf(message["container"] ?? objectOf(message["delta"])?.["container"])?.["id"]);
  for (const value of [...listOf(message["content"]), message["content_block"]]) {
    const block = objectOf(value);
    if (block?.["type"] === "container_upload") add("file", block["file_id"]);
    // What a program has written: files among the results of a hosted tool.
    for (const result of listOf(objectOf(block?.["content"])?.["content"])) add("file", objectOf(result)?.["file_id"]);
  }
  return found;
}
