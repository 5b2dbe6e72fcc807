import {
  efforts,
  type JsonObject,
  listOf,
  type ModelFacts,
  nearestEffort,
  objectOf,
  parseObject,
  stringOf,
} from "../../core/index.ts";
import type { StreamObserver } from "../../streaming/index.ts";
import { changeChunks } from "./change-chunks.ts";

/** Mistral's own SDKs read lists; those of other makers throw or show nothing. */
export function readsContentParts(headers: Headers): boolean {
  return headers.get("user-agent")?.startsWith("mistral-client-") === true;
}

/** Whether the content of an answer to this body will be a list of parts, with the thoughts among them. */
export function answersInParts(body: JsonObject, { showsThoughtParts, efforts: offered }: ModelFacts): boolean {
  if (showsThoughtParts !== "asked") return showsThoughtParts === "always";
  if (body["prompt_mode"] === "reasoning") return true;
  const asked = efforts.find((one) => one === body["reasoning_effort"]);
  const effort = asked === undefined || offered === undefined ? asked : nearestEffort(asked, offered);
  return effort !== undefined && effort !== "none";
}

/** A whole answer whose content is text, with its thoughts in `reasoning_content`; undefined if it is so already. */
export function plainContent(text: string): string | undefined {
  const answer = parseObject(text);
  const changed = answer && withPlainContent(answer, "message");
  return changed && JSON.stringify(changed);
}

/** The beginnings of a list as content. */
const LISTS = [Buffer.from('"content":['), Buffer.from('"content": [')];

/** The same for each chunk of a stream; the others keep their bytes. */
export function plainContentStream(observer: StreamObserver): StreamObserver {
  return changeChunks(observer, LISTS, (chunk) => withPlainContent(chunk, "delta"));
}

function withPlainContent(answer: JsonObject, member: "message" | "delta"): JsonObject | undefined {
  let isChanged = false;
  const choices = listOf(answer["choices"]).map((value) => {
    const choice = objectOf(value);
    const said = objectOf(choice?.[member]);
    if (choice === undefined || said === undefined || !Array.isArray(said["content"])) return value;
    isChanged = true;
    return { ...choice, [member]: plain(said, listOf(said["content"])) };
  });
  return isChanged ? { ...answer, choices } : undefined;
}

function plain(said: JsonObject, parts: readonly unknown[]): JsonObject {
  const thought = parts
    .flatMap((part) => listOf(objectOf(part)?.["thinking"]))
    .map(textOf)
    .join("");
  return { ...said, content: parts.map(textOf).join(""), ...(thought === "" ? {} : { reasoning_content: thought }) };
}

const textOf = (part: unknown): string => stringOf(objectOf(part)?.["text"]);
