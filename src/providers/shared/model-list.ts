import { listOf, objectOf } from "../../core/index.ts";
import type { ListedModel, ModelListing } from "../provider.ts";
import { limitOf, textOf } from "./json.ts";

/** Spellings of the context length in the lists of chat upstreams. */
const CONTEXT_KEYS = ["context_length", "context_window", "max_context_length", "max_model_len", "inputTokenLimit"];

/** Reads one row of an OpenAI-style list; undefined if it has no model id. */
function readListedModel(row: unknown): ListedModel | undefined {
  const model = objectOf(row);
  const id = textOf(model?.["id"]);
  if (model === undefined || id === undefined || id === "") return undefined;
  const contextKey = CONTEXT_KEYS.find((key) => limitOf(model[key]) !== undefined);
  return {
    // Google's compatible layer prefixes ids with its resource path, and accepts calls without it.
    id: id.replace(/^models\//, ""),
    created: limitOf(model["created"]),
    ownedBy: textOf(model["owned_by"]),
    displayName: textOf(model["name"]),
    contextLength: contextKey === undefined ? undefined : limitOf(model[contextKey]),
    maxOutputTokens: limitOf(model["max_output_tokens"] ?? model["max_completion_tokens"]),
  };
}

/** Models that a provider documents and does not list. */
export function documentedModels(ownedBy: string, ids: readonly string[], contextLength?: number): ListedModel[] {
  return ids.map((id) => ({
    id,
    created: undefined,
    ownedBy,
    displayName: undefined,
    contextLength,
    maxOutputTokens: undefined,
  }));
}

/** A listing at `GET {base}{path}` with the answer `{ object: "list", data: [{ id, … }] }`, on one page, and the models that it omits. */
export function openaiModelList(path: string, unlisted: readonly ListedModel[] = []): ModelListing {
  return {
    from: "upstream",
    path: () => path,
    unlisted,
    parse: (body) => ({ models: listOf(body["data"]).flatMap((row) => readListedModel(row) ?? []), next: undefined }),
  };
}
