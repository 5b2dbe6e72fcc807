import type { JsonObject } from "../../../core/index.ts";
import type { Conversation, Tool } from "../conversation.ts";
import type { TranslationTarget } from "../translation.ts";
import { describesObject, promptForFormat } from "../prompt-for-format.ts";
import { fitStrictSchema, fitToolSchema } from "./fit-schema.ts";

/** The conversation with schemas that its model takes. */
export function fitSchemas(
  asked: Conversation,
  { plainSchemas, changed }: Pick<TranslationTarget, "plainSchemas" | "changed">,
): Conversation {
  const conversation = withValueAskedFor(asked);
  if (conversation !== asked) changed?.("formats");
  if (plainSchemas !== true) return conversation;
  const { format } = conversation;
  const noted = (schema: JsonObject, fitted: JsonObject): JsonObject => {
    if (!Bun.deepEquals(schema, fitted)) changed?.("schemas");
    return fitted;
  };
  const fitTool = (tool: Tool): Tool => {
    if (tool.kind !== "function" || tool.parameters === undefined) return tool;
    return { ...tool, parameters: noted(tool.parameters, fitSchema(tool.parameters, tool.strict === true)) };
  };
  return {
    ...conversation,
    tools: conversation.tools.map(fitTool),
    format:
      format?.kind === "schema" ? { ...format, schema: noted(format.schema, fitStrictSchema(format.schema)) } : format,
  };
}

/** Google alone is held to answers other than objects. */
function withValueAskedFor(asked: Conversation): Conversation {
  const { format, rest } = asked;
  const isValue = rest.dialect === "gemini" && format?.kind === "schema" && !describesObject(format);
  return isValue ? promptForFormat(asked, format) : asked;
}

/** Whether a model with plain schemas takes this one as it is. */
export function fitsSchema(schema: JsonObject, strict: boolean): boolean {
  return Bun.deepEquals(schema, fitSchema(schema, strict));
}

function fitSchema(schema: JsonObject, strict: boolean): JsonObject {
  const tool = fitToolSchema(schema);
  return strict ? fitStrictSchema(tool) : tool;
}
