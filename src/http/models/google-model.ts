/** A model in Google's format. */
import { z } from "@hono/zod-openapi";
import type { ModelOperation } from "../../core/index.ts";
import { operationsOf, type RoutedModel } from "../../routing/index.ts";
import type { ModelServices } from "./openai-model.ts";

export const googleModel = z
  .object({
    name: z.string().describe("models/ and the provider-prefixed model id."),
    version: z.string(),
    displayName: z.string(),
    description: z.string(),
    inputTokenLimit: z.number().int().optional(),
    outputTokenLimit: z.number().int().optional(),
    supportedGenerationMethods: z.array(z.string()),
  })
  .describe("With a header of Google's clients, or ?key=.")
  .meta({ id: "GoogleModel" });

export type GoogleModel = z.input<typeof googleModel>;

export const googleModelList = z
  .object({ models: z.array(googleModel), nextPageToken: z.string().optional() })
  .describe("With a header of Google's clients, or ?key=.")
  .meta({ id: "GoogleModelList" });

export function toGoogleModel(
  { router }: ModelServices,
  { route, model, name, operations, price = router.priceOf(route, model.id) }: RoutedModel,
): GoogleModel {
  const input = model.contextLength ?? price?.contextWindow;
  const output = model.maxOutputTokens ?? price?.maxOutputTokens;
  const offered = operations ?? (price === undefined ? [] : operationsOf(route.provider, price));
  return {
    name: `models/${name ?? `${route.prefix}/${model.id}`}`,
    version: "001",
    displayName: model.displayName ?? model.id,
    description: "",
    ...(input !== undefined && { inputTokenLimit: input }),
    ...(output !== undefined && { outputTokenLimit: output }),
    supportedGenerationMethods: methods.flatMap(([operation, names]) => (offered.includes(operation) ? names : [])),
  };
}

const methods: readonly [ModelOperation, readonly string[]][] = [
  ["gemini", ["generateContent", "countTokens"]],
  ["embeddings", ["embedContent"]],
];

/** Google's default and the most of one page. */
const PAGE_SIZE = 50;
const PAGE_SIZE_MAX = 1_000;

export const googlePageQuery = z.object({
  pageSize: z.coerce
    .number()
    .int()
    .min(0)
    .optional()
    .describe(`${PAGE_SIZE} by default and for 0, at most ${PAGE_SIZE_MAX}.`),
  pageToken: z.string().optional().describe("nextPageToken of the page before."),
});

/** The page that a query asks for: behind the model of its token, empty behind one that is not in the list. */
export function googlePageOf(
  all: readonly GoogleModel[],
  { pageSize = 0, pageToken }: z.output<typeof googlePageQuery>,
): z.input<typeof googleModelList> {
  const found = pageToken === undefined ? -1 : all.findIndex(({ name }) => name === pageToken);
  const start = pageToken !== undefined && found === -1 ? all.length : found + 1;
  const models = all.slice(start, start + Math.min(pageSize === 0 ? PAGE_SIZE : pageSize, PAGE_SIZE_MAX));
  const last = models.at(-1)?.name;
  return { models, ...(last !== undefined && start + models.length < all.length && { nextPageToken: last }) };
}
