import { type JsonObject, type ModelFacts, stringOf } from "../../core/index.ts";

/** The members of a message that a model refuses. Of the others, only a tool's result may have a name. */
export function refusedMembers(
  { role, ...message }: JsonObject,
  { messageMembers: taken, noMessageNames }: Pick<ModelFacts, "messageMembers" | "noMessageNames">,
): string[] {
  if (taken === undefined) return noMessageNames === true && "name" in message ? ["name"] : [];
  return Object.keys(message).filter((name) => !taken.includes(name) && (name !== "name" || role !== "tool"));
}

/** The message without them. A refusal becomes its content, if there is no other. */
export function withoutMembers(message: JsonObject, refused: readonly string[]): JsonObject {
  if (refused.length === 0) return message;
  const kept = Object.fromEntries(Object.entries(message).filter(([name]) => !refused.includes(name)));
  const refusal = refused.includes("refusal") ? stringOf(message["refusal"]) : "";
  return refusal === "" || stringOf(message["content"]) !== "" ? kept : { ...kept, content: refusal };
}
