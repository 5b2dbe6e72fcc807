import { type JsonObject, listOf, type ModelFacts, objectOf } from "../../core/index.ts";
import { fitsSchema } from "../conversation/index.ts";

/** As `misfitsChat`. */
export function misfitsMessages(body: JsonObject, facts: ModelFacts): boolean {
  const { output_config: config, tool_choice: choice, thinking, tools } = body;
  const format = objectOf(objectOf(config)?.["format"]);
  if (facts.formats === "none" && format !== undefined) return true;
  if (facts.plainSchemas === true && !hasPlainSchemas(format, tools)) return true;
  const forced = objectOf(choice)?.["type"];
  if (facts.freeToolChoice === true && (forced === "any" || forced === "tool")) return true;
  const type = objectOf(thinking)?.["type"];
  if (type === "disabled") return facts.alwaysThinks !== undefined;
  return type === "enabled" && facts.thinking === "adaptive";
}

function hasPlainSchemas(format: JsonObject | undefined, tools: unknown): boolean {
  const answer = objectOf(format?.["schema"]);
  if (answer !== undefined && !fitsSchema(answer, true)) return false;
  return listOf(tools).every((each) => {
    const { input_schema: input, strict } = objectOf(each) ?? {};
    const schema = objectOf(input);
    return schema === undefined || (strict === true ? fitsSchema(schema, true) : hasNoAlternatives(schema));
  });
}

function hasNoAlternatives({ oneOf, anyOf, allOf }: JsonObject): boolean {
  return oneOf === undefined && anyOf === undefined && allOf === undefined;
}
