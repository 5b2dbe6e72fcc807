import { isInteger, isOneOf, isText } from "../shared/check.ts";
import { answerEmbeddings, dimensionsOr, type EmbeddingTalk, type EmbeddingWire } from "../shared/embeddings/wire.ts";
import { isGiven } from "../shared/json.ts";
import type { ErrorAnswer, Route } from "../shared/types.ts";
import { openaiErrors, openaiRefusal } from "./errors.ts";

const inputTokensMax = 8_192;
const requestTokensMax = 300_000;

function ownDimensions(model: string): number {
  return model.includes("large") ? 3_072 : 1_536;
}

function refuse({ body, model, inputs, tokens }: EmbeddingTalk): ErrorAnswer | null {
  const asked = body["dimensions"];
  if (isGiven(asked) && model.startsWith("text-embedding-ada")) {
    return openaiRefusal("This model does not support specifying dimensions.", null, null);
  }
  if (isGiven(asked) && Number(asked) > ownDimensions(model)) {
    const message = `Invalid value for 'dimensions' = ${Number(asked)}. Must be less than or equal to ${ownDimensions(model)}.`;
    return openaiRefusal(message, null, null);
  }
  const longest = Math.max(...inputs.map((input) => input.tokens));
  if (longest > inputTokensMax) {
    const message = `This model's maximum context length is ${inputTokensMax} tokens, but you requested ${longest} tokens.`;
    return openaiRefusal(message, null, null);
  }
  if (tokens <= requestTokensMax) return null;
  const message = `Requested ${tokens} tokens, max ${requestTokensMax} tokens per request`;
  return { status: 400, body: { error: { message, type: "max_tokens_per_request", param: null, code: null } } };
}

const wire: EmbeddingWire = {
  fields: {
    dimensions: isInteger(1, 100_000),
    encoding_format: isOneOf("float", "base64"),
    user: isText,
  },
  strict: true,
  takesTokens: true,
  inputsMax: 2_048,
  errors: openaiErrors,
  refuse,
  dimensions: ({ body, model }) => dimensionsOr(body["dimensions"], ownDimensions(model)),
  usage: ({ tokens }) => ({ prompt_tokens: tokens, total_tokens: tokens }),
};

/** Embeddings of OpenAI: texts or tokens, floats or base64. */
export const embeddingRoutes: readonly Route[] = [
  { method: "POST", path: "/openai/v1/embeddings", handle: (call) => answerEmbeddings(call, wire) },
];
