/** A model in OpenAI's format, with the gateway's own fields. */
import { z } from "@hono/zod-openapi";
import type { Principal } from "../../auth/index.ts";
import { byPriceKey, describePrice, type PriceKey } from "../../core/index.ts";
import { priceQuote, withMarkup } from "../../pricing/index.ts";
import { type RoutedModel, operationsOf } from "../../routing/index.ts";
import type { Services } from "../services.ts";

const amount = (key: PriceKey) => z.number().describe(describePrice(key));

const modelPricing = z
  .object(
    byPriceKey({
      always: amount,
      plain: (key) => amount(key).optional(),
      variants: (key) =>
        z
          .union([z.number(), z.record(z.string(), z.number())])
          .optional()
          .describe(describePrice(key)),
    }),
  )
  .describe(
    "In credits, markup included. Where long prompts cost more, these are the prices of short ones. An optional key is absent where the price that applies without it is the same, or where nothing is charged.",
  );

export const openaiModel = z
  .object({
    id: z.string().describe("Provider-prefixed model id, or a name of the operator's for one."),
    alias_of: z
      .string()
      .optional()
      .describe("The model or route that such a name stands for; the other members are its."),
    object: z.literal("model"),
    created: z.number().int(),
    owned_by: z.string(),
    context_length: z.number().int().nullable(),
    operations: z.array(z.string()).describe("What the model can be called for, if it has a price."),
    pricing: modelPricing.nullable(),
  })
  .meta({ id: "Model" });

export type OpenaiModel = z.input<typeof openaiModel>;

export type ModelServices = Pick<Services, "models" | "router">;

export function toOpenaiModel(
  { router }: ModelServices,
  { route, model, name, aliasOf, operations, price: own = router.priceOf(route, model.id) }: RoutedModel,
  { markup }: Pick<Principal, "markup">,
): OpenaiModel {
  const price = withMarkup(own, markup === undefined ? undefined : BigInt(markup));
  return {
    id: name ?? `${route.prefix}/${model.id}`,
    ...(aliasOf !== undefined && { alias_of: aliasOf }),
    object: "model",
    created: model.created ?? 0,
    owned_by: model.ownedBy ?? route.prefix,
    context_length: model.contextLength ?? price?.contextWindow ?? null,
    operations: [...(operations ?? (price === undefined ? [] : operationsOf(route.provider, price)))],
    pricing: price === undefined ? null : priceQuote(price),
  };
}
