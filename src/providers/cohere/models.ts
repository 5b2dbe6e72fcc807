import { listOf, objectOf } from "../../core/index.ts";
import type { ListedModel, ModelListing } from "../provider.ts";
import { limitOf, textOf } from "../shared/json.ts";

const PAGE_SIZE = 1000;

/** What the gateway calls models for at this API. */
const endpoints: ReadonlySet<unknown> = new Set(["rerank", "embed"]);

function readModel(row: unknown): ListedModel | undefined {
  const model = objectOf(row);
  const id = textOf(model?.["name"]);
  if (model === undefined || id === undefined || id === "") return undefined;
  if (!listOf(model["endpoints"]).some((endpoint) => endpoints.has(endpoint))) return undefined;
  return {
    id,
    created: undefined,
    ownedBy: "cohere",
    displayName: undefined,
    contextLength: limitOf(model["context_length"]),
    maxOutputTokens: undefined,
  };
}

export const models: ModelListing = {
  from: "upstream",
  path: (after) =>
    `/v1/models?page_size=${PAGE_SIZE}${after === undefined ? "" : `&page_token=${encodeURIComponent(after)}`}`,
  parse: (body) => ({
    models: listOf(body["models"]).flatMap((row) => readModel(row) ?? []),
    // Empty on the last page.
    next: [body["next_page_token"]].map(textOf).find((token) => token !== ""),
  }),
};
