import { efforts, isAbove, type JsonObject, listOf, type ModelFacts, objectOf } from "../../core/index.ts";
import { fitsSchema } from "../conversation/index.ts";

/** As `misfitsChat`. */
export function misfitsMessages(body: JsonObject, facts: ModelFacts): boolean {
  const { output_config, tool_choice: choice, thinking, tools, messages } = body;
  const config = objectOf(output_config);
  const format = objectOf(config?.["format"]);
  if (facts.formats === "none" && format !== undefined) return true;
  if (facts.plainSchemas === true && !hasPlainSchemas(format, tools)) return true;
  const forced = objectOf(choice)?.["type"];
  if (facts.freeToolChoice === true && (forced === "any" || forced === "tool")) return true;
  if (facts.refusesPrefill === true && endsWithText(objectOf(listOf(messages).at(-1)))) return true;
  const type = objectOf(thinking)?.["type"];
  if (type !== "disabled") return type === "enabled" && facts.thinking === "adaptive";
  const effort = efforts.find((one) => one === config?.["effort"]);
  return facts.alwaysThinks !== undefined || isAbove(effort, facts.unthinkingEffortMax);
}

/** Whether a message is the beginning of an answer. One that ends with a hosted tool is an answer that was paused. */
function endsWithText({ role, content }: JsonObject = {}): boolean {
  if (role !== "assistant") return false;
  return (
    typeof content === "string" || listOf(content).length === 0 || objectOf(listOf(content).at(-1))?.["type"] === "text"
  );
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
