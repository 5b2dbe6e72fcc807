import { badValue, type Problem } from "../shared/check.ts";
import { asArray, asObject, isGiven, type JsonObject } from "../shared/json.ts";
import { listIn } from "./native-body.ts";
import { declarationsIn } from "./native-prompt.ts";

/** Models before the third generation. */
export const isOlder = (model: string): boolean => /gemini-[12]/.test(model);

/** Options that exclude each other, and those that a model lacks. */
export function checkOptions(body: JsonObject, model: string): Problem | null {
  const config = asObject(body["generationConfig"]);
  return (
    checkTools(body, config, model) ?? checkFormat(config) ?? checkThinking(config, model) ?? checkRest(config, model)
  );
}

function refused(field: string, message: string): Problem {
  return badValue(field, message);
}

function checkTools(body: JsonObject, config: JsonObject, model: string): Problem | null {
  const tools = listIn(body["tools"]).map(asObject);
  const hasFunctions = declarationsIn(body).length > 0;
  const runs = tools.some((tool) => Object.keys(tool).some((name) => /^(google|urlContext|codeExecution)/.test(name)));
  if (hasFunctions && runs && isOlder(model)) {
    return refused("tools", "Tool use with function calling is unsupported");
  }
  if (hasFunctions && config["responseMimeType"] === "application/json" && isOlder(model)) {
    return refused(
      "generation_config",
      "Function calling with a response mime type: 'application/json' is unsupported",
    );
  }
  const { mode, allowedFunctionNames: allowed } = asObject(asObject(body["toolConfig"])["functionCallingConfig"]);
  const names = new Set(declarationsIn(body).map(({ name }) => name));
  if (names.size < declarationsIn(body).length) return refused("tools", "Duplicate function declaration found");
  if (mode === "ANY" && !hasFunctions) return refused("tool_config", "Function calling mode ANY needs functions");
  if (isGiven(allowed) && mode !== "ANY" && mode !== "VALIDATED") {
    return refused("tool_config", "allowed_function_names is only for the modes ANY and VALIDATED");
  }
  const unknown = asArray(allowed).find((name) => !names.has(name));
  return unknown === undefined ? null : refused("tool_config", `function ${JSON.stringify(unknown)} is not declared`);
}

function checkFormat(config: JsonObject): Problem | null {
  const { responseSchema, responseJsonSchema, responseMimeType: type } = config;
  if (!isGiven(responseSchema) && !isGiven(responseJsonSchema)) return null;
  if (isGiven(responseSchema) && isGiven(responseJsonSchema)) {
    return refused("generation_config", "response_schema and response_json_schema are exclusive");
  }
  if (type === "application/json" || type === "text/x.enum") return null;
  return refused("generation_config.response_schema", "only allowed with a JSON response mime type");
}

function checkThinking(config: JsonObject, model: string): Problem | null {
  const { thinkingBudget: budget, thinkingLevel: level } = asObject(config["thinkingConfig"]);
  const field = "generation_config.thinking_config";
  if (isGiven(budget) && isGiven(level)) return refused(field, "only one of thinking budget and level");
  if (isGiven(level) && isOlder(model)) return refused(field, "Thinking level is not supported for this model.");
  if (isGiven(level) && !["MINIMAL", "LOW", "MEDIUM", "HIGH"].includes(String(level).toUpperCase())) {
    return refused(field, "unknown thinking level");
  }
  if (isGiven(level) && String(level).toUpperCase() === "MINIMAL" && model.includes("pro")) {
    return refused(field, "Thinking level MINIMAL is not supported for this model.");
  }
  const most = model.includes("pro") ? 32_768 : 24_576;
  return Number(budget ?? 0) > most ? refused(field, `the thinking budget must be at most ${most}`) : null;
}

const stopSequencesMax = 5;

function checkRest(config: JsonObject, model: string): Problem | null {
  if (asArray(config["stopSequences"]).length > stopSequencesMax) {
    return refused("generation_config.stop_sequences", `at most ${stopSequencesMax} stop sequences`);
  }
  const hasPenalty = isGiven(config["presencePenalty"]) || isGiven(config["frequencyPenalty"]);
  return hasPenalty && /gemini-2\.5/.test(model)
    ? refused("generation_config", "Penalty is not enabled for this model")
    : null;
}
