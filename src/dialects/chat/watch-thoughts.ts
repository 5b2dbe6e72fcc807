import { type JsonObject, listOf, objectOf, stringOf } from "../../core/index.ts";
import type { StreamObserver } from "../../streaming/index.ts";
import type { AnswerThoughts } from "../conversation/index.ts";
import { changeChunks } from "./change-chunks.ts";

const WORDS = [Buffer.from('"reasoning_content"'), Buffer.from('"tool_calls"')];

/** Collects the thoughts of a stream, whose bytes stay as they are. */
export function watchThoughts(observer: StreamObserver, thoughts: AnswerThoughts): StreamObserver {
  thoughts.begin();
  return changeChunks(observer, WORDS, (chunk) => {
    read(chunk, thoughts);
    return undefined;
  });
}

/** The same for a whole answer. */
export function collectThoughts(answer: JsonObject, thoughts: AnswerThoughts): void {
  thoughts.begin();
  read(answer, thoughts);
}

function read({ choices }: JsonObject, thoughts: AnswerThoughts): void {
  const choice = objectOf(listOf(choices)[0]);
  const said = objectOf(choice?.["delta"]) ?? objectOf(choice?.["message"]);
  thoughts.add(stringOf(said?.["reasoning_content"]));
  for (const call of listOf(said?.["tool_calls"])) {
    const id = objectOf(call)?.["id"];
    if (typeof id === "string" && id !== "") thoughts.addCall(id);
  }
}
