import { type JsonObject, type ModelFacts, objectOf } from "../../core/index.ts";

/** As `misfitsChat`. */
export function misfitsMessages(body: JsonObject, facts: ModelFacts): boolean {
  const { output_config: config, tool_choice: choice, thinking } = body;
  if (facts.formats === "none" && objectOf(objectOf(config)?.["format"]) !== undefined) return true;
  const forced = objectOf(choice)?.["type"];
  if (facts.freeToolChoice === true && (forced === "any" || forced === "tool")) return true;
  const type = objectOf(thinking)?.["type"];
  if (type === "disabled") return facts.alwaysThinks !== undefined;
  return type === "enabled" && facts.thinking === "adaptive";
}
