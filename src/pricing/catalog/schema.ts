import { z } from "zod";
import { limits, type PriceKey, priceKeys } from "../../core/index.ts";
import { dateSuffixes } from "./date-suffix.ts";

/**
 * The format of a price catalog: the built-in one, and one that an operator lays over it. `tollgate.catalog.schema.json`
 * is generated from this schema. Every object is strict: a catalog with an unknown key is refused, since the key might
 * have been meant to change a price.
 */

const rate = z.number().min(0).max(1e9);
const name = z.string().min(1).max(limits.modelIdCharactersMax);

const tieredRate = z
  .strictObject({
    base: rate,
    tiers: z.array(z.strictObject({ start: z.number().int().min(0), price: rate })).min(1),
  })
  .describe("The price of a call, and the one for the whole call once it has more input tokens than `start`.");

const variantRates = z
  .record(z.string().min(1), rate)
  .refine((rates) => Object.keys(rates).length > 0, "it contains no price")
  .describe("Prices by variant: size/quality, size or quality of an image; resolution/audio or resolution of a video.");

const value = z.union([rate, tieredRate, variantRates]);

const keys = Object.fromEntries(priceKeys.map((key) => [key, value.optional()])) as Record<
  PriceKey,
  z.ZodOptional<typeof value>
>;

const tier = z.strictObject(keys);

const table = z.strictObject({
  ...keys,
  service_tiers: z
    .record(z.string().min(1), z.union([rate, tier]))
    .optional()
    .describe("Prices by the provider's service tier: a table, or a factor on the price of every token."),
  inference_geos: z
    .record(z.string().min(1), rate)
    .optional()
    .describe("Factors on the price of every token, by the region in which the model runs."),
});

const weekdays = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"] as const;
const timeOfDay = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, "a time such as 16:30, in UTC");

const timedTable = table.extend({
  from: z.iso.date().optional().describe("The first day on which the prices apply, in UTC."),
  daily: z
    .tuple([timeOfDay, timeOfDay])
    .optional()
    .describe("The hours in which they apply, in UTC: the first moment, and the moment at which they end."),
  days: z.array(z.enum(weekdays)).min(1).optional().describe("The days of the week on which they apply, in UTC."),
});

/** What a model is for. Models of other kinds may answer on several routes. */
const modelKinds = [
  "chat",
  "responses",
  "completion",
  "embeddings",
  "image",
  "speech",
  "transcription",
  "video",
  "realtime",
  "moderation",
  "rerank",
  "ocr",
  "tool",
] as const;

export type ModelKind = (typeof modelKinds)[number];

const model = z.strictObject({
  aliases: z.array(name).optional().describe("Further names of the model, with the same prices."),
  kind: z.enum(modelKinds).optional().describe("What the model is for; chat if absent."),
  context_window: z.number().int().positive().optional(),
  max_output_tokens: z.number().int().positive().optional(),
  reasoning: z.literal(true).optional().describe("Whether the model reasons before it answers."),
  prices: z
    .union([table, z.array(timedTable).min(1)])
    .describe("US dollars; of several tables, the last one that applies at the time of the call."),
  source: z.string().min(1).describe("The documents or tables that the prices are from."),
});

const provider = z.strictObject({
  date_suffixes: z
    .array(z.enum(dateSuffixes))
    .optional()
    .describe("Suffixes with a date that may follow a listed name; the dated model costs as much."),
  models: z.record(name, model),
});

/** A whole catalog, by the provider's id in price tables and the model's name. */
export const catalogSchema = z
  .strictObject({
    $schema: z.string().optional(),
    format: z.literal(1),
    tables: z.record(z.string(), z.string()).optional().describe("The versions of the tables that it was made from."),
    made: z.iso
      .date()
      .optional()
      .describe("The day on which its sources were read, in UTC. The age of the prices is calculated from it."),
    providers: z.record(z.string().min(1), provider),
  })
  .superRefine(({ providers }, context) => {
    for (const [id, { models }] of Object.entries(providers)) {
      const names = Object.entries(models).flatMap(([own, { aliases = [] }]) => [own, ...aliases]);
      const double = names.find((each, index) => names.indexOf(each) !== index);
      if (double !== undefined) {
        context.addIssue({ code: "custom", path: ["providers", id, "models", double], message: "is listed twice" });
      }
    }
  });

export type PriceCatalog = z.output<typeof catalogSchema>;
export type CatalogModel = z.output<typeof model>;
export type CatalogPrices = z.output<typeof table>;
export type TimedPrices = z.output<typeof timedTable>;
export type CatalogRate = z.output<typeof value>;
export type Weekday = (typeof weekdays)[number];
export { weekdays };
