import { listOf, objectOf } from "../../core/index.ts";
import type { ListedModel, ModelListing } from "../provider.ts";
import { limitOf, textOf } from "../shared/json.ts";

const PAGE_SIZE = 1000;

function readModel(row: unknown): ListedModel | undefined {
  const model = objectOf(row);
  const id = textOf(model?.["name"])?.replace(/^models\//, "");
  if (model === undefined || id === undefined || id === "") return undefined;
  return {
    id,
    created: undefined,
    ownedBy: "google",
    displayName: textOf(model["displayName"]),
    contextLength: limitOf(model["inputTokenLimit"]),
    maxOutputTokens: limitOf(model["outputTokenLimit"]),
  };
}

/** The native list; the compatible one has neither limits nor pages. */
export const models: ModelListing = {
  from: "upstream",
  path: (after) =>
    `/v1beta/models?pageSize=${PAGE_SIZE}${after === undefined ? "" : `&pageToken=${encodeURIComponent(after)}`}`,
  parse: (body) => ({
    models: listOf(body["models"]).flatMap((row) => readModel(row) ?? []),
    next: textOf(body["nextPageToken"]),
  }),
};
