import { keysOf, type ModelOperation } from "../core/index.ts";
import type { ModelKind, ModelPrice, PricedModality } from "../pricing/index.ts";
import type { Provider } from "../providers/index.ts";

/** The modality that must be priced for each operation. */
export const modalityOf: Record<ModelOperation, PricedModality> = {
  chat: "text",
  messages: "text",
  responses: "text",
  gemini: "text",
  count_tokens: "text",
  count_response_tokens: "text",
  count_gemini_tokens: "text",
  completion: "text",
  embeddings: "embeddings",
  // Both are priced by their input alone.
  moderation: "embeddings",
  rerank: "rerank",
  image_generation: "images",
  image_edit: "images",
  speech: "speech",
  transcription: "transcription",
  translation: "transcription",
  realtime: "realtime",
  realtime_transcription: "transcription",
  video_generation: "video",
  video_edit: "video",
  video_extension: "video",
};

export const modelOperations: readonly ModelOperation[] = keysOf(modalityOf);

/** Text is generated in every dialect, translated if needed. */
export const textOperations: readonly ModelOperation[] = ["chat", "messages", "responses", "gemini"];

/** The operations that models of each kind are for. */
const operationsOfKind: Readonly<Partial<Record<ModelKind, readonly ModelOperation[]>>> = {
  chat: textOperations,
  responses: ["responses"],
  completion: ["completion"],
  embeddings: ["embeddings"],
  moderation: ["moderation"],
  rerank: ["rerank"],
  // Google's own models of these kinds answer in its dialect too.
  image: ["image_generation", "image_edit", "gemini"],
  speech: ["speech", "gemini"],
  transcription: ["transcription", "translation", "realtime_transcription"],
  realtime: ["realtime"],
  video: ["video_generation", "video_edit", "video_extension"],
};

/** The operations of a model: by its kind, if a catalog lists it, and as far as its provider has it. */
export function operationsOf(
  { operations }: Provider,
  { kind, modalities }: Pick<ModelPrice, "kind" | "modalities">,
): ModelOperation[] {
  return availableOf(operations, kind === undefined ? pricedOperations(modalities) : (operationsOfKind[kind] ?? []));
}

/** All operations that a price covers and the provider has, whatever the model is made for. */
export function callableOperations(
  { operations }: Provider,
  { modalities }: Pick<ModelPrice, "modalities">,
): ModelOperation[] {
  return availableOf(
    operations,
    keysOf(modalityOf).filter((operation) => modalities.has(modalityOf[operation])),
  );
}

function availableOf(operations: Provider["operations"], all: readonly ModelOperation[]): ModelOperation[] {
  const generatesText = all.some((operation) => isText(operation) && operations[operation] !== undefined);
  return all.filter((operation) => operations[operation] !== undefined || (generatesText && isText(operation)));
}

function isText(operation: ModelOperation): boolean {
  return textOperations.includes(operation);
}

/** Of a model in no catalog: tokens are most likely those of text; any other price names its use. */
function pricedOperations(modalities: ReadonlySet<PricedModality>): readonly ModelOperation[] {
  if (modalities.has("text")) return textOperations;
  return Object.values(operationsOfKind)
    .flat()
    .filter((operation) => modalities.has(modalityOf[operation]));
}
