import type { JsonObject } from "../../../core/index.ts";
import {
  type Conversation,
  defined,
  effortFor,
  fieldsFor,
  fitSchemas,
  promptForFormat,
  type ReasoningOptions,
  type TranslationTarget,
  wantsThoughts,
  withoutPrefill,
} from "../../conversation/index.ts";
import { nested, writeFormat, writeTools } from "../../openai-requests.ts";
import { writeTurns } from "./write-turns.ts";

/** Writes a chat completions body with OpenAI's names; the provider's edits adapt it to one upstream. */
export function writeChatRequest(asked: Conversation, target: TranslationTarget): JsonObject {
  const conversation = withoutPrefill(fitSchemas(withFormat(asked, target), target), target);
  const { sampling, format, logprobs, stop, rest } = conversation;
  const others = fieldsFor(rest, "chat");
  return {
    ...others,
    ...defined({
      model: target.model,
      messages: writeTurns(conversation, target),
      ...writeTools(conversation, nested),
      response_format: format === undefined ? undefined : writeFormat(format, nested),
      ...writeReasoning(conversation, target),
      stop: stop.length === 0 ? undefined : stop,
      max_completion_tokens: conversation.outputTokensMax,
      temperature: sampling.temperature,
      top_p: sampling.topP,
      top_k: rest.dialect === "chat" ? sampling.topK : undefined,
      frequency_penalty: sampling.frequencyPenalty,
      presence_penalty: sampling.presencePenalty,
      seed: sampling.seed,
      logprobs: logprobs === undefined ? undefined : true,
      top_logprobs: logprobs === 0 ? undefined : logprobs,
      verbosity: conversation.verbosity,
      service_tier: writeTier(conversation, target),
      user: conversation.user,
      stream: conversation.stream ? true : undefined,
    }),
  };
}

/** Thoughts are asked for if the client has asked for them in its dialect; one of chat cannot. */
function writeReasoning({ reasoning, rest }: Conversation, target: TranslationTarget): JsonObject {
  // An upstream of this dialect also gets the client's own `thinking` and `reasoning`.
  const isElsewhere = rest.dialect === "chat" && rest.body["reasoning_effort"] === undefined;
  const own: ReasoningOptions | undefined =
    isElsewhere || reasoning === undefined ? undefined : { effort: reasoning.effort };
  const options = rest.dialect === "chat" ? own : reasoning;
  if (target.hasThinkingSwitch === true && (options?.mode === "off" || options?.effort === "none")) {
    if (options.effort === "none") target.changed?.("efforts");
    return { thinking: { type: "disabled" } };
  }
  const effort = effortFor(options, target);
  if (reasoning === undefined || target.askForThoughts === undefined || !wantsThoughts(reasoning, rest.dialect)) {
    return { reasoning_effort: effort };
  }
  return target.askForThoughts({ effort: reasoning.effort, budgetTokens: reasoning.budgetTokens });
}

function writeTier({ serviceTier, rest }: Conversation, { tierNames }: TranslationTarget): string | undefined {
  if (serviceTier === undefined || rest.dialect === "chat") return serviceTier;
  return tierNames?.[serviceTier] ?? serviceTier;
}

/** For an upstream that only knows JSON without a schema. */
function withFormat(conversation: Conversation, { formats, changed }: TranslationTarget): Conversation {
  const { format } = conversation;
  if (format?.kind !== "schema" || formats !== "json") return conversation;
  changed?.("formats");
  return { ...promptForFormat(conversation, format), format: { kind: "json", at: format.at } };
}
