import { listOf, objectOf } from "../../core/index.ts";
import type { ListedModel, ModelListing } from "../provider.ts";
import { limitOf, textOf } from "../shared/json.ts";

const PAGE_SIZE = 1000;

function readModel(row: unknown): ListedModel | undefined {
  const model = objectOf(row);
  const id = textOf(model?.["id"]);
  if (model === undefined || id === undefined || id === "") return undefined;
  const { id: _, type: _type, display_name: displayName, created_at: _created, ...members } = model;
  const created = Date.parse(textOf(model["created_at"]) ?? "");
  return {
    id,
    created: Number.isNaN(created) ? undefined : Math.floor(created / 1000),
    ownedBy: "anthropic",
    displayName: textOf(displayName),
    contextLength: limitOf(model["max_input_tokens"]),
    maxOutputTokens: limitOf(model["max_tokens"]),
    anthropicMembers: members,
  };
}

export const models: ModelListing = {
  from: "upstream",
  path: (after) =>
    `/v1/models?limit=${PAGE_SIZE}${after === undefined ? "" : `&after_id=${encodeURIComponent(after)}`}`,
  parse: (body) => ({
    models: listOf(body["data"]).flatMap((row) => readModel(row) ?? []),
    next: body["has_more"] === true ? textOf(body["last_id"]) : undefined,
  }),
};
