/** The models in the form of LiteLLM, for its clients. */
import type { Principal } from "../../auth/index.ts";
import { objectOf, prefixOf } from "../../core/index.ts";
import type { RoutedModel } from "../../routing/index.ts";
import { type ModelServices, toOpenaiModel } from "./openai-model.ts";

/** A price per million as one per token. */
const perToken = (price: unknown): number | null =>
  typeof price === "number" ? Number((price / 1e6).toPrecision(12)) : null;

export function toLitellmModel(services: ModelServices, routed: RoutedModel, principal: Principal) {
  const { id, alias_of: model = id, context_length: window, pricing } = toOpenaiModel(services, routed, principal);
  const prices = objectOf(pricing) ?? {};
  return {
    model_name: id,
    litellm_params: { model },
    model_info: {
      id,
      litellm_provider: prefixOf(model) || null,
      max_input_tokens: window,
      max_tokens: window,
      input_cost_per_token: perToken(prices["input_mtok"]),
      output_cost_per_token: perToken(prices["output_mtok"]),
      cache_read_input_token_cost: perToken(prices["cache_read_mtok"]),
    },
  };
}
