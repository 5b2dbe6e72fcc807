/** A model in Anthropic's format. Its members are those of its listing, if the provider has that format itself. */
import { z } from "@hono/zod-openapi";
import type { JsonObject } from "../../core/index.ts";
import type { RoutedModel } from "../../routing/index.ts";
import type { ModelServices } from "./openai-model.ts";

export const anthropicModel = z
  .looseObject({
    type: z.literal("model"),
    id: z.string().describe("Provider-prefixed model id."),
    alias_of: z.string().optional().describe("The model or route that the id stands for, if it is an alias."),
    display_name: z.string(),
    created_at: z.string().describe("1970-01-01T00:00:00Z if unknown."),
    max_input_tokens: z.number().int().nullable(),
    max_tokens: z.number().int().nullable(),
  })
  .describe("With the header anthropic-version.")
  .meta({ id: "AnthropicModel" });

export type AnthropicModel = z.input<typeof anthropicModel>;

/** The members that Anthropic's SDK requires of every model, for a model whose values are unknown. */
const unknownMembers: JsonObject = {
  capabilities: null,
  lifecycle: "active",
  deprecated_at: null,
  retires_at: null,
  line: null,
};

export function toAnthropicModel(
  { router }: ModelServices,
  { route, model, name, aliasOf }: RoutedModel,
): AnthropicModel {
  const price = router.priceOf(route, model.id);
  return {
    ...unknownMembers,
    ...model.anthropicMembers,
    type: "model",
    id: name ?? `${route.prefix}/${model.id}`,
    ...(aliasOf !== undefined && { alias_of: aliasOf }),
    display_name: model.displayName ?? model.id,
    created_at: new Date((model.created ?? 0) * 1_000).toISOString().replace(".000Z", "Z"),
    max_input_tokens: model.contextLength ?? price?.contextWindow ?? null,
    max_tokens: model.maxOutputTokens ?? price?.maxOutputTokens ?? null,
  };
}
